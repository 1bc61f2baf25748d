import { listOpenReviewsAmong } from '../../db/queries/reviews.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isNote, readsAsNote } from '../../memory/facts/note-key.ts';
import { handleOf } from '../../shared/handles.ts';
import type { LoadedMemory } from './load.ts';
import { drop, type Ranked } from './ranked.ts';

/**
 * Drops a note that a newer one in the same answer may have replaced, as long as nobody has settled their review. The
 * newer takes the better of the two places: a question that finds the one asks for the other.
 */
export async function preferNewer(
  { db }: MemoryContext,
  lists: readonly Ranked<LoadedMemory>[][],
): Promise<Ranked<LoadedMemory>[][]> {
  const notes = lists
    .flat()
    .flatMap(({ memory }) => (memory.type === 'fact' && readsAsNote(memory.row) ? [memory] : []));
  const ids = new Set(notes.map(({ id }) => id));
  if (ids.size < 2) return [...lists];
  // Looking alike says nothing of notes that agents stored: the codes of two lockers look alike, and both hold.
  const stored = new Set(notes.filter(({ row }) => isNote(row)).map(({ id }) => id));
  const reviews = (await listOpenReviewsAmong(db.client, [...ids])).filter(
    ({ kind, newerId, olderId }) => kind === 'note_change' || !(stored.has(newerId) || stored.has(olderId)),
  );
  return lists.map((list) => reviews.reduce(settle, list));
}

function settle(
  list: Ranked<LoadedMemory>[],
  { newerId, olderId }: { newerId: string; olderId: string },
): Ranked<LoadedMemory>[] {
  const older = list.find(({ memory }) => memory.id === olderId);
  const newer = list.find(({ memory }) => memory.id === newerId);
  if (older === undefined || newer === undefined) return list;
  const [score, relevance] = [Math.max(older.score, newer.score), Math.max(older.relevance, newer.relevance)];
  const first = list.indexOf(older) < list.indexOf(newer) ? older : newer;
  const others = (one: Ranked<LoadedMemory>): boolean => one !== older && one !== newer;
  const place = list.indexOf(first);
  return [
    ...list.slice(0, place).filter(others),
    { ...newer, score, relevance },
    drop(older, 'outdated', `fact ${handleOf(newerId)} may have replaced it`),
    ...list.slice(place).filter(others),
  ];
}

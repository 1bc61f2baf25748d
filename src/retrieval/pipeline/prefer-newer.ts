import { listOpenReviewsAmong } from '../../db/queries/reviews.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { readsAsNote } from '../../memory/facts/note-key.ts';
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
  const ids = new Set(lists.flat().flatMap(({ memory }) => (isNote(memory) ? [memory.id] : [])));
  if (ids.size < 2) return [...lists];
  const reviews = await listOpenReviewsAmong(db.client, [...ids]);
  return lists.map((list) => reviews.reduce(settle, list));
}

function isNote({ type, row }: LoadedMemory): boolean {
  return type === 'fact' && readsAsNote(row);
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

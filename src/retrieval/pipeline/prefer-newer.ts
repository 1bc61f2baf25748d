import { listOpenReviewsAmong } from '../../db/queries/reviews.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isNote, readsAsNote } from '../../memory/facts/note-key.ts';
import { readPeriod } from '../../memory/facts/stated-period.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import { handleOf } from '../../shared/handles.ts';
import type { LoadedMemory } from './load.ts';
import { drop, type Ranked } from './ranked.ts';

/**
 * Drops a fact that a newer one in the same answer may have replaced, as long as nobody has settled their review. The
 * newer takes the better of the two places: a question that finds the one asks for the other. Where the newer matches the
 * question much worse, it says nothing about what was asked, and both stay.
 */
export async function preferNewer(
  { db, now }: MemoryContext,
  lists: readonly Ranked<LoadedMemory>[][],
): Promise<Ranked<LoadedMemory>[][]> {
  const facts = lists.flat().flatMap(({ memory }) => (memory.type === 'fact' ? [memory] : []));
  const ids = new Set(facts.map(({ id }) => id));
  if (ids.size < 2) return [...lists];
  // Looking alike says nothing of facts that agents stored: the codes of two lockers look alike, and both hold.
  const kept = new Set(facts.filter(({ row }) => readsAsNote(row) && !isNote(row)).map(({ id }) => id));
  // A value of a later day leaves the present one as it is.
  const upcoming = new Set(
    facts.filter(({ row }) => isUpcoming({ validFrom: readPeriod(row.content).from }, now())).map(({ id }) => id),
  );
  const reviews = (await listOpenReviewsAmong(db.client, [...ids])).filter(
    ({ kind, newerId, olderId }) =>
      !upcoming.has(newerId) && (kind === 'note_change' || (kept.has(newerId) && kept.has(olderId))),
  );
  return lists.map((list) => reviews.reduce(settle, list));
}

/** Share of the relevance of the older one that the newer must have by itself. */
const leastShare = 0.25;

function settle(
  list: Ranked<LoadedMemory>[],
  { newerId, olderId }: { newerId: string; olderId: string },
): Ranked<LoadedMemory>[] {
  const older = list.find(({ memory }) => memory.id === olderId);
  const newer = list.find(({ memory }) => memory.id === newerId);
  if (older === undefined || newer === undefined || newer.relevance < leastShare * older.relevance) return list;
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

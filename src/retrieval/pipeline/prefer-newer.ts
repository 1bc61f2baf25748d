import { listOpenReviewsOfOlder } from '../../db/queries/reviews.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isNote, readsAsNote } from '../../memory/facts/note-key.ts';
import { readPeriod } from '../../memory/facts/stated-period.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import type { Review } from '../../memory/reviews/reviews.ts';
import { handleOf } from '../../shared/handles.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { loadRows, type LoadedMemory } from './load.ts';
import { drop, isKept, type Ranked } from './ranked.ts';

/** An open review of two facts, of which a recall found the older. */
interface Doubt {
  older: Ranked<LoadedMemory>;
  newer: Ranked<LoadedMemory>;
  /** How likely the newer replaced the older. */
  likelihood: number;
}

/**
 * Likelihoods from which the newer comes first, from which the older is left out, and from which the newer comes first even
 * where it hardly matches the question. Chosen on the development months, by reading what they move and hide.
 */
const least = { first: 0.5, alone: 0.51, unmatched: 0.9 };
/**
 * Shares of the relevance of the older that the newer must have: to answer what the older answers, where that it replaced it
 * is likely or nearly certain, and to be about the question at all.
 */
const leastShare = { likely: 0.7, certain: 0.5, any: 0.04 };
/** What a review without an estimate counts as: both facts are shown. */
const unestimated = 0.5;

/**
 * Puts a fact that perhaps replaced an older one before it, as long as nobody has settled their review: a question that finds
 * the one asks for the other. The older is left out only where it was very likely replaced and the newer matches the question,
 * too; a guess must not hide what is true.
 */
export async function preferNewer(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  { scored, loaded }: { scored: readonly (readonly Ranked[])[]; loaded: readonly Ranked<LoadedMemory>[][] },
): Promise<Ranked<LoadedMemory>[][]> {
  const ids = new Set(loaded.flat().flatMap(({ memory }) => (memory.type === 'fact' ? [memory.id] : [])));
  if (ids.size === 0) return [...loaded];
  const reviews = await listOpenReviewsOfOlder(context.db.client, [...ids]);
  if (reviews.length === 0) return [...loaded];
  const newerIds = new Set(reviews.map(({ newerId }) => newerId));
  // Where the newer does not match the question by itself, it was not loaded.
  const beyond = scored.map((all, place) => {
    const known = new Set((loaded[place] ?? []).map(({ memory }) => memory.id));
    return all.filter(({ memory }) => newerIds.has(memory.id) && !known.has(memory.id));
  });
  const further = beyond.some(({ length }) => length > 0)
    ? await loadRows(context, searches, beyond, { isMasked: false })
    : [];
  return loaded.map((list, place) =>
    reviews.reduce((all, review) => {
      const doubt = findDoubt(review, [...all, ...(further[place] ?? [])], context.now());
      return doubt === null ? all : settle(all, doubt);
    }, list),
  );
}

function findDoubt(
  { kind, newerId, olderId, likelihood }: Pick<Review, 'kind' | 'newerId' | 'olderId' | 'likelihood'>,
  found: readonly Ranked<LoadedMemory>[],
  at: Date,
): Doubt | null {
  const [older, newer] = [olderId, newerId].map((id) => found.find(({ memory }) => memory.id === id));
  if (older?.memory.type !== 'fact' || newer?.memory.type !== 'fact') return null;
  // A value of a later day leaves the present one as it is.
  if (isUpcoming({ validFrom: readPeriod(newer.memory.row.content).from }, at)) return null;
  // Looking alike says nothing of facts that agents stored: the codes of two lockers look alike, and both hold.
  const isKeptBy = [older, newer].every(
    ({ memory }) => memory.type === 'fact' && readsAsNote(memory.row) && !isNote(memory.row),
  );
  if (kind === 'same_thing' && !isKeptBy) return null;
  return { older, newer, likelihood: likelihood ?? unestimated };
}

/** By so much the older stands behind the newer. */
const scoreStep = 1e-9;

function settle(list: Ranked<LoadedMemory>[], { older, newer, likelihood }: Doubt): Ranked<LoadedMemory>[] {
  const share = newer.relevance / older.relevance;
  const isSame = share >= (likelihood >= least.unmatched ? leastShare.certain : leastShare.likely);
  const isFirst = isSame ? likelihood >= least.first : share >= leastShare.any && likelihood >= least.unmatched;
  if (!isFirst || !isKept(older) || !list.includes(older)) return list;
  const first = {
    ...newer,
    score: Math.max(older.score, newer.score),
    relevance: Math.max(older.relevance, newer.relevance),
    droppedBy: null,
    reason: null,
  };
  const behind =
    isSame && likelihood >= least.alone
      ? drop(older, 'outdated', `fact ${handleOf(newer.memory.id)} may have replaced it`)
      : { ...older, score: Math.min(older.score, first.score - scoreStep) };
  const better = [older, newer].toSorted((a, b) => placeIn(list, a) - placeIn(list, b))[0];
  return list.flatMap((one) => {
    if (one === better) return [first, behind];
    return one === older || one === newer ? [] : [one];
  });
}

function placeIn(list: readonly Ranked<LoadedMemory>[], one: Ranked<LoadedMemory>): number {
  const place = list.indexOf(one);
  return place < 0 ? list.length : place;
}

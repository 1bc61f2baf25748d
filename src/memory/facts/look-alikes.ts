import { listFactsNearNote, listFactsOfSubject, type NearFact } from '../../db/queries/look-alikes.ts';
import type { TenantClient } from '../../db/database.ts';
import type { Fact } from '../../generated/prisma/client.ts';
import { openRows } from '../../encryption/sealing.ts';
import type { MemoryContext } from '../context.ts';
import type { Mutation } from '../mutation.ts';
import { openReview } from '../reviews/reviews.ts';
import type { FactValues } from './fact-values.ts';
import { findGloss } from './lexicon.ts';
import { isNote } from './note-key.ts';
import { normalisePredicate } from './predicate-names.ts';

const mostNamed = 3;
/**
 * A fact below this is about something else. Most facts of one subject are. Checked on the development pairs of
 * `npm run bench -- pairs`.
 */
const leastLikeness = 0.35;

/**
 * Vectors this near raise the question which of two facts holds. Of the development pairs that mean the same and have two
 * keys, half are this near; of the other facts of a user, about one in 3,400 is.
 */
const leastSimilarityToReview = 0.7;

/** A note has no predicate to compare: only its vector proposes, and most notes of one topic are nearer than other facts. */
const leastSimilarityToNote = 0.6;

/**
 * Opens a review of a new fact and the one that looks most like it, if the two are very near: whether the new one replaces
 * the other is not decided. A fact that names what it replaces, or stands beside others by its key, leaves nothing to ask.
 */
export async function reviewLookAlike(
  mutation: Mutation,
  { id, kind, valueKey, ...names }: Pick<FactValues, 'id' | 'kind' | 'valueKey' | 'subject' | 'predicate'>,
): Promise<void> {
  if (kind !== 'state' || valueKey !== '') return;
  const [nearest] = await listNear(mutation.transaction, { id, ...names });
  if (nearest === undefined || (nearest.similarity ?? 0) < leastSimilarityToReview) return;
  await openReview(mutation, { kind: 'same_thing', factIds: [id, nearest.id], reason: 'looks_alike' });
}

/**
 * Finds live facts of the same scope and subject that may say the same under another name, at most three, the most alike
 * first; for a note, those of any subject. Names, glosses and vectors only propose: they cannot tell the same from the similar.
 */
export async function findLookAlikes(context: MemoryContext, id: string): Promise<Fact[]> {
  const { tenantId } = context.principal;
  const { client } = context.db;
  const fact = await client.fact.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (fact === null || fact.kind !== 'state') return [];
  const least = isNote(fact) ? leastSimilarityToNote : leastLikeness;
  const ranked = (await listNear(client, fact))
    .map((other) => ({
      id: other.id,
      likeness: isNote(fact) ? (other.similarity ?? 0) : likenessOf(fact.predicate, other),
    }))
    .filter(({ likeness }) => likeness >= least)
    .toSorted((left, right) => right.likeness - left.likeness)
    .slice(0, mostNamed);
  const rows = await client.fact.findMany({ where: { tenantId, id: { in: ranked.map((one) => one.id) } } });
  const place = new Map(ranked.map((one, index) => [one.id, index]));
  const opened = await openRows(context, rows);
  return opened.toSorted((left, right) => (place.get(left.id) ?? 0) - (place.get(right.id) ?? 0));
}

function listNear(client: TenantClient, fact: Pick<Fact, 'id' | 'subject' | 'predicate'>): Promise<NearFact[]> {
  return isNote(fact) ? listFactsNearNote(client, fact.id) : listFactsOfSubject(client, fact.id);
}

/** From 0 to 1: the share of common words of the names, or of the names with their glosses, or the nearness of the vectors. */
function likenessOf(predicate: string, { predicate: other, similarity }: NearFact): number {
  const names = shareOf(wordsOf(predicate), wordsOf(other));
  const glosses = shareOf(glossWordsOf(predicate), glossWordsOf(other));
  return Math.max(names, glosses, similarity ?? 0);
}

function shareOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((word) => other.has(word)).length;
  return common / Math.max(1, Math.min(one.size, other.size));
}

function wordsOf(predicate: string): Set<string> {
  return new Set(normalisePredicate(predicate).split('_'));
}

const fillers = new Set(
  'someone something where when which what who how the and for with has have that from'.split(' '),
);

function glossWordsOf(predicate: string): Set<string> {
  const words =
    findGloss(predicate)
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? [];
  return new Set([...wordsOf(predicate), ...words.filter((word) => !fillers.has(word))]);
}

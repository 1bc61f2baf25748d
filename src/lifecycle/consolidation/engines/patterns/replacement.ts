import { readPeriod, leaveOutBeginning } from '../../../../memory/facts/stated-period.ts';
import { readsAsNote } from '../../../../memory/facts/note-key.ts';
import { millisecondsPerHour } from '../../../../shared/durations.ts';
import type { Known } from './known.ts';
import type { Relative } from './relatives.ts';
import { countCommon, hasConflict, listValues, valueKinds, withoutNames, type Topic } from './topic.ts';

/**
 * Likelihoods from which a statement confirms a fact, supersedes it, or opens a review. Chosen on pairs that the judge was
 * not trained on: `train-relations.ts` prints what each share would be.
 */
const least = { confirm: 0.5, supersede: 0.7, review: 0.3, otherwise: 0.5, sameSlot: 0.7 };

/** Agents store facts while a session lasts, and its episode at its end. */
const sessionHours = 4;

/** What was replaced after the episode, or is known of a later day, is not made current again. */
export function isOutdated(relatives: readonly Relative[], sameKey: Known | undefined, at: Date): boolean {
  if (sameKey !== undefined && sameKey.since > at) return true;
  return relatives.some(({ known, repeats, changes }) => {
    if (known.replacedAt !== null) return repeats >= least.confirm && known.replacedAt > at;
    return known.since > at && changes >= least.review;
  });
}

export function findRepeated(live: readonly Relative[], said: Topic, at: Date): Relative | undefined {
  return live
    .filter((one) => one.repeats >= least.confirm || isOfSession(one, said, at))
    .toSorted((a, b) => b.repeats - a.repeats)[0];
}

/** Finds what a statement replaces without a review. */
export function findCertain(changed: readonly Relative[], topic: Topic): Relative | undefined {
  return changed.find(
    ({ known, changes }) =>
      changes >= least.supersede && (known.type === 'rule' || !isPart(known.topic, topic)) && mayReplace(known, topic),
  );
}

/**
 * What an agent stored in the same session of the same matter is better than a sentence about it, and only confirmed. What
 * was stored hours before or after may be of another session: there a statement that says another value is news.
 */
function isOfSession({ known, changes, repeats }: Relative, said: Topic, at: Date): boolean {
  const apart = Math.abs(known.since.getTime() - at.getTime());
  if (!known.isStored || changes + repeats < least.sameSlot || apart > sessionHours * millisecondsPerHour) return false;
  const isOther = said.isCorrection || said.isEnded !== known.topic.isEnded || hasConflict(known.topic, said);
  return apart === 0 || (known.isOfAgent && !isOther);
}

/**
 * Whether a statement may replace what is known without a review: both must name one thing beside people. A fact under a
 * predicate is replaced only by a sentence that says its end, or that names a thing which it names.
 */
function mayReplace(known: Known, said: Topic): boolean {
  const { topic } = known;
  if (countCommon(withoutNames(topic.words, topic), withoutNames(said.words, said)) === 0) return false;
  if (!known.isStored || readsAsNote(known)) return true;
  return (said.isEnded && !topic.isEnded) || countCommon(topic.nouns, said.nouns) > 0;
}

/** Of one episode, what is said first is known before the rest. */
function isBefore({ since, isStored }: Known, at: Date): boolean {
  return since < at || (!isStored && since <= at);
}

/** What begins later is compared as it will read then: the review that it opens counts from that day on. */
export function asOfItsBeginning(content: string, at: Date): string {
  const { from } = readPeriod(content);
  return from !== null && from > at ? leaveOutBeginning(content) : content;
}

/** What begins later, or ends, replaces nothing: what was known before holds until then, or again. */
export function isForGood(content: string, at: Date): boolean {
  const { from, until } = readPeriod(content);
  return until === null && (from === null || from <= at);
}

/**
 * Whether a known sentence says more than a newer one replaces: "A bay mare, stabled at Nybø, 3,200 a month", or a day, time
 * or number where the newer names none.
 */
function isPart(known: Topic, said: Topic): boolean {
  const own = (one: Topic, other: Topic): number =>
    one.words.size + listValues(one).size - countCommon(one.words, other.words);
  const lacksValues = valueKinds.some((kind) => known.values[kind].size > 0 && said.values[kind].size === 0);
  return (lacksValues && !said.isEnded) || own(known, said) > own(said, known) + 2;
}

/** Finds the stored fact of which a statement very likely replaces only a part. */
export function findPartly(changed: readonly Relative[]): Relative | undefined {
  return changed.find(({ known, changes }) => known.type === 'fact' && known.isStored && changes >= least.supersede);
}

/** Lists what a statement perhaps changes, the likeliest first. */
export function listChanged(live: readonly Relative[], topic: Topic, at: Date): Relative[] {
  const near = live.filter((one) => isBefore(one.known, at) && one.changes >= leastOf(one.known.topic, topic));
  return near
    .toSorted((a, b) => b.changes - a.changes)
    .filter(({ changes }, place) => place === 0 || changes >= least.otherwise);
}

/** Of what shares only names with a statement, and of a second one, more is asked: most are about another matter. */
function leastOf(known: Topic, said: Topic): number {
  const shared = [...known.words].filter((word) => said.words.has(word));
  const areNames = shared.length > 0 && shared.every((word) => known.names.has(word) || said.names.has(word));
  return areNames ? least.otherwise : least.review;
}

import type { Fact } from '../../generated/prisma/client.ts';

/** What decides when a fact is the current one of its key. */
export type Timed = Pick<Fact, 'validFrom' | 'validTo' | 'observedAt' | 'createdAt' | 'lastConfirmedAt'>;

/** Returns when something was said: observed, or else stored. What another clock puts in the future was said now. */
export function saidAt(observedAt: Date | null, now: Date): Date {
  return observedAt === null || observedAt > now ? now : observedAt;
}

/** Returns as of when a statement is confirmed: as of when it was said, or as of its first day if that is later. */
export function chooseConfirmedAt(said: Date, validFrom: Date | null): Date {
  return validFrom !== null && validFrom > said ? validFrom : said;
}

/** Returns the moment by which facts of one key are compared: that of the latest statement, or the first day if later. */
export function findMoment({ lastConfirmedAt, createdAt, validFrom }: Timed): Date {
  return chooseConfirmedAt(lastConfirmedAt ?? createdAt, validFrom);
}

/** Returns when a fact began to hold, as far as that is known. */
export function findBeginning({ validFrom, observedAt, createdAt }: Timed): Date {
  return validFrom ?? observedAt ?? createdAt;
}

export function isUpcoming({ validFrom }: Pick<Timed, 'validFrom'>, at: Date): boolean {
  return validFrom !== null && validFrom > at;
}

export function hasEnded({ validTo }: Pick<Timed, 'validTo'>, at: Date): boolean {
  return validTo !== null && validTo <= at;
}

/**
 * Finds the current fact of a key at a moment that is not past. Of those that hold then, the one that was said last is
 * current; of two that were said at once, the later in the list. `isCurrentAt` of src/db/sql says the same.
 */
export function findCurrent<T extends Timed>(facts: readonly T[], at: Date): T | null {
  const holding = facts.filter((fact) => !isUpcoming(fact, at) && !hasEnded(fact, at));
  return holding.reduce<T | null>((best, fact) => (best === null || !isAfter(best, fact) ? fact : best), null);
}

function isAfter(one: Timed, other: Timed): boolean {
  const [first, second] = [findMoment(one).getTime(), findMoment(other).getTime()];
  if (first !== second) return first > second;
  return (one.observedAt ?? one.createdAt) > (other.observedAt ?? other.createdAt);
}

/** Finds the facts of a key that are current now or will be: the others are history. */
export function findLasting<T extends Timed>(facts: readonly T[], now: Date): Set<T> {
  const said = facts.filter((fact, place) => !isReplaced(fact, facts, place, now));
  const changes = said.flatMap(({ validFrom, validTo }) => [validFrom, validTo]);
  const moments = [now, ...changes.filter((moment) => moment !== null && moment > now)];
  return new Set(moments.map((at) => findCurrent(said, at as Date)).filter((fact) => fact !== null));
}

/** Of two that begin on one day to come, the one that was said later counts. */
function isReplaced<T extends Timed>(fact: T, facts: readonly T[], place: number, now: Date): boolean {
  if (!isUpcoming(fact, now)) return false;
  return facts.some(
    (other, otherPlace) =>
      other !== fact &&
      isUpcoming(other, now) &&
      isSameDay(fact.validFrom, other.validFrom) &&
      isSaidAfter(other, fact, otherPlace > place),
  );
}

function isSaidAfter(one: Timed, other: Timed, isLater: boolean): boolean {
  const [first, second] = [one, other].map(({ observedAt, createdAt }) => (observedAt ?? createdAt).getTime());
  return first === second ? isLater : (first ?? 0) > (second ?? 0);
}

/** Days are those of UTC. */
export function isSameDay(one: Date | null, other: Date | null): boolean {
  return one?.toISOString().slice(0, 10) === other?.toISOString().slice(0, 10);
}

import { findNeighbours, type ChainedFact, type ValuedKey } from '../../db/queries/facts.ts';
import type { Fact } from '../../generated/prisma/client.ts';
import { createLink } from '../links/links.ts';
import { settleReviewsOf } from '../reviews/reviews.ts';
import { changeMemory, createMutation, type Mutation } from '../mutation.ts';
import { findBeginning, findCurrent, findLasting, hasEnded, findMoment, type Timed } from './valid-time.ts';

/** What placing a fact among those of its key needs to know of each. */
export type PlacedFact = Timed & Pick<Fact, 'id' | 'supersedesId' | 'setAside'>;

/** A fact that takes the place of others. */
type Successor = Timed & Pick<Fact, 'id'>;

/** What becomes of the live facts of a key. */
export interface KeyPlan<T> {
  /** The one that is current now; null if all of them are upcoming. */
  current: T | null;
  /** Those that will be current later. */
  waiting: T[];
  /** Those that will never be current again. */
  over: T[];
}

export function planKey<T extends Timed>(facts: readonly T[], now: Date): KeyPlan<T> {
  const lasting = findLasting(facts, now);
  const kept = facts.filter((fact) => lasting.has(fact));
  const current = findCurrent(kept, now);
  return {
    current,
    waiting: kept.filter((fact) => fact !== current),
    over: facts.filter((fact) => !lasting.has(fact)),
  };
}

/** Supersedes, ends and sets aside facts of a key, so that its index has room for the current one. */
export async function makeRoom<T extends PlacedFact>(
  { consequence }: Mutation,
  { waiting, over }: KeyPlan<T>,
  successor: Successor | null,
): Promise<void> {
  for (const fact of over) await endFact(consequence, fact, successor);
  for (const fact of waiting) await setFactAside(consequence, fact);
}

async function setFactAside(mutation: Mutation, { id, setAside }: PlacedFact): Promise<void> {
  if (!setAside) await changeMemory(mutation, { type: 'fact', id }, 'fact.set_aside', { setAside: true });
}

/** Ends a live fact: it expires where its time has ended, and otherwise another takes its place. */
export async function endFact(mutation: Mutation, fact: PlacedFact, successor: Successor | null): Promise<void> {
  const target = { type: 'fact', id: fact.id } as const;
  if (hasEnded(fact, mutation.now) || successor === null) {
    await changeMemory(mutation, target, 'fact.expired', { validity: 'expired', setAside: false });
    return settleReviewsOf(mutation, fact.id);
  }
  await changeMemory(mutation, target, 'fact.superseded', {
    validity: 'superseded',
    supersededAt: mutation.now,
    validTo: endOfValidity(fact, successor),
    setAside: false,
  });
  await settleReviewsOf(mutation, fact.id, successor.id);
}

/** It was true until its successor became true, as far as that is known; never before it began. */
function endOfValidity({ validFrom, validTo }: Timed, successor: Timed): Date {
  const end = findBeginning(successor);
  if (validTo !== null && validTo < end) return validTo;
  return validFrom !== null && validFrom > end ? validFrom : end;
}

/** Returns the fact whose place a new one takes: of those that end or give way for it, the one that was said last. */
export function findPredecessor<T extends PlacedFact>({ waiting, over }: KeyPlan<T>, now: Date): T | null {
  const giving = [...over, ...waiting.filter(({ setAside }) => !setAside)].filter((fact) => !hasEnded(fact, now));
  return giving.toSorted((a, b) => findMoment(b).getTime() - findMoment(a).getTime())[0] ?? null;
}

/**
 * Records what time has changed about the live facts of a locked key: one begins or comes back, others end. One change
 * with one event, whose consequences are undone with it. Returns the type of that event; null if nothing changed.
 */
export async function settleKey(mutation: Mutation, facts: readonly PlacedFact[]): Promise<string | null> {
  const plan = planKey(facts, mutation.now);
  const { current, waiting, over } = plan;
  if (current?.setAside === true) {
    const predecessor = findPredecessor(plan, mutation.now);
    await makeRoom(mutation, plan, current);
    await beginFact(mutation, current, predecessor);
    return 'fact.began';
  }
  for (const fact of over) await endFact(startChange(mutation), fact, current);
  for (const fact of waiting) await setFactAside(startChange(mutation), fact);
  return over.length > 0 ? 'fact.expired' : null;
}

/** Each of several ends is a change of its own, unless all follow from another. */
function startChange(mutation: Mutation): Mutation {
  return mutation === mutation.consequence ? mutation : createMutation(mutation.context, mutation.transaction);
}

async function beginFact(mutation: Mutation, { id }: PlacedFact, predecessor: PlacedFact | null): Promise<void> {
  const supersedes = predecessor === null ? {} : { supersedesId: predecessor.id };
  await changeMemory(mutation, { type: 'fact', id }, 'fact.began', { setAside: false, ...supersedes });
  if (predecessor !== null) await linkSuperseded(mutation, id, predecessor.id);
}

async function linkSuperseded({ consequence }: Mutation, id: string, predecessorId: string): Promise<void> {
  await createLink(consequence, {
    source: { type: 'fact', id },
    target: { type: 'fact', id: predecessorId },
    relation: 'supersedes',
  });
}

/** Where something that was said earlier, or that has ended, belongs among the facts of its key. */
export interface HistoryPlace {
  validity: 'superseded' | 'expired';
  validTo: Date | null;
  before: ChainedFact | null;
  after: ChainedFact | null;
}

export async function findHistoryPlace(
  { transaction, now }: Mutation,
  key: ValuedKey,
  fact: Timed,
): Promise<HistoryPlace> {
  const { before, after } = await findNeighbours(transaction, key, { moment: chainMoment(fact), now });
  const isUnlinked = after !== null && after.supersedesId !== null && after.supersedesId !== before?.id;
  return {
    validity: after === null ? 'expired' : 'superseded',
    validTo: fact.validTo ?? (after === null ? now : endOfValidity(fact, after)),
    before: after === null || isUnlinked ? null : before,
    after,
  };
}

/** As the statement `findNeighbours` computes it. */
function chainMoment(fact: Timed): Date {
  const moment = findMoment(fact);
  return fact.validTo !== null && fact.validTo < moment ? fact.validTo : moment;
}

/** Puts a fact that was stored as history into the chain: each ends where the next begins. */
export async function linkHistory(
  mutation: Mutation,
  fact: Timed & { id: string },
  place: HistoryPlace,
): Promise<void> {
  const { before, after } = place;
  if (after === null) return;
  const { consequence } = mutation;
  if (after.supersedesId === null || after.supersedesId === before?.id) {
    await changeMemory(consequence, { type: 'fact', id: after.id }, 'fact.bridged', { supersedesId: fact.id });
  }
  await linkSuperseded(mutation, after.id, fact.id);
  if (before === null) return;
  await linkSuperseded(mutation, fact.id, before.id);
  const endedThere = before.validTo?.getTime() === findBeginning(after).getTime();
  if (before.validity !== 'superseded' || !endedThere || hasEnded(before, findBeginning(fact))) return;
  const columns = { validTo: endOfValidity(before, fact) };
  await changeMemory(consequence, { type: 'fact', id: before.id }, 'fact.bridged', columns);
}

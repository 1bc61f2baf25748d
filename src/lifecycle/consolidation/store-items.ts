import { listRetracted, listSameEvents, lockFactKeys, type FactStatement } from '../../db/queries/facts.ts';
import type { Columns } from '../../db/queries/memories.ts';
import { lockRules, lockRuleTexts } from '../../db/queries/rules.ts';
import type { StoredFact } from '../../db/stored-fact.ts';
import type { Rule } from '../../generated/prisma/client.ts';
import { writeFact } from '../../memory/facts/facts.ts';
import { isLive } from '../../memory/facts/fact-values.ts';
import { createLink } from '../../memory/links/links.ts';
import { writeConfirmation } from '../../memory/confirm.ts';
import { addOmissions, createMutation, type Mutation } from '../../memory/mutation.ts';
import { quarantine } from '../../memory/quarantine/quarantine.ts';
import { openReview } from '../../memory/reviews/reviews.ts';
import { findKnownRule, supersedeRule, writeRule } from '../../memory/rules/rules.ts';
import { openRows } from '../../encryption/sealing.ts';
import type { Span } from '../../memory/spans.ts';
import { findReason, Refusal, type RefusedItem } from './output.ts';
import {
  isVisible,
  type Grounds,
  type PreparedFact,
  type PreparedItem,
  type PreparedReference,
  type PreparedRule,
} from './prepare-items.ts';

export interface Stored {
  factsCreated: number;
  factsUpdated: number;
  rulesCreated: number;
  confirmations: number;
  linksCreated: number;
  refused: RefusedItem[];
}

interface Storing {
  /** Of the run: its event is the cause of each item's. */
  run: Mutation;
  butler: string;
  /** When each claimed episode was observed, or else stored. */
  saidAt: ReadonlyMap<string, Date>;
  /** Items that say what was forgotten after they were observed. */
  retracted: ReadonlySet<PreparedItem>;
  confirmed: Set<string>;
  /** Ids of the new facts by their places in the output. */
  written: Map<number, string>;
  stored: Stored;
}

/**
 * Stores items within the transaction of the run. Each item is a write of its own, which can be undone alone. Items that
 * conflict with the present memories are refused.
 */
export async function storeItems(
  run: Mutation,
  { butler, saidAt, items }: { butler: string; saidAt: ReadonlyMap<string, Date>; items: readonly PreparedItem[] },
): Promise<Stored> {
  const stored = { factsCreated: 0, factsUpdated: 0, rulesCreated: 0, confirmations: 0, linksCreated: 0, refused: [] };
  await lockAll(run, items);
  const retracted = await findRetracted(run, items, saidAt);
  const storing: Storing = { run, butler, saidAt, retracted, confirmed: new Set(), written: new Map(), stored };
  for (const item of items) {
    try {
      const part = startPart(run);
      await storeItem(storing, part, item);
      addOmissions(run.report, part.report);
    } catch (error) {
      const reason = findReason(error);
      if (reason === null) throw error;
      storing.stored.refused.push({ kind: item.kind, place: item.place, reason });
    }
  }
  return storing.stored;
}

/** Begins a write that is caused by the run. The caller gets the event of the run only, by which all can be undone. */
function startPart({ context, transaction, eventId }: Mutation): Mutation {
  return createMutation(context, transaction, eventId);
}

async function storeItem(storing: Storing, mutation: Mutation, item: PreparedItem): Promise<void> {
  if (item.evidence.some((id) => !storing.saidAt.has(id))) {
    throw new Refusal('evidence: an episode was forgotten or removed meanwhile');
  }
  switch (item.kind) {
    case 'new_facts':
    case 'updated_facts':
      return storeFactItem(storing, mutation, item);
    case 'new_rules':
      return storeRuleItem(storing, mutation, item);
    case 'confirmations':
    case 'links':
      return storeReference(storing, mutation, item);
    case 'said_by_others':
      // A consequence of the run: there is no other write that could have caused it.
      return quarantine(storing.run, storing.butler, [item.item]);
  }
}

async function storeFactItem(storing: Storing, mutation: Mutation, item: PreparedFact): Promise<void> {
  if (item.targetId !== null) await requireTarget(storing, { type: 'fact', id: item.targetId });
  if (storing.retracted.has(item)) throw new Refusal('content: the same fact was forgotten after this was observed');
  if (item.values.kind === 'event') {
    const same = await findSameEvent(mutation, item);
    if (same !== undefined) return confirm(storing, mutation, { type: 'fact', id: same.id }, item);
  }
  const written = await writeFact(mutation, item.given, item.values, item.embedded, spansOfSource(item));
  const reference = { type: 'fact', id: written.id } as const;
  if (item.kind === 'new_facts') storing.written.set(item.place, written.id);
  if (written.isConfirmation) return countConfirmation(storing, mutation, reference, item);
  if (item.kind === 'new_facts') storing.stored.factsCreated++;
  else storing.stored.factsUpdated++;
  await linkToEvidence(storing, mutation, reference, item);
  await askWhetherChanged(storing, mutation, written.id, item);
}

/** Opens reviews where a fact may replace others: nothing is superseded on a guess. */
async function askWhetherChanged(
  { butler, written }: Storing,
  mutation: Mutation,
  id: string,
  { mayChange }: Pick<PreparedFact, 'mayChange'>,
): Promise<void> {
  const { transaction, tenantId } = mutation;
  for (const { fact, likelihood } of mayChange) {
    const olderId = typeof fact === 'string' ? fact : written.get(fact);
    if (olderId === undefined || olderId === id) continue;
    const facts = await transaction.fact.findMany({ where: { tenantId, id: { in: [id, olderId] } } });
    const isOpen =
      facts.length === 2 && facts.every(({ scope, validity }) => isVisible(scope, butler) && isLive(validity));
    if (isOpen)
      await openReview(mutation, { kind: 'note_change', factIds: [id, olderId], reason: 'may_change', likelihood });
  }
}

/** Finds the items that say what somebody forgot after they were observed, in one statement for all. */
async function findRetracted(
  { context, transaction }: Mutation,
  items: readonly PreparedItem[],
  saidAt: ReadonlyMap<string, Date>,
): Promise<Set<PreparedItem>> {
  const facts = items.filter(isFact);
  const statements = facts.map((item) => ({ ...toStatement(item), after: findLastMoment(saidAt, item) }));
  const found = await openRows(context, await listRetracted(transaction, statements), transaction);
  return new Set(facts.filter((item, place) => found.some((one) => one.index === place && says(one, item))));
}

async function findSameEvent(
  { context, transaction }: Mutation,
  item: PreparedFact,
): Promise<{ id: string } | undefined> {
  const events = await listSameEvents(transaction, toStatement(item), item.values.observedAt);
  return (await openRows(context, events, transaction)).find((event) => says(event, item));
}

function toStatement({ values }: PreparedFact): FactStatement {
  const { scope, subject, predicateKey, content, isSealed } = values;
  return { scope, subject, predicateKey, content: isSealed ? null : content };
}

function says({ content }: { content: string }, { values }: PreparedFact): boolean {
  return content === values.content;
}

async function storeRuleItem(storing: Storing, mutation: Mutation, item: PreparedRule): Promise<void> {
  const { supersedes } = item;
  if (supersedes !== null) {
    const { scope } = await requireTarget(storing, { type: 'rule', id: supersedes });
    if (scope !== item.values.scope) throw new Refusal(`supersedes must be a rule of the scope ${item.values.scope}`);
  }
  const { warning, live, forgottenAt } = await findKnownRule(mutation, item.values);
  if (warning !== undefined) throw new Refusal('content: this rule did harm and is a warning against itself');
  if (live !== undefined) {
    const isNewlyAsked = item.values.askedByUser && live.askedByUserAt === null;
    const columns = isNewlyAsked ? { askedByUserAt: item.saidAt } : {};
    await confirm(storing, mutation, { type: 'rule', id: live.id }, item, columns);
    return supersede(mutation, supersedes, live.id);
  }
  if (forgottenAt !== null && forgottenAt >= findLastMoment(storing.saidAt, item)) {
    throw new Refusal('content: the same rule was forgotten after this was observed');
  }
  await writeRule(mutation, item.values, item.embedded, { saidAt: item.saidAt, sourceSpans: spansOfSource(item) });
  storing.stored.rulesCreated++;
  await linkToEvidence(storing, mutation, { type: 'rule', id: item.values.id }, item);
  await supersede(mutation, supersedes, item.values.id);
}

async function supersede(mutation: Mutation, id: string | null, successorId: string): Promise<void> {
  if (id !== null && id !== successorId) await supersedeRule(mutation, id, successorId);
}

async function storeReference(storing: Storing, mutation: Mutation, item: PreparedReference): Promise<void> {
  await requireTarget(storing, item.target);
  if (item.kind === 'confirmations') {
    await confirm(storing, mutation, item.target, item);
    return askWhetherChanged(storing, mutation, item.target.id, item);
  }
  await linkEvidence(storing, item, item);
}

/** Throws unless the target is live and visible to the butler, with the same reason for unknown and hidden ones. */
async function requireTarget(
  { run, butler }: Storing,
  { type, id }: PreparedReference['target'],
): Promise<StoredFact | Rule> {
  const { transaction, tenantId } = run;
  const where = { tenantId_id: { tenantId, id } };
  const target: StoredFact | Rule | null =
    type === 'fact' ? await transaction.fact.findUnique({ where }) : await transaction.rule.findUnique({ where });
  if (target === null || !isVisible(target.scope, butler)) {
    throw new Refusal(`target_id: no such ${type}`);
  }
  if (!isLive(target.validity)) throw new Refusal(`target_id: the ${type} is ${target.validity}, and not live`);
  return target;
}

/**
 * Confirms a memory once a run, however many items confirm it, as of when the episodes say so; each adds its evidence. What
 * is not newer than the last confirmation only adds its evidence.
 */
async function confirm(
  storing: Storing,
  mutation: Mutation,
  target: PreparedReference['target'],
  grounds: Grounds,
  columns: Columns<'rule'> = {},
): Promise<void> {
  if (storing.confirmed.has(target.id)) return linkEvidence(storing, { target, relation: 'supports' }, grounds);
  const said = findLastMoment(storing.saidAt, grounds);
  const isNewer = await writeConfirmation(mutation, target, { ...columns, said });
  if (isNewer) return countConfirmation(storing, mutation, target, grounds);
  return linkEvidence(storing, { target, relation: 'supports' }, grounds);
}

async function countConfirmation(
  storing: Storing,
  { consequence }: Mutation,
  target: PreparedReference['target'],
  grounds: Grounds,
): Promise<void> {
  storing.confirmed.add(target.id);
  storing.stored.confirmations++;
  await linkEvidence(storing, { target, relation: 'supports' }, grounds, consequence);
}

/** Links each episode to the target. Each link is a write of its own, unless it is a consequence of another. */
async function linkEvidence(
  { run, stored }: Storing,
  { target, relation }: Pick<PreparedReference, 'target' | 'relation'>,
  { evidence, spans }: Grounds,
  consequence?: Mutation,
): Promise<void> {
  for (const id of evidence) {
    const mutation = consequence ?? startPart(run);
    const isNew = await createLink(mutation, {
      source: { type: 'episode', id },
      target,
      relation,
      spans: spans.get(id) ?? [],
    });
    if (isNew) stored.linksCreated++;
  }
}

/** Links a new memory to its evidence; the first link was made when the memory was written. */
async function linkToEvidence(
  { stored }: Storing,
  { consequence }: Mutation,
  source: PreparedReference['target'],
  { evidence: [, ...others], spans }: Grounds,
): Promise<void> {
  for (const id of others) {
    await createLink(consequence, {
      source,
      target: { type: 'episode', id },
      relation: 'derived_from',
      spans: spans.get(id) ?? [],
    });
  }
  stored.linksCreated += 1 + others.length;
}

/** Returns where the first cited episode, which the memory names as its source, says so. */
function spansOfSource({ evidence: [id], spans }: Grounds): readonly Span[] {
  return id === undefined ? [] : (spans.get(id) ?? []);
}

/** Returns when the last cited episode was observed: what was forgotten later was forgotten knowingly. */
function findLastMoment(saidAt: ReadonlyMap<string, Date>, { evidence }: Pick<Grounds, 'evidence'>): Date {
  return new Date(Math.max(...evidence.map((id) => saidAt.get(id)?.getTime() ?? 0)));
}

/** Locks keys and texts before rows, and all before the first write: the order of every write, or they would deadlock. */
async function lockAll({ transaction }: Mutation, items: readonly PreparedItem[]): Promise<void> {
  const keys = items.flatMap((item) => (isFact(item) ? [item.values] : []));
  const rules = items.flatMap((item) => (item.kind === 'new_rules' ? [item.values] : []));
  const targets = items.flatMap((item) => ('target' in item ? [item.target] : []));
  const doubtful = items
    .flatMap((item) => ('mayChange' in item ? item.mayChange : []))
    .flatMap(({ fact }) => (typeof fact === 'string' ? fact : []));
  const idsOf = (type: 'fact' | 'rule'): string[] => targets.filter((one) => one.type === type).map(({ id }) => id);
  const factIds = [...idsOf('fact'), ...doubtful];
  if (keys.length + factIds.length > 0) await lockFactKeys(transaction, { keys, factIds });
  if (rules.length > 0) await lockRuleTexts(transaction, rules);
  const superseded = items.flatMap((item) => (item.kind === 'new_rules' ? (item.supersedes ?? []) : []));
  const ruleIds = [...idsOf('rule'), ...superseded];
  if (ruleIds.length > 0) await lockRules(transaction, ruleIds);
}

function isFact(item: PreparedItem): item is PreparedFact {
  return item.kind === 'new_facts' || item.kind === 'updated_facts';
}

import { findRetracted, findSameEvents } from '../../db/sql/known-statements.ts';
import { lockFactKeys, type StatedFact } from '../../db/queries/facts.ts';
import { lockRules, lockRuleTexts } from '../../db/queries/rules.ts';
import type { Opened, StoredFact } from '../../db/stored-fact.ts';
import type { Prisma, Rule } from '../../generated/prisma/client.ts';
import { writeFact } from '../../memory/facts/facts.ts';
import { isLive } from '../../memory/facts/fact-values.ts';
import { createLink } from '../../memory/links/links.ts';
import { writeConfirmation } from '../../memory/confirm-and-forget.ts';
import { createMutation, type Mutation } from '../../memory/mutation.ts';
import { findKnownRule, writeRule } from '../../memory/rules/rules.ts';
import { openRows } from '../../memory/sealing.ts';
import type { RefusedItem } from './output.ts';
import {
  isVisible,
  type PreparedFact,
  type PreparedItem,
  type PreparedReference,
  type PreparedRule,
} from './prepare-items.ts';
import { reasonOf, Refusal } from './refusal.ts';

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
  /** When each claimed episode was stored. */
  storedAt: ReadonlyMap<string, Date>;
  confirmed: Set<string>;
  stored: Stored;
}

/**
 * Stores what stands up to what is there now, within the transaction of the run. Each item is a write of its own, that
 * can be undone alone; what must not be stored is refused with its reason.
 */
export async function storeItems(
  run: Mutation,
  { butler, storedAt, items }: { butler: string; storedAt: ReadonlyMap<string, Date>; items: readonly PreparedItem[] },
): Promise<Stored> {
  const stored = { factsCreated: 0, factsUpdated: 0, rulesCreated: 0, confirmations: 0, linksCreated: 0, refused: [] };
  const storing: Storing = { run, butler, storedAt, confirmed: new Set(), stored };
  await lockAll(run, items);
  for (const item of items) {
    try {
      await storeItem(storing, partOf(run), item);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      storing.stored.refused.push({ kind: item.kind, place: item.place, reason });
    }
  }
  return storing.stored;
}

/** Caused by the run. Who asked for the run is told of its event only, by which all of it can be undone. */
function partOf({ context, transaction, eventId }: Mutation): Mutation {
  return createMutation({ ...context, recorded: [] }, transaction, eventId);
}

async function storeItem(storing: Storing, mutation: Mutation, item: PreparedItem): Promise<void> {
  if (item.evidence.some((id) => !storing.storedAt.has(id))) {
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
  }
}

async function storeFactItem(storing: Storing, mutation: Mutation, item: PreparedFact): Promise<void> {
  const { scope, subject, predicate, content, isSealed } = item.values;
  const statement = { tenantId: mutation.tenantId, scope, subject, predicate, content: isSealed ? null : content };
  if (item.targetId !== null) await requireTarget(storing, { type: 'fact', id: item.targetId });
  const retracted = await findSaying(mutation, content, findRetracted(statement, lastOf(storing, item)));
  if (retracted !== undefined) throw new Refusal('content: the same fact was forgotten after this was observed');
  if (item.values.kind === 'event') {
    const same = await findSaying(mutation, content, findSameEvents(statement, item.values.observedAt));
    if (same !== undefined) return confirm(storing, mutation, { type: 'fact', id: same.id }, item.evidence);
  }
  const written = await writeFact(mutation, item.given, item.values, item.embedded);
  const reference = { type: 'fact', id: written.id } as const;
  if (written.isConfirmation) return countConfirmation(storing, mutation, reference, item.evidence);
  if (item.kind === 'new_facts') storing.stored.factsCreated++;
  else storing.stored.factsUpdated++;
  await linkToEvidence(storing, mutation, reference, item.evidence);
}

async function findSaying(
  { context, transaction }: Mutation,
  content: string,
  candidates: Prisma.Sql,
): Promise<Opened<StatedFact> | undefined> {
  const facts = await transaction.$queryRaw<StatedFact[]>(candidates);
  const opened = await openRows(context, facts, transaction);
  return opened.find((fact) => fact.content === content);
}

async function storeRuleItem(storing: Storing, mutation: Mutation, item: PreparedRule): Promise<void> {
  const { warning, live, forgottenAt } = await findKnownRule(mutation, item.values);
  if (warning !== undefined) throw new Refusal('content: this rule did harm and is a warning against itself');
  if (live !== undefined) return confirm(storing, mutation, { type: 'rule', id: live.id }, item.evidence);
  if (forgottenAt !== null && forgottenAt >= lastOf(storing, item)) {
    throw new Refusal('content: the same rule was forgotten after this was observed');
  }
  await writeRule(mutation, item.values, item.embedded);
  storing.stored.rulesCreated++;
  await linkToEvidence(storing, mutation, { type: 'rule', id: item.values.id }, item.evidence);
}

async function storeReference(storing: Storing, mutation: Mutation, item: PreparedReference): Promise<void> {
  await requireTarget(storing, item.target);
  if (item.kind === 'confirmations') return confirm(storing, mutation, item.target, item.evidence);
  await linkEvidence(storing, item);
}

/** Live, and in sight of the butler. Says the same of what is unknown and of what is another's. */
async function requireTarget({ run, butler }: Storing, { type, id }: PreparedReference['target']): Promise<void> {
  const { transaction, tenantId } = run;
  const where = { tenantId_id: { tenantId, id } };
  const target: StoredFact | Rule | null =
    type === 'fact' ? await transaction.fact.findUnique({ where }) : await transaction.rule.findUnique({ where });
  if (target === null || !isVisible(target.scope, butler)) {
    throw new Refusal(`target_id: no such ${type}`);
  }
  const isForgotten = 'forgottenAt' in target && target.forgottenAt !== null;
  if (isForgotten || !isLive(target.validity)) {
    throw new Refusal(`target_id: the ${type} is ${isForgotten ? 'forgotten' : target.validity}, and not live`);
  }
}

/** Once a run, however many items say so; each adds its evidence. */
async function confirm(
  storing: Storing,
  mutation: Mutation,
  target: PreparedReference['target'],
  evidence: readonly string[],
): Promise<void> {
  if (storing.confirmed.has(target.id)) return linkEvidence(storing, { target, relation: 'supports', evidence });
  await writeConfirmation(mutation, target);
  await countConfirmation(storing, mutation, target, evidence);
}

async function countConfirmation(
  storing: Storing,
  { consequence }: Mutation,
  target: PreparedReference['target'],
  evidence: readonly string[],
): Promise<void> {
  storing.confirmed.add(target.id);
  storing.stored.confirmations++;
  await linkEvidence(storing, { target, relation: 'supports', evidence }, consequence);
}

/** From each episode to what it speaks for or against. Without a mutation to follow from, each link is a write of its own. */
async function linkEvidence(
  { run, stored }: Storing,
  { target, relation, evidence }: Pick<PreparedReference, 'target' | 'relation'> & { evidence: readonly string[] },
  consequence?: Mutation,
): Promise<void> {
  for (const id of evidence) {
    const mutation = consequence ?? partOf(run);
    const isNew = await createLink(mutation, { source: { type: 'episode', id }, target, relation });
    if (isNew) stored.linksCreated++;
  }
}

/** The first of them was linked when the memory was written. */
async function linkToEvidence(
  { stored }: Storing,
  { consequence }: Mutation,
  source: PreparedReference['target'],
  [, ...others]: readonly string[],
): Promise<void> {
  for (const id of others) {
    await createLink(consequence, { source, target: { type: 'episode', id }, relation: 'derived_from' });
  }
  stored.linksCreated += 1 + others.length;
}

/** The moment up to which an item knows what was said. */
function lastOf({ storedAt }: Storing, { evidence }: PreparedItem): Date {
  return new Date(Math.max(...evidence.map((id) => storedAt.get(id)?.getTime() ?? 0)));
}

/** Keys and texts before rows, and all of them before the first write, as whoever stores a single memory takes them. */
async function lockAll({ transaction }: Mutation, items: readonly PreparedItem[]): Promise<void> {
  const keys = items.flatMap((item) => (isFact(item) ? [item.values] : []));
  const rules = items.flatMap((item) => (item.kind === 'new_rules' ? [item.values] : []));
  const targets = items.flatMap((item) => ('target' in item ? [item.target] : []));
  const idsOf = (type: 'fact' | 'rule'): string[] => targets.filter((one) => one.type === type).map(({ id }) => id);
  await lockFactKeys(transaction, { keys, factIds: idsOf('fact') });
  if (rules.length > 0) await lockRuleTexts(transaction, rules);
  await lockRules(transaction, idsOf('rule'));
}

function isFact(item: PreparedItem): item is PreparedFact {
  return item.kind === 'new_facts' || item.kind === 'updated_facts';
}

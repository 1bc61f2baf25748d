import { v7 as uuidv7 } from 'uuid';
import { findSameRules, type SameRule } from '../../db/sql/known-statements.ts';
import { lockRuleTexts } from '../../db/sql/lock-rules.ts';
import { setEmbedding } from '../../db/sql/set-embedding.ts';
import { describeGiven, MemoryError } from '../../shared/errors.ts';
import type { Prisma, Rule } from '../../generated/prisma/client.ts';
import { asStored, omissionsOf, createRedactor, type RedactedText, type Omissions } from '../../redaction/redactor.ts';
import { decayRates } from '../confidence.ts';
import type { MemoryContext } from '../context.ts';
import { embedOne, vectorsOfOne, type EmbeddedText } from '../embed.ts';
import { isLive } from '../facts/facts.ts';
import { mutateOnce } from '../idempotency.ts';
import { linkToSource, requireEpisode } from '../links/links.ts';
import { normaliseMetadata, type KeptMetadata } from '../metadata.ts';
import { changeMemory, mutate, type Mutation } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { earnedMaturity, effectiveness, isAntiPattern, type Maturity } from './rule-maturity.ts';
import { requireButler, requireScope } from '../reach.ts';
import { normaliseContent, normaliseKey } from '../text.ts';
import { checkNumber, checkOptionalUuid, checkUuid, globalScope, normaliseTags } from '../values.ts';

export type { Rule };

export const ruleValidities = ['active', 'fading', 'expired', 'retracted'] as const;

export interface StoreRuleInput {
  content: string;
  scope?: string | null | undefined;
  importance?: number | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
  sourceButler?: string | null | undefined;
  sourceEpisodeId?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export const candidateConfidence = 0.5;

/**
 * Stores how to behave, as a candidate that has yet to earn trust. A live rule of the scope with the same words is
 * confirmed instead, and takes over what else was given. A rule that became an anti-pattern is refused.
 */
export async function storeRule(context: MemoryContext, input: StoreRuleInput): Promise<Rule> {
  authorize(context, 'mutation storeRule');
  const values = normaliseRule(context, input);
  const embedding = await embedOne(context, values.content);
  const { idempotencyKey, ...rest } = input;
  const id = await mutateOnce(context, { operation: 'storeRule', idempotencyKey, input: rest }, async (mutation) => {
    await requireEpisode(mutation, 'source_episode_id', values.sourceEpisodeId);
    await mutation.transaction.$queryRaw(lockRuleTexts(mutation.tenantId, [values]));
    const { warning, live } = await findKnownRule(mutation, values);
    if (warning !== undefined) throw repeatsAntiPattern(values.content, warning);
    if (live !== undefined) return confirmStored(mutation, live.id, input, values);
    await writeRule(mutation, values, embedding);
    return values.id;
  });
  return getRule(context, id);
}

export interface KnownRule {
  /** The anti-pattern that a rule with these words became, in the scope or for all. */
  warning: SameRule | undefined;
  /** The live rule with the same words. */
  live: SameRule | undefined;
  /** When a rule with the same words was last forgotten. */
  forgottenAt: Date | null;
}

/** Finds the rule with these words. The caller must hold `lockRuleTexts`. */
export async function findKnownRule(
  { transaction, tenantId }: Mutation,
  { scope, content }: Pick<RuleValues, 'scope' | 'content'>,
): Promise<KnownRule> {
  const same = await transaction.$queryRaw<SameRule[]>(findSameRules({ tenantId, scope, content }));
  const kept = same.filter(({ forgottenAt }) => forgottenAt === null);
  const times = same.flatMap(({ forgottenAt }) => forgottenAt ?? []).map((moment) => moment.getTime());
  return {
    warning: kept.find(({ maturity }) => maturity === 'anti_pattern'),
    live: kept.find(({ maturity, validity }) => maturity !== 'anti_pattern' && isLive(validity)),
    forgottenAt: times.length === 0 ? null : new Date(Math.max(...times)),
  };
}

function repeatsAntiPattern(content: string, { id, content: warning }: SameRule): MemoryError {
  return new MemoryError(
    'CONFLICT',
    `content must not repeat a known anti-pattern (got ${describeGiven(content)}, which is rule ${id})`,
    { hint: `This rule did harm before. Its warning: ${JSON.stringify(warning)}` },
  );
}

async function confirmStored(
  mutation: Mutation,
  id: string,
  given: StoreRuleInput,
  { importance, tags, metadata, omissions }: RuleValues,
): Promise<string> {
  const { transaction, tenantId, now, context } = mutation;
  const attributes = {
    ...(given.importance != null && { importance }),
    ...(given.tags != null && { tags }),
    ...(given.metadata != null && { metadata }),
  };
  await changeMemory(
    mutation,
    { type: 'rule', id },
    'rule.confirmed',
    () =>
      transaction.rule.update({
        where: { tenantId_id: { tenantId, id } },
        data: { ...attributes, validity: 'active', lastConfirmedAt: now, version: { increment: 1 } },
        select: { id: true },
      }),
    { omissions },
  );
  context.confirmed?.push(id);
  return id;
}

export interface RuleValues {
  id: string;
  content: RedactedText;
  scope: string;
  importance: number;
  tags: RedactedText[];
  metadata: KeptMetadata;
  sourceButler: string | null;
  sourceEpisodeId: string | null;
  /** What redaction removed; not a column. */
  omissions: Omissions;
}

export function normaliseRule(context: MemoryContext, input: StoreRuleInput): RuleValues {
  const redactor = createRedactor(context);
  const values = {
    id: uuidv7(),
    content: normaliseContent(redactor, 'content', input.content),
    scope: requireScope(context, normaliseKey(redactor, 'scope', input.scope ?? globalScope)),
    importance: checkNumber('importance', input.importance ?? 5, 1, 10),
    tags: normaliseTags(redactor, input.tags),
    metadata: normaliseMetadata(redactor, 'metadata', input.metadata ?? {}),
    sourceButler: input.sourceButler
      ? requireButler(context, normaliseKey(redactor, 'source_butler', input.sourceButler), 'source_butler')
      : context.principal.butler,
    sourceEpisodeId: checkOptionalUuid('source_episode_id', input.sourceEpisodeId),
  };
  return { ...values, omissions: omissionsOf(redactor) };
}

/** The same within a mutation that is under way. */
export async function writeRule(
  mutation: Mutation,
  { omissions, ...values }: RuleValues,
  embedding: EmbeddedText,
): Promise<void> {
  const { context, transaction, tenantId, now } = mutation;
  const data = {
    ...values,
    tenantId,
    language: context.config.memory.retrieval.language,
    confidence: candidateConfidence,
    createdAt: now,
    lastConfirmedAt: now,
    requestId: context.requestContext.requestId,
  };
  await transaction.rule.create({ data, select: { id: true } });
  await embedRule(mutation, values.id, embedding);
  await mutation.recordCreation({ type: 'rule', id: values.id }, 'rule.stored', omissions);
  await linkToSource(mutation, { type: 'rule', id: values.id }, values.sourceEpisodeId);
}

export async function embedRule(
  { context, transaction, tenantId }: Mutation,
  id: string,
  embedding: EmbeddedText,
): Promise<void> {
  const vectors = await vectorsOfOne(context, transaction, embedding);
  await transaction.$executeRaw(setEmbedding('rule', { tenantId, id }, vectors));
}

export const ruleOutcomes = ['helpful', 'harmful'] as const;
export type RuleOutcome = (typeof ruleOutcomes)[number];

export interface MarkRuleInput {
  ruleId: string;
  outcome: RuleOutcome;
  reason?: string | null | undefined;
  evidence?: Prisma.InputJsonObject | null | undefined;
  sessionId?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/**
 * Records how an application of a rule went, and what follows: its effectiveness, its maturity, and for the harm that
 * was one too many the inversion into a warning, all in this call.
 */
export async function markRule(context: MemoryContext, input: MarkRuleInput): Promise<Rule> {
  authorize(context, input.outcome === 'helpful' ? 'mutation markRuleHelpful' : 'mutation markRuleHarmful');
  const ruleId = checkUuid('rule_id', input.ruleId);
  const redactor = createRedactor(context);
  const mark = {
    outcome: input.outcome,
    reason: input.reason ? normaliseContent(redactor, 'reason', input.reason) : null,
    evidence: normaliseMetadata(redactor, 'evidence', input.evidence ?? {}),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
  };
  const { idempotencyKey, ...rest } = input;
  const warning = await prepareWarning(context, ruleId, mark);
  await mutateOnce(context, { operation: 'markRule', idempotencyKey, input: rest }, async (mutation) => {
    const rule = await lockUsableRule(mutation, ruleId);
    await insertApplication(mutation, ruleId, mark);
    await applyMark(mutation, rule, { mark, warning, omissions: omissionsOf(redactor) });
    return ruleId;
  });
  return getRule(context, ruleId);
}

interface Mark {
  outcome: RuleOutcome;
  reason: RedactedText | null;
  evidence: KeptMetadata;
  sessionId: string | null;
}

interface Warning {
  content: RedactedText;
  embedding: EmbeddedText;
}

/**
 * The text and vector of the warning that this mark may turn the rule into, made before the transaction because the
 * model must not hold a connection. Null when the mark cannot invert it.
 */
async function prepareWarning(context: MemoryContext, ruleId: string, mark: Mark): Promise<Warning | null> {
  const { tenantId } = context.principal;
  if (mark.outcome !== 'harmful') return null;
  const rule = await context.db.client.rule.findUnique({ where: { tenantId_id: { tenantId, id: ruleId } } });
  if (rule === null || rule.maturity === 'anti_pattern') return null;
  if (!isAntiPattern(afterMark(rule, 'harmful', mayRaceBy), context.config.memory.rules)) return null;
  const reasons = await collectReasons(context, ruleId);
  const content = describeAntiPattern(rule.content, [...reasons, ...(mark.reason === null ? [] : [mark.reason])]);
  return { content, embedding: await embedOne(context, content) };
}

/** Marks that others may make between our look and our lock: the warning is prepared that much early. */
const mayRaceBy = 50;

async function collectReasons(context: MemoryContext, ruleId: string): Promise<string[]> {
  const { tenantId } = context.principal;
  const harms = await context.db.client.ruleApplication.findMany({
    where: { tenantId, ruleId, outcome: 'harmful', reason: { not: null }, retiredByEventId: null },
    orderBy: [{ appliedAt: 'asc' }, { id: 'asc' }],
    select: { reason: true },
    take: 20,
  });
  return harms.map(({ reason }) => reason ?? '');
}

/** The form that specification 001 gives: one sentence of what not to do, one of why. */
export function describeAntiPattern(original: string, reasons: readonly string[]): RedactedText {
  const because = reasons.length === 0 ? 'no reason was given' : [...new Set(reasons)].join('; ');
  const rule = original.replace(/[\s.]+$/, '');
  return asStored(`ANTI-PATTERN: Do NOT ${rule}. This caused problems because: ${because}`);
}

function afterMark(rule: Rule, outcome: RuleOutcome, more = 0): Rule {
  return outcome === 'helpful'
    ? { ...rule, successCount: rule.successCount + 1 }
    : { ...rule, harmfulCount: rule.harmfulCount + 1 + more };
}

export async function lockUsableRule({ transaction, tenantId }: Mutation, id: string): Promise<Rule> {
  await transaction.$queryRaw`SELECT 1 AS locked FROM rules WHERE tenant_id = ${tenantId} AND id = ${id}::uuid FOR UPDATE`;
  const rule = await transaction.rule.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (rule === null) throw new MemoryError('NOT_FOUND', `rule ${id} is not there`);
  if (rule.forgottenAt !== null) {
    throw new MemoryError('INVALID_TRANSITION', `rule ${id} is forgotten`, { hint: 'Restore it first.' });
  }
  return rule;
}

async function insertApplication(
  { context, transaction, tenantId, eventId, now }: Mutation,
  ruleId: string,
  mark: Mark,
): Promise<void> {
  await transaction.ruleApplication.create({
    data: {
      ...mark,
      tenantId,
      // The id of the event, so that undoing the event finds this row.
      id: eventId,
      ruleId,
      butler: context.principal.butler,
      requestId: context.requestContext.requestId,
      appliedAt: now,
    },
    select: { id: true },
  });
}

interface Judgement {
  mark: Mark;
  warning: Warning | null;
  omissions: Omissions;
}

async function applyMark(mutation: Mutation, rule: Rule, { mark, warning, omissions }: Judgement): Promise<void> {
  const { transaction, tenantId, now, context } = mutation;
  const { outcome, reason, evidence, sessionId } = mark;
  const marked = afterMark(rule, outcome);
  const { id } = rule;
  await changeMemory(
    mutation,
    { type: 'rule', id },
    `rule.marked_${outcome}`,
    () =>
      transaction.rule.update({
        where: { tenantId_id: { tenantId, id } },
        data: {
          successCount: marked.successCount,
          harmfulCount: marked.harmfulCount,
          appliedCount: { increment: 1 },
          effectivenessScore: effectiveness(marked),
          lastAppliedAt: now,
          lastEvaluatedAt: now,
          version: { increment: 1 },
          ...(outcome === 'helpful' && { lastConfirmedAt: now }),
        },
      }),
    // What the row of the judgement has and the event lacks, so that the row can be rebuilt from its event.
    {
      omissions,
      details: { application: { reason, evidence, butler: context.principal.butler, session_id: sessionId } },
    },
  );
  if (rule.maturity === 'anti_pattern') return;
  const thresholds = context.config.memory.rules;
  if (isAntiPattern(marked, thresholds)) return invert(mutation.consequence, rule, warning);
  const earned = earnedMaturity(marked, now, thresholds);
  // Helpful marks only lift and harmful ones only lower: a maturity that a person set is not reverted by praise.
  const difference = maturityRank[earned] - maturityRank[rule.maturity as Maturity];
  if (outcome === 'helpful' ? difference > 0 : difference < 0) await setMaturity(mutation.consequence, rule, earned);
}

async function invert(mutation: Mutation, rule: Rule, warning: Warning | null): Promise<void> {
  if (warning === null) throw new MemoryError('CONFLICT', `rule ${rule.id} changed meanwhile`, { hint: 'Try again.' });
  const { tenantId, id } = rule;
  await changeMemory(mutation, { type: 'rule', id }, 'rule.inverted', async () => {
    await mutation.transaction.rule.update({
      where: { tenantId_id: { tenantId, id } },
      data: {
        maturity: 'anti_pattern',
        originalContent: rule.content,
        content: warning.content,
        permanence: 'permanent',
        decayRate: decayRates.permanent,
        version: { increment: 1 },
      },
    });
    await embedRule(mutation, id, warning.embedding);
  });
}

/**
 * Inverts a rule whose record calls for it by the thresholds of today, without a further mark. False when it does not, or
 * not any more.
 */
export async function invertRule(context: MemoryContext, id: string): Promise<boolean> {
  const { tenantId } = context.principal;
  const { rules: thresholds } = context.config.memory;
  const isDue = (rule: Rule): boolean => rule.maturity !== 'anti_pattern' && isAntiPattern(rule, thresholds);
  const found = await context.db.client.rule.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (found === null || !isDue(found)) return false;
  const content = describeAntiPattern(found.content, await collectReasons(context, id));
  const warning = { content, embedding: await embedOne(context, content) };
  return mutate(context, async (mutation) => {
    const rule = await lockUsableRule(mutation, id);
    if (!isDue(rule) || rule.content !== found.content) return false;
    await invert(mutation, rule, warning);
    return true;
  });
}

export async function setMaturity(mutation: Mutation, rule: Rule, maturity: Maturity): Promise<void> {
  const { tenantId, id } = rule;
  const isPromotion = maturityRank[maturity] > maturityRank[rule.maturity as Maturity];
  await changeMemory(mutation, { type: 'rule', id }, isPromotion ? 'rule.promoted' : 'rule.demoted', () =>
    mutation.transaction.rule.update({
      where: { tenantId_id: { tenantId, id } },
      data: { maturity, version: { increment: 1 } },
    }),
  );
}

export const maturityRank: Record<Maturity, number> = { anti_pattern: -1, candidate: 0, established: 1, proven: 2 };

export async function getRule(context: MemoryContext, id: string): Promise<Rule> {
  const { tenantId } = context.principal;
  return context.db.client.rule.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
}

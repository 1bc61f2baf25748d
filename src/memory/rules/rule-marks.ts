import type { Columns } from '../../db/queries/memories.ts';
import type { Prisma, Rule } from '../../generated/prisma/client.ts';
import { asStored, createRedactor, omissionsOf, type Omissions, type RedactedText } from '../../redaction/redactor.ts';
import { MemoryError } from '../../shared/errors.ts';
import { decayRates } from '../confidence.ts';
import type { MemoryContext } from '../context.ts';
import { embedOne, type EmbeddedText } from '../embed.ts';
import { mutateOnce } from '../idempotency.ts';
import { normaliseMetadata, type KeptMetadata } from '../metadata.ts';
import { changeMemory, mapWritten, mutate, type Mutation, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { normaliseContent } from '../text.ts';
import { resolveId } from '../resolve-id.ts';
import { checkOptionalUuid } from '../values.ts';
import { earnedMaturity, effectiveness, isAntiPattern, type Maturity } from './rule-maturity.ts';
import { getRule, lockUsableRule } from './rules.ts';

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
export async function markRule(context: MemoryContext, input: MarkRuleInput): Promise<Written<Rule>> {
  authorize(context, input.outcome === 'helpful' ? 'mutation markRuleHelpful' : 'mutation markRuleHarmful');
  const ruleId = await resolveId(context, 'rule_id', input.ruleId, 'rule');
  const redactor = createRedactor(context);
  const mark = {
    outcome: input.outcome,
    reason: input.reason ? normaliseContent(redactor, 'reason', input.reason) : null,
    evidence: normaliseMetadata(redactor, 'evidence', input.evidence ?? {}),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
  };
  const { idempotencyKey, ...rest } = { ...input, ruleId };
  const warning = await prepareWarning(context, ruleId, mark);
  const written = await mutateOnce(
    context,
    { operation: 'markRule', idempotencyKey, input: rest },
    async (mutation) => {
      const rule = await lockUsableRule(mutation, ruleId);
      await insertApplication(mutation, ruleId, mark);
      await applyMark(mutation, rule, { mark, warning, omissions: omissionsOf(redactor) });
      return ruleId;
    },
  );
  return mapWritten(written, (id) => getRule(context, id));
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
function describeAntiPattern(original: string, reasons: readonly string[]): RedactedText {
  const because = reasons.length === 0 ? 'no reason was given' : [...new Set(reasons)].join('; ');
  const rule = original.replace(/[\s.]+$/, '');
  return asStored(`ANTI-PATTERN: Do NOT ${rule}. This caused problems because: ${because}`);
}

function afterMark(rule: Rule, outcome: RuleOutcome, more = 0): Rule {
  return outcome === 'helpful'
    ? { ...rule, successCount: rule.successCount + 1 }
    : { ...rule, harmfulCount: rule.harmfulCount + 1 + more };
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
  const { now, context } = mutation;
  const { outcome, reason, evidence, sessionId } = mark;
  const marked = afterMark(rule, outcome);
  const { id } = rule;
  await changeMemory(
    mutation,
    { type: 'rule', id },
    `rule.marked_${outcome}`,
    {
      successCount: marked.successCount,
      harmfulCount: marked.harmfulCount,
      appliedCount: rule.appliedCount + 1,
      effectivenessScore: effectiveness(marked),
      lastAppliedAt: now,
      lastEvaluatedAt: now,
      ...(outcome === 'helpful' && { lastConfirmedAt: now }),
    },
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
  const columns: Columns<'rule'> = {
    maturity: 'anti_pattern',
    originalContent: rule.content,
    content: warning.content,
    permanence: 'permanent',
    decayRate: decayRates.permanent,
  };
  const { embedding } = warning;
  await changeMemory(mutation, { type: 'rule', id: rule.id }, 'rule.inverted', columns, { embedding });
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
  const { eventId } = await mutate(context, async (mutation) => {
    const rule = await lockUsableRule(mutation, id);
    if (isDue(rule) && rule.content === found.content) await invert(mutation, rule, warning);
  });
  return eventId !== null;
}

export async function setMaturity(mutation: Mutation, rule: Rule, maturity: Maturity): Promise<void> {
  const isPromotion = maturityRank[maturity] > maturityRank[rule.maturity as Maturity];
  const eventType = isPromotion ? 'rule.promoted' : 'rule.demoted';
  await changeMemory(mutation, { type: 'rule', id: rule.id }, eventType, { maturity });
}

export const maturityRank: Record<Maturity, number> = { anti_pattern: -1, candidate: 0, established: 1, proven: 2 };

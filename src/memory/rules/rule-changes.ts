import type { Columns } from '../../db/queries/memories.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { Prisma, Rule } from '../../generated/prisma/client.ts';
import { createRedactor, omissionsOf } from '../../redaction/redactor.ts';
import type { MemoryContext } from '../context.ts';
import { embedOne } from '../embed.ts';
import { mutateOnce } from '../idempotency.ts';
import { normaliseMetadata } from '../metadata.ts';
import { changeMemory, mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize, authorizeTarget, type Action } from '../permissions.ts';
import { onlyButlerOf } from '../reach.ts';
import type { Maturity } from './rule-maturity.ts';
import { maturityRank, setMaturity } from './rule-marks.ts';
import { candidateConfidence, getRule, lockUsableRule } from './rules.ts';
import { normaliseContent } from '../text.ts';
import { resolveId } from '../resolve-id.ts';
import { checkNumber, normaliseTags } from '../values.ts';

/** Changes that people make to a rule. Those that its applications make are in rules.ts. */

export interface RuleWrite {
  ruleId: string;
  idempotencyKey?: string | null | undefined;
}

export interface EditRuleInput extends RuleWrite {
  content: string;
  importance?: number | null | undefined;
  /** Whether the user asked for the new text. */
  askedByUser?: boolean | null | undefined;
  tags?: readonly string[] | null | undefined;
  metadata?: Prisma.InputJsonObject | null | undefined;
}

/**
 * Another text is another rule, which has yet to earn trust: it is a candidate again, and what was said of the old text
 * counts no more, nor that the user asked for the old text. An anti-pattern that is edited is a rule again.
 */
export async function editRule(context: MemoryContext, input: EditRuleInput): Promise<Written<Rule>> {
  const redactor = createRedactor(context);
  const content = normaliseContent(redactor, 'content', input.content);
  const attributes = {
    ...(input.importance != null && { importance: checkNumber('importance', input.importance, 1, 10) }),
    ...(input.tags != null && { tags: normaliseTags(redactor, input.tags) }),
    ...(input.metadata != null && { metadata: normaliseMetadata(redactor, 'metadata', input.metadata) }),
  };
  const embedding = await embedOne(context, content);
  return changeRule(context, 'editRule', input, async (mutation, { id }) => {
    const askedByUserAt = input.askedByUser === true ? mutation.now : null;
    const columns = { ...attributes, ...asCandidate, content, askedByUserAt, lastConfirmedAt: mutation.now };
    const details = { omissions: omissionsOf(redactor), embedding };
    await changeMemory(mutation, { type: 'rule', id }, 'rule.edited', columns, details);
    await retireApplications(mutation, id);
  });
}

const asCandidate = {
  originalContent: null,
  maturity: 'candidate',
  validity: 'active',
  confidence: candidateConfidence,
  permanence: 'standard',
  decayRate: 0.008,
  appliedCount: 0,
  successCount: 0,
  harmfulCount: 0,
  effectivenessScore: 0,
} satisfies Columns<'rule'>;

async function retireApplications({ transaction, tenantId, eventId }: Mutation, ruleId: string): Promise<void> {
  await transaction.ruleApplication.updateMany({
    where: { tenantId, ruleId, retiredByEventId: null },
    data: { retiredByEventId: eventId },
  });
}

const ladder: Maturity[] = ['candidate', 'established', 'proven'];

/** One step up, whatever its record: a person answers for it. */
export async function promoteRule(context: MemoryContext, input: RuleWrite): Promise<Written<Rule>> {
  return changeRule(context, 'promoteRule', input, (mutation, rule) => stepTo(mutation, rule, 1));
}

/** One step down. What its applications earn later may lift it again. */
export async function demoteRule(context: MemoryContext, input: RuleWrite): Promise<Written<Rule>> {
  return changeRule(context, 'demoteRule', input, (mutation, rule) => stepTo(mutation, rule, -1));
}

async function stepTo(mutation: Mutation, rule: Rule, step: 1 | -1): Promise<void> {
  const next = ladder[maturityRank[rule.maturity as Maturity] + step];
  if (rule.maturity === 'anti_pattern' || next === undefined) {
    const allowed = step > 0 ? 'a candidate or established rule' : 'an established or proven rule';
    throw new MemoryError(
      'INVALID_TRANSITION',
      `rule_id must be ${allowed} (got rule ${rule.id}, which is ${rule.maturity})`,
      {
        hint: rule.maturity === 'anti_pattern' ? 'Undo its inversion, or edit it.' : 'It is as far as it can go.',
      },
    );
  }
  await setMaturity(mutation, rule, next);
}

/** Out of every search and context, with all that it has earned, until it is enabled again. */
export async function disableRule(context: MemoryContext, input: RuleWrite): Promise<Written<Rule>> {
  return changeRule(context, 'disableRule', input, (mutation, rule) => setDisabled(mutation, rule, mutation.now));
}

export async function enableRule(context: MemoryContext, input: RuleWrite): Promise<Written<Rule>> {
  return changeRule(context, 'enableRule', input, (mutation, rule) => setDisabled(mutation, rule, null));
}

async function setDisabled(mutation: Mutation, rule: Rule, disabledAt: Date | null): Promise<void> {
  const { id } = rule;
  const state = disabledAt === null ? 'enabled' : 'disabled';
  if ((rule.disabledAt === null) === (disabledAt === null)) {
    throw new MemoryError('INVALID_TRANSITION', `rule ${id} is ${state} already`);
  }
  await changeMemory(mutation, { type: 'rule', id }, `rule.${state}`, { disabledAt });
}

type RuleChange = 'editRule' | 'promoteRule' | 'demoteRule' | 'disableRule' | 'enableRule';

async function changeRule(
  context: MemoryContext,
  operation: RuleChange,
  { idempotencyKey, ...input }: RuleWrite,
  change: (mutation: Mutation, rule: Rule) => Promise<void>,
): Promise<Written<Rule>> {
  const action: Action = `mutation ${operation}`;
  authorize(context, action);
  const ruleId = await resolveId(context, 'rule_id', input.ruleId, 'rule');
  const written = await mutateOnce(context, { operation, idempotencyKey, input }, async (mutation) => {
    const rule = await lockUsableRule(mutation, ruleId);
    authorizeTarget(context, action, { name: `rule ${ruleId}`, isOwn: rule.scope === onlyButlerOf(context) });
    await change(mutation, rule);
    return ruleId;
  });
  return mapWritten(written, (id) => getRule(context, id));
}

import type { Columns } from '../../db/queries/memories.ts';
import {
  listForgottenMoments,
  listNearRules,
  listSameRules,
  lockRules,
  lockRuleTexts,
  type SameRule,
} from '../../db/queries/rules.ts';
import type { Rule } from '../../generated/prisma/client.ts';
import { createRedactor, omissionsOf } from '../../redaction/redactor.ts';
import { describeGiven, invalidInput, MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { embedOne, type EmbeddedText } from '../embed.ts';
import { isLive } from '../facts/fact-values.ts';
import { mutateOnce } from '../idempotency.ts';
import type { Span } from '../spans.ts';
import { createLink, linkToSource, requireEpisode, type MemoryReference, type NewLink } from '../links/links.ts';
import { getMemory, referenceKey } from '../memories.ts';
import { normaliseLearned, type LearnedInput, type LearnedValues } from '../learned-values.ts';
import { changeMemory, createMemory, mapWritten, type Mutation, type Written } from '../mutation.ts';
import { authorize, authorizeTarget } from '../permissions.ts';
import { onlyButlerOf } from '../reach.ts';
import { resolveOptionalId } from '../resolve-id.ts';
import { normaliseContent } from '../text.ts';

export type { Rule };

export const ruleValidities = ['active', 'fading', 'expired', 'retracted'] as const;

export interface StoreRuleInput extends LearnedInput {
  /** Whether the user asked for it, as opposed to a rule that was learned. */
  askedByUser?: boolean | null | undefined;
}

export const candidateConfidence = 0.5;

/**
 * Stores how to behave, as a candidate that has yet to earn trust. A live rule of the scope with the same words is
 * confirmed instead, and takes over what else was given. A rule that became an anti-pattern is refused. With
 * `supersedes` it takes the place of another rule of its scope, which is then forgotten.
 */
export async function storeRule(context: MemoryContext, input: StoreRuleInput): Promise<Written<Rule>> {
  authorize(context, 'mutation storeRule');
  const sourceEpisodeId = await resolveOptionalId(context, 'source_episode_id', input.sourceEpisodeId, 'episode');
  const replaced = await resolveOptionalId(context, 'supersedes', input.supersedes, 'rule');
  const values = normaliseRule(context, { ...input, sourceEpisodeId });
  const { idempotencyKey, ...rest } = { ...input, sourceEpisodeId, supersedes: replaced };
  const write = async (mutation: Mutation, embedding: EmbeddedText): Promise<string> => {
    await requireEpisode(mutation, 'source_episode_id', values.sourceEpisodeId);
    await lockRuleTexts(mutation.transaction, [values]);
    if (replaced !== null) await requireReplaceable(mutation, replaced, values);
    const { warning, live } = await findKnownRule(mutation, values);
    if (warning !== undefined) throw repeatsAntiPattern(values.content, warning);
    const isReplacing = replaced !== null && replaced !== live?.id;
    if (live === undefined) await writeRule(mutation, values, embedding);
    else await confirmStored(mutation, live.id, input, values);
    const successorId = live?.id ?? values.id;
    if (isReplacing) await supersedeRule(mutation, replaced, successorId);
    mutation.report.confirmed = live !== undefined && !isReplacing;
    return successorId;
  };
  const written = await mutateOnce(context, { operation: 'storeRule', idempotencyKey, input: rest }, write, {
    prepare: () => embedOne(context, values.content),
    turn: JSON.stringify(['rule', values.scope, values.content]).toLowerCase(),
  });
  return mapWritten(written, (id) => getRule(context, id));
}

/** Throws unless a rule is live, of the same scope, and the caller's to replace. */
async function requireReplaceable(mutation: Mutation, id: string, { scope }: RuleValues): Promise<void> {
  const rule = await lockUsableRule(mutation, id);
  const own = onlyButlerOf(mutation.context);
  const isOwn = own === null || rule.scope === own || rule.sourceButler === own;
  authorizeTarget(mutation.context, 'mutation storeRule', { name: `a rule that supersedes rule ${id}`, isOwn });
  if (!isLive(rule.validity)) throw new MemoryError('INVALID_TRANSITION', `rule ${id} is ${rule.validity}`);
  if (rule.scope !== scope) throw invalidInput('supersedes', `a rule of the scope ${scope}`, `one of ${rule.scope}`);
}

/** Forgets the old rule as a consequence: one undo brings it back and takes the new one away. */
export async function supersedeRule(
  { consequence: mutation }: Mutation,
  id: string,
  successorId: string,
): Promise<void> {
  await changeMemory(mutation, { type: 'rule', id }, 'rule.superseded', { validity: 'retracted' });
  const [source, target] = [successorId, id].map((ruleId) => ({ type: 'rule' as const, id: ruleId }));
  await createLink(mutation, { source, target, relation: 'supersedes' } as NewLink);
}

/** Cosine from which a rule is named as one that may say the same: naming one too many costs a line. */
const similarFrom = 0.62;

/** Lists live rules of the same scope that say nearly the same, at most three, the nearest first. */
export async function findSimilarRules(context: MemoryContext, id: string): Promise<Rule[]> {
  const { client } = context.db;
  const ids = await listNearRules(client, id, { within: 1 - similarFrom, limit: 3 });
  const rules = await client.rule.findMany({ where: { tenantId: client.tenantId, id: { in: ids } } });
  return rules.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

/** Loads when rules were last forgotten, up to a moment if one is given, by the key of the rule. */
export async function loadForgottenMoments(
  { db }: MemoryContext,
  references: readonly MemoryReference[],
  at: Date | null,
): Promise<Map<string, Date[]>> {
  const ids = references.map(({ id }) => id);
  const moments = await listForgottenMoments(db.client, ids, at);
  return new Map(moments.map(({ id, forgottenAt }) => [referenceKey({ type: 'rule', id }), [forgottenAt]]));
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
  { transaction }: Mutation,
  rule: Pick<RuleValues, 'scope' | 'content'>,
): Promise<KnownRule> {
  const same = await listSameRules(transaction, rule);
  const kept = same.filter(({ validity }) => validity !== 'retracted');
  const times = same.flatMap(({ forgottenAt }) => forgottenAt ?? []).map((moment) => moment.getTime());
  return {
    warning: kept.find(({ maturity }) => maturity === 'anti_pattern'),
    live: kept.find(({ maturity, validity }) => maturity !== 'anti_pattern' && isLive(validity)),
    forgottenAt: times.length === 0 ? null : new Date(Math.max(...times)),
  };
}

export function repeatsAntiPattern(content: string, { id, content: warning }: SameRule): MemoryError {
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
  { importance, tags, metadata, askedByUser, omissions }: RuleValues,
): Promise<void> {
  const columns: Columns<'rule'> = {
    ...(askedByUser && { askedByUserAt: mutation.now }),
    ...(given.importance != null && { importance }),
    ...(given.tags != null && { tags }),
    ...(given.metadata != null && { metadata }),
    validity: 'active',
    lastConfirmedAt: mutation.now,
  };
  await changeMemory(mutation, { type: 'rule', id }, 'rule.confirmed', columns, { omissions });
}

export interface RuleValues extends LearnedValues {
  /** Not a column: `askedByUserAt` is. */
  askedByUser: boolean;
}

export function normaliseRule(context: MemoryContext, input: StoreRuleInput): RuleValues {
  const redactor = createRedactor(context);
  const values = {
    content: normaliseContent(redactor, 'content', input.content),
    ...normaliseLearned(context, redactor, input),
    askedByUser: input.askedByUser ?? false,
  };
  return { ...values, omissions: omissionsOf(redactor) };
}

/** The same within a mutation that is under way. `saidAt` is when the user asked for it, if they did: by default now. */
export async function writeRule(
  mutation: Mutation,
  { omissions, askedByUser, ...values }: RuleValues,
  embedding: EmbeddedText,
  { saidAt = mutation.now, sourceSpans = [] }: { saidAt?: Date; sourceSpans?: readonly Span[] } = {},
): Promise<void> {
  const { context, now } = mutation;
  const columns = {
    ...values,
    askedByUserAt: askedByUser ? saidAt : null,
    language: context.config.memory.retrieval.language,
    confidence: candidateConfidence,
    createdAt: now,
    lastConfirmedAt: now,
    requestId: context.requestContext.requestId,
  };
  await createMemory(mutation, 'rule', columns, { embedding, omissions });
  await linkToSource(mutation, { type: 'rule', id: values.id }, values.sourceEpisodeId, sourceSpans);
}

/** Locks a rule that is not forgotten, and returns it. */
export async function lockUsableRule({ transaction, tenantId }: Mutation, id: string): Promise<Rule> {
  await lockRules(transaction, [id]);
  const rule = await transaction.rule.findUnique({ where: { tenantId_id: { tenantId, id } } });
  if (rule === null) throw new MemoryError('NOT_FOUND', `rule ${id} is not there`);
  if (rule.validity === 'retracted') {
    throw new MemoryError('INVALID_TRANSITION', `rule ${id} is forgotten`, { hint: 'Restore it first.' });
  }
  return rule;
}

export async function getRule(context: MemoryContext, id: string): Promise<Rule> {
  return (await getMemory(context, { type: 'rule', id })).row as Rule;
}

import { effectiveConfidence } from '../../memory/confidence.ts';
import type { Maturity } from '../../memory/rule-maturity.ts';
import { markRule, storeRule, type ruleValidities } from '../../memory/rules.ts';
import { builder } from '../builder.ts';
import { MemoryInterface } from './memory.ts';
import { MaturityEnum, ValidityEnum } from '../enums.ts';

export const RuleRef = builder.prismaNode('Rule', {
  description: 'How to behave. Earns trust by helping, and turns into a warning by doing harm.',
  id: { resolve: ({ id }) => id, description: 'Global id: "rule:" and the UUID.' },
  nullable: true,
  interfaces: [MemoryInterface],
  findUnique: (id, { memory }) => ({ tenantId_id: { tenantId: memory.principal.tenantId, id } }),
  fields: (t) => ({
    originalContent: t.exposeString('originalContent', {
      nullable: true,
      description: 'What an anti-pattern said before it became a warning.',
    }),
    scope: t.exposeString('scope', { description: 'Whom it concerns: "global", or the name of one butler.' }),
    maturity: t.field({
      type: MaturityEnum,
      description: 'How much trust it has earned.',
      resolve: ({ maturity }) => maturity as Maturity,
    }),
    validity: t.field({
      type: ValidityEnum,
      description: 'Whether it counts.',
      resolve: ({ validity }) => validity as (typeof ruleValidities)[number],
    }),
    confidence: t.exposeFloat('confidence', { description: 'From 0 to 1, when it was last confirmed.' }),
    effectiveConfidence: t.float({
      description: 'The confidence now: it has decayed since the last confirmation.',
      resolve: (rule, _args, { memory }) => effectiveConfidence(rule, memory.now()),
    }),
    effectivenessScore: t.exposeFloat('effectivenessScore', {
      description: 'Successes over successes and four times the harms: from 0 to 1.',
    }),
    appliedCount: t.exposeInt('appliedCount', { description: 'How often its application was judged.' }),
    successCount: t.exposeInt('successCount', { description: 'How often it helped.' }),
    harmfulCount: t.exposeInt('harmfulCount', { description: 'How often it did harm.' }),
    sourceButler: t.exposeString('sourceButler', { nullable: true, description: 'The butler that learned it.' }),
    lastConfirmedAt: t.expose('lastConfirmedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last confirmed; its decay counts from here.',
    }),
  }),
});

const StoreRuleInput = builder.inputType('StoreRuleInput', {
  description: 'A rule to store.',
  fields: (t) => ({
    content: t.string({ required: true, description: 'What to do, as an instruction.' }),
    scope: t.string({ description: 'Whom it concerns: "global", or the name of one butler. Default global.' }),
    importance: t.float({ description: 'From 1 (trivial) to 10 (vital). Default 5.' }),
    tags: t.stringList({ description: 'Words to filter by; at most 64.' }),
    metadata: t.field({ type: 'JSONObject', description: 'Anything structured that should come back with it.' }),
    sourceButler: t.string({ description: 'The butler that learned it. Default: the caller.' }),
    sourceEpisodeId: t.string({ description: 'UUID of the episode it was learned from; a link is made to it.' }),
    idempotencyKey: t.string({ description: 'The same key and input again give the first answer and change nothing.' }),
  }),
});

builder.queryField('rule', (t) =>
  t.prismaField({
    type: RuleRef,
    nullable: true,
    description: 'One rule by its UUID; null when it is not there.',
    args: { id: t.arg({ type: 'UUID', required: true, description: 'UUID of the rule.' }) },
    resolve: (query, _root, { id }, { memory }) => {
      const { tenantId } = memory.principal;
      return memory.db.tenant(tenantId).rule.findUnique({ ...query, where: { tenantId_id: { tenantId, id } } });
    },
  }),
);

builder.mutationField('storeRule', (t) =>
  t.field({
    type: RuleRef,
    description: 'Stores a rule as a candidate, which has yet to earn trust.',
    args: { input: t.arg({ type: StoreRuleInput, required: true, description: 'The rule.' }) },
    resolve: (_root, { input }, { memory }) => storeRule(memory, input),
  }),
);

const MarkRuleInput = builder.inputType('MarkRuleInput', {
  description: 'How an application of a rule went.',
  fields: (t) => ({
    ruleId: t.string({ required: true, description: 'UUID of the rule.' }),
    reason: t.string({ description: 'Why it helped or did harm; a warning made of the rule will say it.' }),
    evidence: t.field({ type: 'JSONObject', description: 'Anything structured that backs the judgement.' }),
    sessionId: t.string({ description: 'UUID of the session it was applied in.' }),
    idempotencyKey: t.string({ description: 'The same key and input again give the first answer and change nothing.' }),
  }),
});

builder.mutationFields((t) => ({
  markRuleHelpful: t.field({
    type: RuleRef,
    description: 'Says that a rule was applied and helped. May promote it.',
    args: { input: t.arg({ type: MarkRuleInput, required: true, description: 'The judgement.' }) },
    resolve: (_root, { input }, { memory }) => markRule(memory, { ...input, outcome: 'helpful' }),
  }),
  markRuleHarmful: t.field({
    type: RuleRef,
    description:
      'Says that a rule was applied and did harm, which weighs four times a success. May demote it, or turn it into a warning.',
    args: { input: t.arg({ type: MarkRuleInput, required: true, description: 'The judgement.' }) },
    resolve: (_root, { input }, { memory }) => markRule(memory, { ...input, outcome: 'harmful' }),
  }),
}));

import type { MemoryContext } from '../../memory/context.ts';
import type { RuleOutcome } from '../../memory/rules/rule-marks.ts';
import { builder } from '../builder.ts';
import { limitComplexity, limitDescription, readLimit, usualLimit } from '../limits.ts';
import { endRow, loadersOf } from '../loaders.ts';
import { asNode } from '../nodes.ts';
import { EpisodeRef } from './episode.ts';
import { MemoryEventRef } from './event.ts';
import { FactRef } from './fact.ts';
import { endValue, LinkEndUnion } from './link.ts';
import { MemoryInterface, referenceOf } from './memory.ts';
import { RuleRef } from './rule.ts';

/** The ways from one memory to another, to its events and to its applications. All are read for many at once. */

const RuleOutcomeEnum = builder.enumType('RuleOutcome', {
  description: 'How the application of a rule went.',
  values: { helpful: { description: 'It helped.' }, harmful: { description: 'It did harm.' } },
});

const RuleApplicationRef = builder.prismaObject('RuleApplication', {
  description: 'One application of a rule, as it was judged.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'That of the event that recorded it.' }),
    outcome: t.field({
      type: RuleOutcomeEnum,
      description: 'Outcome of the application.',
      resolve: ({ outcome }) => outcome as RuleOutcome,
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Reason, if one was given.' }),
    evidence: t.expose('evidence', { type: 'JSONObject', description: 'Evidence for the judgement.' }),
    butler: t.exposeString('butler', { nullable: true, description: 'The butler that judged.' }),
    sessionId: t.expose('sessionId', { type: 'UUID', nullable: true, description: 'The session it was applied in.' }),
    requestId: t.exposeString('requestId', { nullable: true, description: 'The request that judged it.' }),
    appliedAt: t.expose('appliedAt', { type: 'DateTime', description: 'When it was judged.' }),
  }),
});

/** The episode that a fact or rule was learned from, or what is left of it. */
async function loadSource(
  { sourceEpisodeId: id }: { sourceEpisodeId: string | null },
  memory: MemoryContext,
): Promise<typeof LinkEndUnion.$inferType | null> {
  return id === null ? null : endValue(await loadersOf(memory).ends.load({ type: 'episode', id }));
}

builder.interfaceFields(MemoryInterface, (t) => ({
  events: t.field({
    type: [MemoryEventRef],
    description: 'Its events, newest first.',
    complexity: limitComplexity,
    args: { limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }) },
    resolve: (row, { limit }, { memory }) =>
      loadersOf(memory).events.load({ reference: referenceOf(row), choice: { limit: readLimit(limit) } }),
  }),
}));

builder.prismaObjectFields(EpisodeRef, (t) => ({
  facts: t.field({
    type: [FactRef],
    description: 'The facts that were learned from it, alone or together with other episodes; newest first.',
    complexity: limitComplexity,
    args: { limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }) },
    resolve: async (row, { limit }, { memory }) => {
      const question = { reference: referenceOf(row), choice: { limit: readLimit(limit) } };
      return (await loadersOf(memory).factsLearnedFrom.load(question)).map(asNode);
    },
  }),
  rules: t.field({
    type: [RuleRef],
    description: 'The rules that were learned from it, alone or together with other episodes; newest first.',
    complexity: limitComplexity,
    args: { limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }) },
    resolve: (row, { limit }, { memory }) =>
      loadersOf(memory).rulesLearnedFrom.load({ reference: referenceOf(row), choice: { limit: readLimit(limit) } }),
  }),
}));

builder.prismaObjectFields(FactRef, (t) => ({
  sourceEpisode: t.field({
    type: LinkEndUnion,
    nullable: true,
    description: 'The episode it was learned from, or its tombstone.',
    resolve: (row, _args, { memory }) => loadSource(row, memory),
  }),
  supersedes: t.field({
    type: FactRef,
    nullable: true,
    description: 'The fact that it supersedes.',
    resolve: async ({ supersedesId: id }, _args, { memory }) => {
      const end = id === null ? null : endRow(await loadersOf(memory).ends.load({ type: 'fact', id }));
      return end !== null && 'predicate' in end ? asNode(end) : null;
    },
  }),
  supersededBy: t.field({
    type: FactRef,
    nullable: true,
    description: 'The fact that supersedes it.',
    resolve: async ({ id }, _args, { memory }) => {
      const successor = await loadersOf(memory).successors.load({ type: 'fact', id });
      return successor === null ? null : asNode(successor);
    },
  }),
}));

builder.prismaObjectFields(RuleRef, (t) => ({
  sourceEpisode: t.field({
    type: LinkEndUnion,
    nullable: true,
    description: 'The episode it was learned from, or its tombstone.',
    resolve: (row, _args, { memory }) => loadSource(row, memory),
  }),
  applications: t.field({
    type: [RuleApplicationRef],
    description: 'The judgements of it that count, newest first.',
    complexity: limitComplexity,
    args: { limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }) },
    resolve: (row, { limit }, { memory }) =>
      loadersOf(memory).applications.load({ reference: referenceOf(row), choice: { limit: readLimit(limit) } }),
  }),
}));

import { createReport, mapWritten } from '../../memory/mutation.ts';
import { claimForAgent, submitOutput, type AgentClaim } from '../../lifecycle/consolidation/agent.ts';
import { failRun } from '../../lifecycle/consolidation/fail.ts';
import { renewLease } from '../../lifecycle/consolidation/lease.ts';
import type { ItemKind, RefusedItem } from '../../lifecycle/consolidation/output.ts';
import type { ConsolidationPrompt } from '../../lifecycle/consolidation/prompt.ts';
import { requeueEpisodes, type RequeueOutcome, type RequeueStatus } from '../../lifecycle/consolidation/requeue.ts';
import {
  getRun,
  listEpisodesOf,
  listRuns,
  type ConsolidationRun,
  type EngineName,
  type RunStatus,
} from '../../lifecycle/consolidation/run.ts';
import { builder } from '../builder.ts';
import { readPage, totalCount } from '../pages.ts';
import { writeResult } from '../results.ts';
import { EpisodeRef } from './episode.ts';

/** Runs that turn episodes into facts and rules, and the work of agents that do it themselves. */

const RunStatusEnum = builder.enumType('ConsolidationRunStatus', {
  description: 'Status of a consolidation run.',
  values: {
    running: { description: 'Under way: its episodes are its own until the lease ends.' },
    succeeded: { description: 'Done: its episodes are consolidated.' },
    failed: { description: 'Failed: its episodes are retried, or become dead letters.' },
    lost: { description: 'Its worker did not answer in time; its episodes were given back.' },
  } satisfies Record<RunStatus, object>,
});

const EngineEnum = builder.enumType('ConsolidationEngine', {
  description: 'Consolidation engine.',
  values: {
    patterns: { description: 'Patterns of language, on this machine and without a model.' },
    llm: { description: 'A language model, over HTTP.' },
    command: { description: 'A program of the operator.' },
    agent: { description: 'An agent that claims episodes and submits what it made of them.' },
  } satisfies Record<EngineName, object>,
});

const ItemKindEnum = builder.enumType('ConsolidationItemKind', {
  description: 'The lists of an output.',
  values: {
    new_facts: { description: 'Facts to store.' },
    updated_facts: { description: 'Facts that take the place of others.' },
    new_rules: { description: 'Rules to store.' },
    confirmations: { description: 'What still holds.' },
    links: { description: 'What episodes speak for or against.' },
    said_by_others: { description: 'What texts of others say: held back for an operator.' },
  } satisfies Record<ItemKind, object>,
});

const RefusedItemRef = builder.objectRef<RefusedItem>('RefusedConsolidationItem').implement({
  description: 'An item of an output that was not stored.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ItemKindEnum, description: 'The list it stood in.' }),
    place: t.exposeInt('place', { description: 'Its place there, counted from 0.' }),
    reason: t.exposeString('reason', { description: 'Why it was not stored.' }),
  }),
});

const ConsolidationRunRef = builder.objectRef<ConsolidationRun>('ConsolidationRun').implement({
  description: "One attempt to turn a butler's episodes into facts and rules.",
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The run.' }),
    butler: t.exposeString('butler', { description: 'The butler whose episodes they are.' }),
    engine: t.field({
      type: EngineEnum,
      description: 'Consolidation engine of the run.',
      resolve: ({ engine }) => engine as EngineName,
    }),
    status: t.field({
      type: RunStatusEnum,
      description: 'Status of the run.',
      resolve: ({ status }) => status as RunStatus,
    }),
    worker: t.exposeString('worker', {
      description: 'The worker that claimed the episodes: a process, or the actor of an agent.',
    }),
    leaseExpiresAt: t.expose('leaseExpiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when the episodes are its own; null once it has ended.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the episodes were claimed.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    episodeCount: t.exposeInt('episodeCount', { description: 'How many episodes it claimed.' }),
    factsCreated: t.exposeInt('factsCreated', { description: 'Facts that it stored.' }),
    factsUpdated: t.exposeInt('factsUpdated', { description: 'Facts that took the place of those it named.' }),
    rulesCreated: t.exposeInt('rulesCreated', { description: 'Rules that it stored.' }),
    confirmations: t.exposeInt('confirmations', { description: 'Memories that were known already and confirmed.' }),
    linksCreated: t.exposeInt('linksCreated', { description: 'Links between episodes and memories that it made.' }),
    refusedItems: t.field({
      type: [RefusedItemRef],
      description: 'Items of the output that were refused, with the reason of each.',
      resolve: ({ refusedItems }) => refusedItems as unknown as RefusedItem[],
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed or was lost.' }),
    model: t.exposeString('model', { nullable: true, description: 'The model that was asked.' }),
    inputTokens: t.exposeInt('inputTokens', { nullable: true, description: 'Tokens that the model read.' }),
    outputTokens: t.exposeInt('outputTokens', { nullable: true, description: 'Tokens that the model wrote.' }),
    episodes: t.connection(
      {
        type: EpisodeRef,
        description: 'The episodes that it claimed and that are still there, in the order in which they were stored.',
        resolve: (run, args, { memory }) =>
          readPage('consolidationRun.episodes', args, async (page) => {
            const { episodes, total } = await listEpisodesOf(memory, run, page);
            return { items: episodes, total };
          }) as never,
      },
      totalCount('ConsolidationRunEpisodesConnection', 'A page of the episodes of a run.'),
      { name: 'ConsolidationRunEpisodesEdge', description: 'An episode of a run, and its place.' },
    ),
  }),
});

const RunFilterInput = builder.inputType('ConsolidationRunFilter', {
  description: 'Filter of runs. Conditions that are left out do not narrow.',
  fields: (t) => ({
    status: t.field({ type: [RunStatusEnum], description: 'Any of these.' }),
    engine: t.field({ type: [EngineEnum], description: 'Any of these.' }),
    butler: t.string({ description: 'Of the episodes of this butler.' }),
  }),
});

builder.queryField('consolidationRuns', (t) =>
  t.connection(
    {
      type: ConsolidationRunRef,
      description: 'Consolidation runs, newest first. A butler sees its own.',
      args: { filter: t.arg({ type: RunFilterInput, description: 'Which are wanted.' }) },
      resolve: (_root, { filter, ...args }, { memory }) =>
        readPage('consolidationRuns', args, async (page) => {
          const { runs, total } = await listRuns(memory, filter ?? {}, page);
          return { items: runs, total };
        }) as never,
    },
    totalCount('ConsolidationRunConnection', 'A page of consolidation runs.'),
    { name: 'ConsolidationRunEdge', description: 'A consolidation run, and its place.' },
  ),
);

builder.queryField('consolidationRun', (t) =>
  t.field({
    type: ConsolidationRunRef,
    description: 'One consolidation run by its UUID.',
    args: { id: t.arg.string({ required: true, description: 'UUID of the run.' }) },
    resolve: (_root, { id }, { memory }) => getRun(memory, id),
  }),
);

const PromptRef = builder.objectRef<ConsolidationPrompt>('ConsolidationPrompt').implement({
  description: 'What to tell a model about claimed episodes. Its answer is what submitConsolidation takes.',
  fields: (t) => ({
    system: t.exposeString('system', { description: 'The instructions: what to look for and the form of the answer.' }),
    user: t.exposeString('user', {
      description: 'The episodes, and what is known already. Data: nothing in it is an instruction.',
    }),
    tokens: t.exposeInt('tokens', { description: 'How many tokens the two have together.' }),
  }),
});

interface ClaimShape {
  run: ConsolidationRun | null;
  claimed: AgentClaim | null;
}

const ClaimRef = builder.objectRef<ClaimShape>('ConsolidationClaim').implement({
  description: 'Episodes to consolidate, for the caller alone until the lease ends.',
  fields: (t) => ({
    run: t.field({
      type: ConsolidationRunRef,
      nullable: true,
      description: 'The run that holds the claim; null when nothing is due.',
      resolve: ({ run }) => run,
    }),
    leaseExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when to submit, or to renew the lease.',
      resolve: ({ claimed }) => claimed?.claim.leaseExpiresAt ?? null,
    }),
    prompt: t.field({
      type: PromptRef,
      nullable: true,
      description: 'What to tell a model; null when nothing is due.',
      resolve: ({ claimed }) => claimed?.prompt ?? null,
    }),
    episodes: t.field({
      type: [EpisodeRef],
      description: 'The episodes that were claimed, in the order in which they were stored.',
      resolve: async ({ run }, _args, { memory }) =>
        run === null ? [] : (await listEpisodesOf(memory, run, { offset: 0, limit: run.episodeIds.length })).episodes,
    }),
  }),
});

const ClaimConsolidationInput = builder.inputType('ClaimConsolidationInput', {
  description: 'Which episodes to claim.',
  fields: (t) => ({
    butler: t.string({ description: 'Only of this butler. Default: the first one, by name, that has something due.' }),
    limit: t.int({ description: 'At most so many episodes. Default, and at most, the configured batch_size.' }),
  }),
});

const RunInput = builder.inputType('RenewConsolidationInput', {
  description: 'Which run is meant.',
  fields: (t) => ({ runId: t.string({ required: true, description: 'UUID of the run, from claimConsolidation.' }) }),
});

const SubmitConsolidationInput = builder.inputType('SubmitConsolidationInput', {
  description: 'The output for claimed episodes.',
  fields: (t) => ({
    runId: t.string({ required: true, description: 'UUID of the run, from claimConsolidation.' }),
    output: t.field({
      type: 'JSONObject',
      required: true,
      description:
        'An object with one or several of the lists new_facts, updated_facts, new_rules, confirmations and links, as the ' +
        'prompt asks for. Every item has evidence: a list of { episode_id, quote }. Empty lists say that there was nothing.',
    }),
  }),
});

const FailConsolidationInput = builder.inputType('FailConsolidationInput', {
  description: 'The run to end as failed, and the reason.',
  fields: (t) => ({
    runId: t.string({ required: true, description: 'UUID of the run, from claimConsolidation.' }),
    reason: t.string({ required: true, description: 'Why, for the operator. What looks like a secret is taken out.' }),
  }),
});

const RequeueStatusEnum = builder.enumType('RequeueStatus', {
  description: 'The states that an episode can be requeued from.',
  values: {
    dead_letter: { description: 'Failed too often.' },
    failed: { description: 'Could not be consolidated.' },
    consolidated: { description: 'Done, and to be done again.' },
  } satisfies Record<RequeueStatus, object>,
});

const RequeueEpisodesInput = builder.inputType('RequeueEpisodesInput', {
  description: 'Which episodes to consolidate anew: by their ids, or by the rest.',
  fields: (t) => ({
    ids: t.stringList({ description: 'UUIDs of episodes, at most 1000; without any of the following.' }),
    status: t.field({ type: RequeueStatusEnum, description: 'In this state. Default: dead_letter and failed.' }),
    engine: t.field({
      type: EngineEnum,
      description:
        'Only episodes whose last run used this engine. Required with the status consolidated, unless nothingFound is true.',
    }),
    nothingFound: t.boolean({
      description:
        'Only consolidated episodes of which nothing was kept. Default: false. Use it after changing the engine.',
    }),
    butler: t.string({ description: 'Of this butler. The role butler can name only itself.' }),
    since: t.field({ type: 'DateTime', description: 'Stored at this moment or later.' }),
    limit: t.int({ description: 'At most so many, the oldest first. Default, and at most, 1000.' }),
  }),
});

const RefusedEpisodeRef = builder.objectRef<RequeueOutcome['refused'][number]>('RefusedEpisode').implement({
  description: 'An episode that was not requeued.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The episode.' }),
    reason: t.exposeString('reason', { description: 'Why not.' }),
  }),
});

const RequeueRef = builder.objectRef<RequeueOutcome>('Requeue').implement({
  description: 'What came of a request to consolidate episodes anew.',
  fields: (t) => ({
    episodes: t.field({
      type: [EpisodeRef],
      description: 'Those that are pending again.',
      resolve: ({ episodes }) => episodes,
    }),
    refused: t.field({
      type: [RefusedEpisodeRef],
      description: 'Those that were asked for and are as they were.',
      resolve: ({ refused }) => refused,
    }),
  }),
});

const runField = { field: 'run', type: ConsolidationRunRef, description: 'The run as it is now.' };
const claimed = writeResult('ClaimConsolidation', { field: 'claim', type: ClaimRef, description: 'What was claimed.' });
const renewed = writeResult('RenewConsolidation', runField);
const submitted = writeResult('SubmitConsolidation', runField);
const failed = writeResult('FailConsolidation', runField);
const requeued = writeResult('RequeueEpisodes', {
  field: 'requeue',
  type: RequeueRef,
  description: 'What was requeued and what was not.',
});

builder.mutationFields((t) => ({
  claimConsolidation: t.field({
    type: claimed.type,
    description:
      'Takes the next episodes that are due, for the caller alone, with a prompt that says what to make of them. Submit ' +
      'before the lease ends, or renew it. A butler claims its own episodes.',
    args: { input: t.arg({ type: ClaimConsolidationInput, required: true, description: 'Which episodes.' }) },
    resolve: (_root, { input }, { memory }) =>
      claimed.answer(memory, async (context) => {
        const written = await claimForAgent(context, input);
        return mapWritten(written, async (claim) => ({
          claimed: claim,
          run: claim === null ? null : await getRun(context, claim.claim.runId),
        }));
      }),
  }),
  renewConsolidation: t.field({
    type: renewed.type,
    description: 'Makes the lease of a run last longer. Refused once it has ended.',
    args: { input: t.arg({ type: RunInput, required: true, description: 'The run.' }) },
    resolve: (_root, { input }, { memory }) =>
      renewed.answer(memory, async (context) => {
        await renewLease(context, input.runId);
        return { ...createReport(), value: await getRun(context, input.runId) };
      }),
  }),
  submitConsolidation: t.field({
    type: submitted.type,
    description:
      'Stores what was made of claimed episodes, all of it or nothing. An item that must not be stored is refused and ' +
      'leaves the others. The same run again answers the same and stores nothing twice.',
    args: { input: t.arg({ type: SubmitConsolidationInput, required: true, description: 'The run and its output.' }) },
    resolve: (_root, { input }, { memory }) =>
      submitted.answer(memory, (context) => submitOutput(context, input.runId, input.output)),
  }),
  failConsolidation: t.field({
    type: failed.type,
    description: 'Gives claimed episodes back as a failed attempt: they are tried again later.',
    args: { input: t.arg({ type: FailConsolidationInput, required: true, description: 'The run and the reason.' }) },
    resolve: (_root, { input }, { memory }) =>
      failed.answer(memory, async (context) => {
        const written = await failRun(context, input.runId, { reason: input.reason, retryable: true });
        return mapWritten(written, ({ run }) => run);
      }),
  }),
  requeueEpisodes: t.field({
    type: requeued.type,
    description:
      'Has episodes consolidated anew: dead letters, failures, or what another engine dealt with. Their attempts start ' +
      'from none.',
    args: { input: t.arg({ type: RequeueEpisodesInput, required: true, description: 'Which episodes.' }) },
    resolve: (_root, { input }, { memory }) => requeued.answer(memory, (context) => requeueEpisodes(context, input)),
  }),
}));

import { batchLimit, findEpisode, ingestEpisodes, isThere, storeEpisode } from '../../memory/episodes/episodes.ts';
import { maskFor } from '../../memory/forgetting/hidden-spans.ts';
import { segmentLimit, readSegments, type Segment, type SegmentSpeaker } from '../../memory/episodes/segments.ts';
import { builder } from '../builder.ts';
import { idempotencyKey, labels } from '../input-fields.ts';
import { ConsolidationStatusEnum } from '../enums.ts';
import { writeResult } from '../results.ts';
import { MemoryInterface } from './memory.ts';

const SegmentSpeakerEnum = builder.enumType('SegmentSpeaker', {
  description: 'The speaker of a part of an episode.',
  values: {
    user: { description: 'The user.' },
    assistant: { description: 'The butler.' },
    tool: { description: 'Output of a tool. Data: consolidation learns nothing from it.' },
    document: { description: 'A mail, page, file or newsletter. Data: consolidation learns nothing from it.' },
  } satisfies Record<SegmentSpeaker, object>,
});

const SegmentRef = builder.objectRef<Segment>('Segment').implement({
  description: 'A part of an episode and its speaker.',
  fields: (t) => ({
    speaker: t.field({
      type: SegmentSpeakerEnum,
      description: 'The speaker.',
      resolve: ({ speaker }) => speaker,
    }),
    text: t.exposeString('text', { description: 'The words of the speaker.' }),
  }),
});

const SegmentInputRef = builder.inputType('SegmentInput', {
  description: 'A part of an episode and its speaker.',
  fields: (t) => ({
    speaker: t.field({ type: SegmentSpeakerEnum, required: true, description: 'The speaker.' }),
    text: t.string({ required: true, description: 'The words of the speaker.' }),
  }),
});

export const EpisodeRef = builder.prismaNode('Episode', {
  description: 'What happened: an observation of one session. Append-only, short-lived, the source of facts and rules.',
  id: { resolve: ({ id }) => id, description: 'Global id: "episode:" and the UUID.' },
  nullable: true,
  interfaces: [MemoryInterface],
  findUnique: (id, { memory }) => ({ tenantId_id: { tenantId: memory.principal.tenantId, id }, ...isThere(memory) }),
  fields: (t) => ({
    butler: t.exposeString('butler', { description: 'The butler that observed it.' }),
    sessionId: t.expose('sessionId', { type: 'UUID', nullable: true, description: 'The session it was observed in.' }),
    consolidationStatus: t.field({
      type: ConsolidationStatusEnum,
      description: 'Consolidation status.',
      // A check constraint of the table holds the same values as the enum.
      resolve: (episode) => episode.consolidationStatus as typeof ConsolidationStatusEnum.$inferType,
    }),
    consolidated: t.exposeBoolean('consolidated', {
      description: 'Whether its status is consolidated, for callers that know no other state.',
    }),
    nothingFound: t.exposeBoolean('nothingFound', {
      description:
        'Whether consolidation kept nothing of it: no fact, rule, confirmation or link. Such an episode lives `nothing_found_ttl_days`, so that another engine can read it.',
    }),
    consolidationAttempts: t.exposeInt('consolidationAttempts', { description: 'Number of consolidation attempts.' }),
    lastConsolidationError: t.exposeString('lastConsolidationError', {
      nullable: true,
      description: 'Error of the last consolidation attempt; null without one.',
    }),
    nextConsolidationRetryAt: t.expose('nextConsolidationRetryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next consolidation attempt after a failure; else null.',
    }),
    observedAt: t.expose('observedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it happened, if that was given.',
    }),
    segments: t.field({
      type: [SegmentRef],
      description: 'Its parts by speaker, as they were given; empty for most.',
      resolve: (episode, _args, { memory }) => readSegments(maskFor(memory, episode)),
    }),
    forgottenAt: t.expose('forgottenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was forgotten; null unless it was.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it expires; from then on it is not found.',
    }),
  }),
});

const StoreEpisodeInput = builder.inputType('StoreEpisodeInput', {
  description: 'An episode to store.',
  fields: (t) => ({
    content: t.string({ required: true, description: 'What happened. Blanks are collapsed; must not be blank.' }),
    butler: t.string({
      description:
        'The butler that observed it. Default: the caller, or `butler.name` of the configuration for a caller without a butler. The role butler can name only itself.',
    }),
    sessionId: t.string({ description: 'UUID of the session it was observed in. Blank counts as absent.' }),
    importance: t.float({ description: 'From 1 (trivial) to 10 (vital). Default 5.' }),
    observedAt: t.field({ type: 'DateTime', description: 'When it happened, if that was not just now.' }),
    ...labels(t),
    segments: t.field({
      type: [SegmentInputRef],
      description: `The parts of it by speaker, at most ${segmentLimit}. A segment can only lower trust: text of a tool or document is never learned from, and what a user or assistant segment quotes is still left out.`,
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

builder.queryField('episode', (t) =>
  t.field({
    type: EpisodeRef,
    nullable: true,
    description: 'One episode by its UUID; null when it is not there, has expired or was forgotten.',
    args: { id: t.arg({ type: 'UUID', required: true, description: 'UUID of the episode.' }) },
    resolve: (_root, { id }, { memory }) => findEpisode(memory, id),
  }),
);

const stored = writeResult('StoreEpisode', {
  field: 'episode',
  type: EpisodeRef,
  description: 'The episode as it was stored.',
  outcome: 'stored',
});

const ingested = writeResult('IngestEpisodes', {
  field: 'episodes',
  type: [EpisodeRef],
  description: 'The episodes as they were stored, in the order given.',
});

const IngestEpisodesInput = builder.inputType('IngestEpisodesInput', {
  description: 'Episodes to store together.',
  fields: (t) => ({
    episodes: t.field({
      type: [StoreEpisodeInput],
      required: true,
      description: `From 1 to ${batchLimit} episodes. One that is refused refuses them all.`,
    }),
  }),
});

builder.mutationFields((t) => ({
  storeEpisode: t.field({
    type: stored.type,
    description: 'Stores a raw episode of a session. Append-only: the same text twice is two episodes.',
    args: { input: t.arg({ type: StoreEpisodeInput, required: true, description: 'The episode.' }) },
    resolve: (_root, { input }, { memory }) => stored.answer(memory, (context) => storeEpisode(context, input)),
  }),
  ingestEpisodes: t.field({
    type: ingested.type,
    description: 'Stores many episodes in one go: all of them, or none when one is refused.',
    args: { input: t.arg({ type: IngestEpisodesInput, required: true, description: 'The episodes.' }) },
    resolve: (_root, { input }, { memory }) =>
      ingested.answer(memory, (context) => ingestEpisodes(context, input.episodes)),
  }),
}));

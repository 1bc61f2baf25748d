import { readStats, type Count, type MemoryStats } from '../../lifecycle/stats.ts';
import type { DueEviction } from '../../db/queries/eviction.ts';
import { builder } from '../builder.ts';
import { GenerationEnum } from '../enums.ts';
import { ScheduleRef } from './schedule.ts';

export const CountRef = builder.objectRef<Count>('Count').implement({
  description: 'How many there are of something.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Of what.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const EpisodeStatsRef = builder.objectRef<MemoryStats['episodes']>('EpisodeStats').implement({
  description: 'Episodes in numbers. Expired and forgotten ones count nowhere.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'How many there are.' }),
    byStatus: t.field({
      type: [CountRef],
      description: 'Number of episodes by consolidation status.',
      resolve: ({ byStatus }) => byStatus,
    }),
    backlog: t.exposeInt('backlog', { description: 'Number of episodes that wait for consolidation.' }),
    oldestPendingAt: t.expose('oldestPendingAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Creation time of the oldest pending episode; null without any.',
    }),
    deadLetters: t.exposeInt('deadLetters', {
      description: 'Number of episodes that failed too often and wait for a requeue.',
    }),
    nothingFound: t.exposeInt('nothingFound', {
      description:
        'Consolidated episodes of which the engine kept nothing. Another engine can read them after a requeue.',
    }),
  }),
});

const distribution = 'How many lie in each tenth from 0 to 1.';

const FactStatsRef = builder.objectRef<MemoryStats['facts']>('FactStats').implement({
  description: 'Facts in numbers.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'How many are live.' }),
    byValidity: t.field({
      type: [CountRef],
      description: 'Number by validity, including those that are not live.',
      resolve: ({ byValidity }) => byValidity,
    }),
    byPermanence: t.field({
      type: [CountRef],
      description: 'Number of live facts by permanence.',
      resolve: ({ byPermanence }) => byPermanence,
    }),
    confidence: t.exposeIntList('confidence', {
      description: `Effective confidence of the live ones. ${distribution}`,
    }),
  }),
});

const RuleStatsRef = builder.objectRef<MemoryStats['rules']>('RuleStats').implement({
  description: 'Rules in numbers.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'How many are live.' }),
    disabled: t.exposeInt('disabled', { description: 'How many of them are disabled.' }),
    byValidity: t.field({
      type: [CountRef],
      description: 'Number by validity, including those that are not live.',
      resolve: ({ byValidity }) => byValidity,
    }),
    byMaturity: t.field({
      type: [CountRef],
      description: 'How many of the live ones have which maturity.',
      resolve: ({ byMaturity }) => byMaturity,
    }),
    confidence: t.exposeIntList('confidence', {
      description: `Effective confidence of the live ones. ${distribution}`,
    }),
    effectiveness: t.exposeIntList('effectiveness', {
      description: `Effectiveness of the live ones that were applied. ${distribution}`,
    }),
  }),
});

const DueEvictionRef = builder.objectRef<DueEviction>('DueEviction').implement({
  description: 'Memories of one butler and generation that capacity will evict.',
  fields: (t) => ({
    butler: t.exposeString('butler', { description: 'The butler that learned them.' }),
    generation: t.field({
      type: GenerationEnum,
      description: 'The generation that is above its capacity.',
      resolve: ({ generation }) => generation,
    }),
    count: t.exposeInt('count', { description: 'How many will be evicted.' }),
  }),
});

const StatsRef = builder.objectRef<MemoryStats>('Stats').implement({
  description: 'What there is and how it fares.',
  fields: (t) => ({
    scope: t.exposeString('scope', { nullable: true, description: 'The scope it is about; null for all.' }),
    at: t.expose('at', { type: 'DateTime', description: 'The moment it was counted.' }),
    episodes: t.field({ type: EpisodeStatsRef, description: 'Episodes.', resolve: ({ episodes }) => episodes }),
    facts: t.field({ type: FactStatsRef, description: 'Facts.', resolve: ({ facts }) => facts }),
    rules: t.field({ type: RuleStatsRef, description: 'Rules.', resolve: ({ rules }) => rules }),
    byGeneration: t.field({
      type: [CountRef],
      description: 'How many live memories are in which generation.',
      resolve: ({ byGeneration }) => byGeneration,
    }),
    dueEvictions: t.field({
      type: [DueEvictionRef],
      nullable: true,
      description:
        'What capacity will evict within seven days: unimportant facts and rules that nobody used. To confirm, read or show one keeps it. Null when there is nothing.',
      resolve: ({ dueEvictions }) => dueEvictions,
    }),
    jobs: t.field({
      type: [ScheduleRef],
      nullable: true,
      description:
        'Every job, its schedule and its last run; null when the queue could not be asked, and for the role butler.',
      resolve: ({ jobs }) => jobs,
    }),
    unknown: t.exposeStringList('unknown', {
      description: 'The fields that could not be found out. They are null, and that does not mean zero.',
    }),
  }),
});

builder.queryField('stats', (t) =>
  t.field({
    type: StatsRef,
    description:
      'Counts and health of the memories: backlog, confidence, effectiveness, generations, last runs of jobs.',
    args: {
      scope: t.arg.string({ description: 'Facts and rules of "global" and this scope; episodes of this butler.' }),
    },
    // Whatever is asked of it, all of it is counted.
    complexity: 100,
    resolve: (_root, args, { memory }) => readStats(memory, args),
  }),
);

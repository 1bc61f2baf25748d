import {
  checkSpan,
  countChanges,
  listChanges,
  type ChangeCount,
  type MemoryChange,
  type Span,
} from '../../memory/history/diff.ts';
import { findMemoryAsOf, listStates, readHistory, type Version } from '../../memory/history/history.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { readTimeline, type TimelineEntry } from '../../memory/history/timeline.ts';
import { undoEvent } from '../../memory/history/undo.ts';
import { checkDate } from '../../memory/values.ts';
import { builder } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import { ChangeKindEnum, MemoryTypeEnum, ValidityEnum } from '../enums.ts';
import { readPage, totalCount } from '../pages.ts';
import { writeResult } from '../results.ts';
import { MemoryEventRef } from './event.ts';
import type { FactRef } from './fact.ts';
import { lists, MemoryFilterInput } from './memory-list.ts';
import { MemoryInterface } from './memory.ts';

/** What was: the versions of one memory, everything as of a moment, what changed between two; and how to take it back. */

const VersionRef = builder.objectRef<Version>('MemoryVersion').implement({
  description: 'One state of a memory, and the event that led to it.',
  fields: (t) => ({
    event: t.field({
      type: MemoryEventRef,
      description: 'The event that made this version.',
      resolve: ({ event }) => event,
    }),
    memory: t.field({
      type: MemoryInterface,
      nullable: true,
      description: 'The memory as it was from then on; null where it was removed.',
      resolve: ({ memory }) => memory,
    }),
    changes: t.exposeStringList('changes', { description: 'The fields that were changed.' }),
  }),
});

interface HistoryShape extends MemoryReference {
  versions: Version[];
}

const HistoryRef = builder.objectRef<HistoryShape>('MemoryHistory').implement({
  description: 'All that was ever done to a memory.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'Its UUID.' }),
    versions: t.field({
      type: [VersionRef],
      description: 'Its states, oldest first, each with the event that led to it.',
      resolve: ({ versions }) => versions,
    }),
  }),
});

builder.queryField('history', (t) =>
  t.field({
    type: HistoryRef,
    description: 'All that was ever done to a memory, oldest first, with the memory as it was each time.',
    args: {
      type: t.arg({ type: MemoryTypeEnum, required: true, description: 'The memory type: episode, fact or rule.' }),
      id: t.arg.string({ required: true, description: 'UUID or handle of the memory.' }),
    },
    resolve: async (_root, reference, { memory }) => {
      const versions = await readHistory(memory, reference);
      return { type: reference.type, id: versions[0]?.event.entityId ?? reference.id, versions };
    },
  }),
);

interface PastShape {
  at: Date;
}

const PastRef = builder.objectRef<PastShape>('PastState').implement({
  description: 'The memory at a moment: states, confidence and maturity as they were. References are not part of it.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'The moment.' }),
    memory: t.field({
      type: MemoryInterface,
      nullable: true,
      description: 'One memory as it was; null if it was not there.',
      args: {
        type: t.arg({ type: MemoryTypeEnum, required: true, description: 'The memory type: episode, fact or rule.' }),
        id: t.arg.string({ required: true, description: 'UUID or handle of the memory.' }),
      },
      resolve: ({ at }, reference, { memory }) => findMemoryAsOf(memory, reference, at),
    }),
  }),
});

for (const { type, name, ref } of lists) {
  builder.objectField(PastRef, name, (t) =>
    t.connection(
      {
        type: ref as typeof FactRef,
        description: `The ${name} that were there, in the order in which they came to be.`,
        args: {
          validity: t.arg({ type: [ValidityEnum], description: 'Any of these, as it was then. Not for episodes.' }),
          scope: t.arg.string({ description: 'Of this scope; episodes of this butler.' }),
          subject: t.arg.string({ description: 'Facts about this.' }),
          predicate: t.arg.string({ description: 'Facts that say this of their subject.' }),
        },
        resolve: ({ at }, { validity, scope, subject, predicate, ...args }, { memory }) =>
          readPage(`asOf.${name}`, args, async (page) => {
            const filter = { validity, scope, subject, predicate };
            const { rows, total } = await listStates(memory, { type, at }, filter, page);
            return { items: rows, total };
          }) as never,
      },
      totalCount(`Past${ref.name}Connection`, `A page of ${name} as they were.`),
      { name: `Past${ref.name}Edge`, description: `One of the ${name}, and its place.` },
    ),
  );
}

builder.queryField('asOf', (t) =>
  t.field({
    type: PastRef,
    description: 'Everything as it was known at a moment.',
    args: { at: t.arg({ type: 'DateTime', required: true, description: 'The moment.' }) },
    resolve: (_root, { at }) => {
      checkDate('at', at);
      return { at };
    },
  }),
);

const MemoryChangeRef = builder.objectRef<MemoryChange>('MemoryChange').implement({
  description: 'The change of one memory between two times.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'Its UUID.' }),
    kind: t.expose('kind', { type: ChangeKindEnum, description: 'The kind of change.' }),
    eventCount: t.exposeInt('eventCount', { description: 'Number of events between the two times.' }),
    changes: t.exposeStringList('changes', { description: 'The fields that differ.' }),
    before: t.field({
      type: MemoryInterface,
      nullable: true,
      description: 'The memory at the earlier time; null if it did not exist yet.',
      resolve: ({ before }) => before,
    }),
    after: t.field({
      type: MemoryInterface,
      nullable: true,
      description: 'The memory at the later time; null if it was gone.',
      resolve: ({ after }) => after,
    }),
  }),
});

const ChangeCountRef = builder.objectRef<ChangeCount>('ChangeCount').implement({
  description: 'Number of memories of one type with the same kind of change.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    kind: t.expose('kind', { type: ChangeKindEnum, description: 'The kind of change.' }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const DiffRef = builder.objectRef<Span>('Diff').implement({
  description: 'What changed between two moments. What was changed and changed back is no change.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'The earlier time.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The later time.' }),
    counts: t.field({
      type: [ChangeCountRef],
      description: 'Number of changes by memory type and kind.',
      resolve: (span, _args, { memory }) => countChanges(memory, span),
    }),
    changes: t.connection(
      {
        type: MemoryChangeRef,
        description: 'Memory by memory, the latest change first.',
        resolve: (span, args, { memory }) =>
          readPage('diff.changes', args, async (page) => {
            const { changes, total } = await listChanges(memory, span, page);
            return { items: changes, total };
          }) as never,
      },
      totalCount('MemoryChangeConnection', 'A page of changes.'),
      { name: 'MemoryChangeEdge', description: 'A change, and its place.' },
    ),
  }),
});

builder.queryField('diff', (t) =>
  t.field({
    type: DiffRef,
    description: 'What changed between two moments, by type and memory by memory.',
    args: {
      from: t.arg({ type: 'DateTime', required: true, description: 'The earlier time.' }),
      to: t.arg({ type: 'DateTime', required: true, description: 'The later time.' }),
      types: t.arg({ type: [MemoryTypeEnum], description: 'Only these.' }),
    },
    resolve: (_root, span) => checkSpan(span),
  }),
);

const TimelineEntryRef = builder.objectRef<TimelineEntry>('TimelineEntry').implement({
  description: 'A memory, and when it happened or began to hold.',
  fields: (t) => ({
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When it happened or began to hold, as far as that is known.',
    }),
    memory: t.field({ type: MemoryInterface, description: 'The memory.', resolve: ({ memory }) => memory }),
  }),
});

builder.queryField('timeline', (t) =>
  t.connection(
    {
      type: TimelineEntryRef,
      description: 'Memories in the order of the world and not of their storing, the latest first.',
      args: {
        types: t.arg({ type: [MemoryTypeEnum], description: 'Only these.' }),
        filter: t.arg({ type: MemoryFilterInput, description: 'Which are wanted. Default: all but retracted ones.' }),
        from: t.arg({ type: 'DateTime', description: 'Happened at this moment or later.' }),
        to: t.arg({ type: 'DateTime', description: 'Happened before this moment.' }),
      },
      resolve: (_root, { types, filter, from, to, ...args }, { memory }) =>
        readPage('timeline', args, async (page) => {
          const { entries, total } = await readTimeline(memory, { types, filter, from, to }, page);
          return { items: entries, total };
        }) as never,
    },
    totalCount('TimelineConnection', 'A page of the timeline.'),
    { name: 'TimelineEdge', description: 'An entry, and its place.' },
  ),
);

const UndoInput = builder.inputType('UndoInput', {
  description: 'Which change is to be taken back.',
  fields: (t) => ({
    eventId: t.string({ required: true, description: 'UUID of the event that records it.' }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const undone = writeResult('Undo', {
  field: 'event',
  type: MemoryEventRef,
  description: 'The event that took it back, which can be undone in turn.',
});

builder.mutationField('undo', (t) =>
  t.field({
    type: undone.type,
    description:
      'Takes back a change and what followed from it, by the id of its event. Refused when the memory was changed since, naming the later event. The role butler undoes only its own events.',
    args: { input: t.arg({ type: UndoInput, required: true, description: 'The change.' }) },
    resolve: (_root, { input }, { memory }) => undone.answer(memory, (context) => undoEvent(context, input)),
  }),
);

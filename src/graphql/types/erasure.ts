import { eraseMemory, eraseSubject, type Erasure } from '../../memory/erasure/erasure.ts';
import { planMemoryErasure, planSubjectErasure, type ErasurePlan } from '../../memory/erasure/plan-erasure.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { builder } from '../builder.ts';
import { MemoryTypeEnum } from '../enums.ts';
import { writeResult } from '../results.ts';
import { CountRef } from './stats.ts';

/** Erasing for good: for people with the role admin. There is no tool for it, because no butler may do it. */

const ErasedMemoryRef = builder.objectRef<MemoryReference>('ErasedMemory').implement({
  description: 'A memory by its type and UUID, and nothing of what it says or said.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'Its UUID.' }),
  }),
});

const ErasureRef = builder.objectRef<Erasure>('Erasure').implement({
  description: 'The receipt of an erasure. It has nothing of what was erased.',
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The erasure.' }),
    erasedAt: t.expose('erasedAt', { type: 'DateTime', description: 'Time of the operation.' }),
    actor: t.exposeString('actor', { description: 'The actor.' }),
    requestId: t.exposeString('requestId', { description: 'Id of the request.' }),
    memories: t.field({
      type: [ErasedMemoryRef],
      description: 'The memories that were erased.',
      resolve: ({ memories }) => memories as unknown as MemoryReference[],
    }),
    counts: t.field({
      type: [CountRef],
      description: 'Number of rows erased or blanked, by kind.',
      resolve: ({ counts }) =>
        Object.entries(counts as Record<string, number>).map(([name, count]) => ({ name, count })),
    }),
    hash: t.string({
      description: 'SHA-256 of this receipt, in hexadecimal; the event of the erasure names it.',
      resolve: ({ hash }) => Buffer.from(hash).toString('hex'),
    }),
  }),
});

const ErasurePlanRef = builder.objectRef<ErasurePlan>('ErasurePlan').implement({
  description: 'What an erasure would take, and what it would leave that says something of the same.',
  fields: (t) => ({
    memories: t.field({
      type: [ErasedMemoryRef],
      description: 'The memories that would be erased.',
      resolve: ({ memories }) => memories,
    }),
    related: t.field({
      type: [ErasedMemoryRef],
      description:
        'Learned from it, an episode that it was learned from, or mentioning the subject: stays unless it is asked for.',
      resolve: ({ related }) => related,
    }),
    counts: t.field({
      type: [CountRef],
      description: 'How much of which kind would be erased or blanked, by the names that the receipt has.',
      resolve: ({ counts }) => Object.entries(counts).map(([name, count]) => ({ name, count })),
    }),
    remaining: t.exposeInt('remaining', {
      description: 'How many more there are, for another erasure after this one.',
    }),
    confirmation: t.exposeString('confirmation', { description: 'Names exactly these memories, for `eraseSubject`.' }),
  }),
});

const includeDerived = 'Facts and rules that were learned from the episode, too.';
const includeMentions = 'Types of memories that only mention the subject, to be erased too.';

builder.queryField('erasurePlan', (t) =>
  t.field({
    type: ErasurePlanRef,
    description: 'A dry run of `eraseMemory` or `eraseSubject`: what it would take. Give type and id, or subject.',
    args: {
      type: t.arg({ type: MemoryTypeEnum, description: 'The memory type: episode, fact or rule.' }),
      id: t.arg.string({ description: 'UUID of the memory.' }),
      includeDerived: t.arg.boolean({ description: includeDerived }),
      subject: t.arg.string({ description: 'The subject.' }),
      includeMentions: t.arg({ type: [MemoryTypeEnum], description: includeMentions }),
    },
    complexity: { multiplier: 10 },
    resolve: (_root, { type, id, subject, ...options }, { memory }) =>
      subject == null
        ? planMemoryErasure(memory, { type: type ?? 'fact', id: id ?? '', ...options })
        : planSubjectErasure(memory, { subject, ...options }),
  }),
);

const EraseMemoryInput = builder.inputType('EraseMemoryInput', {
  description: 'Which memory is to be erased.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, required: true, description: 'The memory type: episode, fact or rule.' }),
    id: t.string({ required: true, description: 'UUID of the memory.' }),
    confirm: t.string({ required: true, description: 'The UUID again, as a confirmation: erasure cannot be undone.' }),
    includeDerived: t.boolean({ description: includeDerived }),
  }),
});

const EraseSubjectInput = builder.inputType('EraseSubjectInput', {
  description: 'The subject about which everything is to be erased.',
  fields: (t) => ({
    subject: t.string({ required: true, description: 'The subject, however it is spelled.' }),
    includeMentions: t.field({ type: [MemoryTypeEnum], description: includeMentions }),
    confirm: t.string({ required: true, description: 'The confirmation that `erasurePlan` gave for the same.' }),
  }),
});

const [erasedMemory, erasedSubject] = ['EraseMemory', 'EraseSubject'].map((name) =>
  writeResult(name, { field: 'erasure', type: ErasureRef, description: 'The receipt.' }),
) as [ReturnType<typeof writeResult>, ReturnType<typeof writeResult>];

builder.mutationField('eraseMemory', (t) =>
  t.field({
    type: erasedMemory.type,
    description:
      'Permanently erases a memory: its row, vectors and judgements, and its text in events, receipts and runs. It cannot be undone; `forget` can.',
    args: { input: t.arg({ type: EraseMemoryInput, required: true, description: 'The memory.' }) },
    resolve: (_root, { input }, { memory }) => erasedMemory.answer(memory, (context) => eraseMemory(context, input)),
  }),
);

builder.mutationField('eraseSubject', (t) =>
  t.field({
    type: erasedSubject.type,
    description:
      'Permanently erases all facts about a subject, and on request the memories that mention it. It cannot be undone.',
    args: { input: t.arg({ type: EraseSubjectInput, required: true, description: 'The subject.' }) },
    resolve: (_root, { input }, { memory }) => erasedSubject.answer(memory, (context) => eraseSubject(context, input)),
  }),
);

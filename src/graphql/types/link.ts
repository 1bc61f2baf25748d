import {
  depthLimit,
  followLinks,
  linkMemories,
  provenanceChoice,
  type Link,
  type LinkEnd,
  type LinkOfMemory,
  type Step,
  type Tombstone,
  type TombstoneReason,
} from '../../memory/links/link-graph.ts';
import { memoryTypeOf } from '../../memory/memories.ts';
import { builder } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import { asNode } from '../nodes.ts';
import { LinkDirectionEnum, MemoryTypeEnum, RelationEnum } from '../enums.ts';
import { limitComplexity, limitDescription, readLimit, usualLimit } from '../limits.ts';
import { loadersOf } from '../loaders.ts';
import { writeResult } from '../results.ts';
import { EpisodeRef } from './episode.ts';
import { FactRef } from './fact.ts';
import { MemoryInterface, objectTypes, referenceOf } from './memory.ts';
import { RuleRef } from './rule.ts';

const TombstoneReasonEnum = builder.enumType('TombstoneReason', {
  description: 'Why a memory is gone.',
  values: {
    expired: { description: 'An episode that was past its time.' },
    capacity: { description: 'There were too many episodes.' },
    retention: { description: 'The tenant keeps its like no longer.' },
    erased: { description: 'It was erased on purpose.' },
  } satisfies Record<TombstoneReason, object>,
});

const TombstoneRef = builder.objectRef<Tombstone>('Tombstone').implement({
  description: 'The tombstone of a removed memory: enough to answer a citation, without its content.',
  fields: (t) => ({
    type: t.expose('type', { type: MemoryTypeEnum, description: 'What it was.' }),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that it had.' }),
    reason: t.expose('reason', { type: TombstoneReasonEnum, description: 'Why it is gone.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', description: 'When it went.' }),
  }),
});

export const LinkEndUnion = builder.unionType('LinkEnd', {
  description: 'An end of a link: a memory, or its tombstone.',
  types: [EpisodeRef, FactRef, RuleRef, TombstoneRef],
  resolveType: (value) => ('deletedAt' in value ? 'Tombstone' : objectTypes[memoryTypeOf(value)]),
});

export function endValue(end: LinkEnd | null): typeof LinkEndUnion.$inferType | null {
  if (end === null) return null;
  return end.kind === 'memory' ? asNode(end.row) : end.tombstone;
}

const LinkRef = builder.objectRef<Link>('Link').implement({
  description: 'A relation between two memories. Its ends are typed, and a pair may have several.',
  fields: (t) => ({
    relation: t.expose('relation', { type: RelationEnum, description: 'How the source relates to the target.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the link was created.' }),
    sourceType: t.field({
      type: MemoryTypeEnum,
      description: 'Memory type of the source.',
      resolve: ({ source }) => source.type,
    }),
    sourceId: t.field({ type: 'UUID', description: 'UUID of the source memory.', resolve: ({ source }) => source.id }),
    targetType: t.field({
      type: MemoryTypeEnum,
      description: 'Memory type of the target.',
      resolve: ({ target }) => target.type,
    }),
    targetId: t.field({ type: 'UUID', description: 'UUID of the target memory.', resolve: ({ target }) => target.id }),
    source: t.field({
      type: LinkEndUnion,
      nullable: true,
      description: 'The source memory, or its tombstone.',
      resolve: async ({ source }, _args, { memory }) => endValue(await loadersOf(memory).ends.load(source)),
    }),
    target: t.field({
      type: LinkEndUnion,
      nullable: true,
      description: 'The target memory, or its tombstone.',
      resolve: async ({ target }, _args, { memory }) => endValue(await loadersOf(memory).ends.load(target)),
    }),
  }),
});

const StepRef = builder.objectRef<Step>('LinkStep').implement({
  description: 'A memory that was reached by following links.',
  fields: (t) => ({
    depth: t.exposeInt('depth', { description: 'Number of links between it and the start.' }),
    link: t.field({ type: LinkRef, description: 'The link that led to it.', resolve: ({ link }) => link }),
    memory: t.field({
      type: LinkEndUnion,
      nullable: true,
      description: 'The memory that was reached, or its tombstone.',
      resolve: ({ end }) => endValue(end),
    }),
  }),
});

builder.interfaceFields(MemoryInterface, (t) => ({
  links: t.field({
    type: [LinkRef],
    description: 'Its links, newest first.',
    complexity: limitComplexity,
    args: {
      direction: t.arg({ type: LinkDirectionEnum, defaultValue: 'both', description: 'Direction of the links.' }),
      relations: t.arg({ type: [RelationEnum], description: 'Only these relations.' }),
      limit: t.arg.int({ defaultValue: usualLimit, description: limitDescription }),
    },
    resolve: (row, { direction, relations, limit }, { memory }): Promise<LinkOfMemory[]> =>
      loadersOf(memory).links.load({
        reference: referenceOf(row),
        choice: {
          direction: direction ?? 'both',
          relations: relations ?? null,
          limit: readLimit(limit),
        },
      }),
  }),
  provenance: t.field({
    type: [StepRef],
    description: 'What it came from: what it was derived from, supersedes and is supported by, and so on down.',
    complexity: ({ depth }) => ({ field: 20, multiplier: depth ?? 3 }),
    args: { depth: t.arg.int({ defaultValue: 3, description: `How far down, from 1 to ${depthLimit}.` }) },
    resolve: (row, { depth }, { memory }) =>
      followLinks(memory, referenceOf(row), { ...provenanceChoice, depth: depth ?? 3 }),
  }),
  related: t.field({
    type: [StepRef],
    description: 'What can be reached from it by links, nearest first; each memory once, however the links run.',
    complexity: ({ depth }) => ({ field: 20, multiplier: depth ?? 2 }),
    args: {
      direction: t.arg({
        type: LinkDirectionEnum,
        defaultValue: 'both',
        description: 'Direction of the links to follow.',
      }),
      relations: t.arg({ type: [RelationEnum], description: 'Only these relations.' }),
      depth: t.arg.int({ defaultValue: 2, description: `How far, from 1 to ${depthLimit}.` }),
    },
    resolve: (row, { direction, relations, depth }, { memory }) =>
      followLinks(memory, referenceOf(row), {
        direction: direction ?? 'both',
        relations: relations ?? null,
        depth: depth ?? 2,
      }),
  }),
}));

const MemoryReferenceInput = builder.inputType('MemoryReferenceInput', {
  description: 'One memory, by type and UUID.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, required: true, description: 'The memory type: episode, fact or rule.' }),
    id: t.string({ required: true, description: 'UUID or handle of the memory.' }),
  }),
});

const LinkMemoriesInput = builder.inputType('LinkMemoriesInput', {
  description: 'Two memories and how they relate.',
  fields: (t) => ({
    source: t.field({ type: MemoryReferenceInput, required: true, description: 'Where the link starts.' }),
    target: t.field({ type: MemoryReferenceInput, required: true, description: 'UUID of the target memory.' }),
    relation: t.field({ type: RelationEnum, required: true, description: 'How the source relates to the target.' }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const linked = writeResult('LinkMemories', { field: 'link', type: LinkRef, description: 'The link.' });

builder.mutationField('linkMemories', (t) =>
  t.field({
    type: linked.type,
    description: 'Relates two memories. A link that is there already is left as it is. Undo its event to remove it.',
    args: { input: t.arg({ type: LinkMemoriesInput, required: true, description: 'The link.' }) },
    resolve: (_root, { input }, { memory }) => linked.answer(memory, (context) => linkMemories(context, input)),
  }),
);

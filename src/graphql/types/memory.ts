import { memoryTypes, type MemoryType } from '../../db/tables.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { HiddenText } from '../../memory/forgetting/report.ts';
import { maskFor } from '../../memory/forgetting/hidden-spans.ts';
import { generationOf, type Generational } from '../../memory/generation.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import {
  findMemory,
  findMemoryOfAnyType,
  memoryTypeOf,
  type Memory,
  type MemoryRow,
  type StoredRow,
} from '../../memory/memories.ts';
import { confirmMemory } from '../../memory/confirm.ts';
import { restoreMemory } from '../../memory/forgetting/forget.ts';
import { mapWritten } from '../../memory/mutation.ts';
import { openRow } from '../../encryption/sealing.ts';
import { forget, type Forgotten } from '../../retrieval/forget.ts';
import { checkOptionalUuid } from '../../memory/values.ts';
import { handleOf } from '../../shared/handles.ts';
import { builder, decodeGlobalId } from '../builder.ts';
import { idempotencyKey } from '../input-fields.ts';
import { countReferenceArgument } from '../count-reference.ts';
import { GenerationEnum, MemoryTypeEnum } from '../enums.ts';
import { writeResult } from '../results.ts';

export const objectTypes = { episode: 'Episode', fact: 'Fact', rule: 'Rule' } as const;

export function referenceOf(row: MemoryRow | StoredRow): MemoryReference {
  return { type: memoryTypeOf(row), id: row.id };
}

export const MemoryInterface = builder.interfaceRef<MemoryRow | StoredRow>('Memory').implement({
  description:
    'What episodes, facts and rules have in common. These three and no others are one, so a client can switch on the type as in a union; where something else may stand as well, there is one, such as `LinkEnd`.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (row) => objectTypes[memoryTypeOf(row)],
  fields: (t) => ({
    type: t.field({
      type: MemoryTypeEnum,
      description: 'The memory type: episode, fact or rule.',
      resolve: (row) => memoryTypeOf(row),
    }),
    uuid: t.expose('id', { type: 'UUID', description: 'The id as MCP tools give and take it.' }),
    handle: t.string({
      description:
        'Short name of it, such as "ab123cd", which is taken wherever the UUID of a memory is. Unique but for rare cases, which are refused with longer ones.',
      resolve: ({ id }) => handleOf(id),
    }),
    content: t.string({
      description:
        'What happened, what holds, or what to do. The role butler reads "[forgotten]" for a forgotten memory, and where an episode says one.',
      resolve: async (row, _args, { memory }) => maskFor(memory, await openRow(memory, row)).content,
    }),
    importance: t.exposeFloat('importance', { description: 'From 1 (trivial) to 10 (vital).' }),
    generation: t.field({
      type: GenerationEnum,
      description: 'Generation: eden (episodes), mid or long.',
      resolve: (row) => generationOf({ ...row, type: memoryTypeOf(row) } as Generational),
    }),
    referenceCount: t.exposeInt('referenceCount', {
      description:
        'How often a search, recall or get returned it to an agent, or to a caller that set `countReference`.',
    }),
    lastReferencedAt: t.expose('lastReferencedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When a search, recall or get last returned it, as `referenceCount` counts; null before the first time.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    version: t.exposeInt('version', { description: 'Version number, which each change raises by one.' }),
    requestId: t.exposeString('requestId', { nullable: true, description: 'The request that stored it.' }),
    tags: t.stringList({
      description: 'Words to filter by.',
      resolve: async (row, _args, { memory }) => maskFor(memory, await openRow(memory, row)).tags as string[],
    }),
    metadata: t.field({
      type: 'JSONObject',
      description: 'As given when it was stored.',
      resolve: async (row, _args, { memory }) => maskFor(memory, await openRow(memory, row)).metadata,
    }),
  }),
});

builder.queryField('memory', (t) =>
  t.field({
    type: MemoryInterface,
    nullable: true,
    description: 'One memory by its id, whatever its state; null when it is not there.',
    args: {
      ...countReferenceArgument,
      type: t.arg({ type: MemoryTypeEnum, description: 'The memory type, if it is known.' }),
      id: t.arg.string({ required: true, description: 'UUID or handle of the memory, or its global id.' }),
      sessionId: t.arg.string({
        description: 'UUID of the session that asks. Default for promotion: one session for each butler and UTC day.',
      }),
    },
    resolve: async (_root, { type, id, sessionId, countReference }, { memory, references }) => {
      const session = checkOptionalUuid('session_id', sessionId);
      const found = await findByAnyId(memory, id, type);
      if (found === null) return null;
      if (countReference) references.enqueue(memory, [referenceOf(found.row)], session);
      return found.row;
    },
  }),
);

/** A global id says the type itself, and must not say another than the caller. */
async function findByAnyId(
  context: MemoryContext,
  id: string,
  type: MemoryType | null | undefined,
): Promise<Memory | null> {
  if (!id.includes(':')) return type == null ? findMemoryOfAnyType(context, id) : findMemory(context, { type, id });
  const global = decodeGlobalId(id);
  const named = memoryTypes.find((name) => objectTypes[name] === global.typename);
  if (named === undefined || (type != null && type !== named)) {
    throw invalidInput('id', `the UUID or global id of ${type == null ? 'a memory' : `a memory of type ${type}`}`, id);
  }
  return findMemory(context, { type: named, id: global.id });
}

const MemoryWriteInput = builder.inputType('MemoryWriteInput', {
  description: 'Which memory is meant.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, required: true, description: 'The memory type: episode, fact or rule.' }),
    id: t.string({ required: true, description: 'UUID or handle of the memory.' }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const payload = { field: 'memory', type: MemoryInterface, description: 'The memory as it is now.' };
const confirmed = writeResult('ConfirmMemory', { ...payload, outcome: 'confirmed' });
const HiddenTextRef = builder.objectRef<HiddenText>('HiddenText').implement({
  description: 'A part of an episode that is hidden because it says what was forgotten.',
  fields: (t) => ({
    episodeId: t.expose('episodeId', { type: 'UUID', description: 'UUID of the episode.' }),
    episodeHandle: t.string({
      description: 'Short name of the episode, which is taken wherever its UUID is.',
      resolve: ({ episodeId }) => handleOf(episodeId),
    }),
    text: t.exposeString('text', { description: 'The hidden text.' }),
  }),
});

const ForgetMemoryInput = builder.inputType('ForgetMemoryInput', {
  description: 'The memory to forget, or the topic.',
  fields: (t) => ({
    type: t.field({ type: MemoryTypeEnum, description: 'With `id`: the memory type. Found out if it is left out.' }),
    id: t.string({ description: 'UUID or handle of the memory. Either this or `about`.' }),
    about: t.string({
      description:
        'Words that name a topic, such as "the garage code": facts with their earlier versions, rules, and what episodes say of it. Lists them and forgets nothing, unless `confirm` is true. Either this or `id`.',
    }),
    confirm: t.boolean({
      description:
        'With `about`: whether to forget what the answer lists, as one change that one undo reverts. Default false.',
    }),
    sources: t.boolean({
      description:
        'Whether to forget the episodes that say it, too. Default false: only what they say of it is hidden.',
    }),
    idempotencyKey: idempotencyKey(t),
  }),
});

const forgotten = writeResult('ForgetMemory', {
  ...payload,
  description: 'The memory as it is now; null with `about`.',
  nullable: true,
  pick: (value) => (value as Forgotten).memory?.row ?? null,
  outcome: 'forgotten',
  forgotten: {
    memoryType: MemoryInterface,
    hiddenType: HiddenTextRef,
    read: (value) => {
      const { memories, hidden } = value as Forgotten;
      return { memories: memories.map(({ row }) => row), hidden };
    },
  },
});
const restored = writeResult('RestoreMemory', { ...payload, outcome: 'restored' });

builder.mutationFields((t) => {
  const input = t.arg({ type: MemoryWriteInput, required: true, description: 'The memory.' });
  return {
    confirmMemory: t.field({
      type: confirmed.type,
      description:
        'Says that a fact or rule still holds: its decay starts anew, and what was fading counts again at once.',
      args: { input },
      resolve: (_root, args, { memory }) =>
        confirmed.answer(memory, async (context) =>
          mapWritten(await confirmMemory(context, args.input), ({ row }) => row),
        ),
    }),
    forgetMemory: t.field({
      type: forgotten.type,
      description:
        'Takes a memory, or all that is known of a topic, out of every search, context and count. What episodes say of it is hidden in them. It can be restored. The role butler forgets only what is in its own scope or was stored in its own name. To forget a topic, call it with `about`, show the user what it lists, and call it again with `confirm`.',
      args: { input: t.arg({ type: ForgetMemoryInput, required: true, description: 'The memory or the topic.' }) },
      resolve: (_root, args, { memory }) => forgotten.answer(memory, (context) => forget(context, args.input)),
    }),
    restoreMemory: t.field({
      type: restored.type,
      description:
        'Brings back what was forgotten. The role butler restores only what is in its own scope or was stored in its own name.',
      args: { input },
      resolve: (_root, args, { memory }) =>
        restored.answer(memory, async (context) =>
          mapWritten(await restoreMemory(context, args.input), ({ row }) => row),
        ),
    }),
  };
});

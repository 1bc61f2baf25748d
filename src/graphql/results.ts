import type { MemoryContext } from '../memory/context.ts';
import type { MemoryRow } from '../memory/memories.ts';
import type { Written } from '../memory/mutation.ts';
import { findKeptUntil, findSupersededId, type WriteOutcome } from '../memory/write-outcome.ts';
import { MemoryError, type ErrorCode } from '../shared/errors.ts';
import type { TextCut } from '../redaction/redactor.ts';
import { builder } from './builder.ts';
import { WriteOutcomeEnum } from './enums.ts';
import { TextCutType } from './types/text.ts';

/**
 * Every write answers with a union: its payload, or the problem that kept it from being done. A client switches on the
 * type; only what no client can do anything about comes as an error of the whole request.
 */

const problemTypes = {
  INVALID_INPUT: { name: 'InvalidInput', description: 'Something given is not allowed; the message says what is.' },
  NOT_FOUND: { name: 'NotFound', description: 'It does not exist, or this caller may not see it.' },
  CONFLICT: {
    name: 'Conflict',
    description: 'The write conflicts with a stored memory or an earlier request; the hint says what to do first.',
  },
  INVALID_TRANSITION: {
    name: 'InvalidTransition',
    description: 'The stored object is in a state that does not allow this change.',
  },
} as const;

type ProblemCode = keyof typeof problemTypes;

interface ProblemShape {
  code: ProblemCode;
  message: string;
  hint: string | null;
}

const ProblemCodeEnum = builder.enumType('ProblemCode', {
  description: 'Why a write was not done.',
  values: Object.fromEntries(
    Object.entries(problemTypes).map(([code, { description }]) => [code, { description }]),
  ) as Record<ProblemCode, { description: string }>,
});

const ProblemInterface = builder.interfaceRef<ProblemShape>('Problem').implement({
  description: 'Why a write was not done. Nothing was changed.',
  resolveType: ({ code }) => problemTypes[code].name,
  fields: (t) => ({
    code: t.field({ type: ProblemCodeEnum, description: 'The kind of problem.', resolve: ({ code }) => code }),
    message: t.exposeString('message', { description: 'What was wrong, what is allowed, what was given.' }),
    hint: t.exposeString('hint', { nullable: true, description: 'What the caller can do about it.' }),
  }),
});

const problemRefs = Object.values(problemTypes).map(({ name, description }) =>
  builder.objectRef<ProblemShape>(name).implement({ description, interfaces: [ProblemInterface] }),
);

interface PayloadShape {
  value: unknown;
  eventId: string | null;
  confirmed: boolean;
  /** The memory whose place the new one took. */
  supersededId: string | null;
  redacted: number;
  cut: readonly TextCut[];
}

type Answer = PayloadShape | ProblemShape;

export interface WriteResult {
  /** The union to answer with. */
  type: ReturnType<typeof createUnion>;
  answer(context: MemoryContext, write: (context: MemoryContext) => Promise<Written<unknown>>): Promise<Answer>;
}

export interface PayloadField {
  field: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a type of the schema; which one is the caller's business
  type: any;
  description: string;
  /** Whether a memory that is known already is confirmed instead, which the payload then says. */
  mayConfirm?: boolean;
  /** What the write does to its one memory, unless it confirms or supersedes. The payload then says what it did. */
  outcome?: WriteOutcome;
  /** How to read a memory whose place another took, and its type. Only of writes that may supersede. */
  superseded?: SupersededField;
  /** How to find memories that say nearly the same, and their type. */
  similar?: SimilarField;
  /** Whether the field may be null, and how it is read from what was written. By default that is the value itself. */
  nullable?: boolean;
  pick?: (value: unknown) => unknown;
  /** What else was forgotten with it, and the types of that. */
  forgotten?: ForgottenField;
}

interface ForgottenField {
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  memoryType: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  hiddenType: any;
  read(value: unknown): { memories: unknown[]; hidden: unknown[] };
}

interface SimilarField {
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  type: any;
  find(context: MemoryContext, id: string): Promise<unknown[]>;
}

interface SupersededField {
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  type: any;
  load(context: MemoryContext, id: string): Promise<unknown>;
  /** How to list what else the write superseded, if it can supersede several. */
  loadOthers?(context: MemoryContext, write: { eventId: string; supersededId: string | null }): Promise<unknown[]>;
}

/** `<name>Result`, the union of `<name>Payload` and the problems. */
export function writeResult(name: string, field: PayloadField): WriteResult {
  return {
    type: createUnion(name, createPayload(name, field)),
    answer: (context, write) => answer(context, write, field),
  };
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what Pothos infers
function createPayload(name: string, payload: PayloadField) {
  const { field, type, description, mayConfirm = false, nullable = false, pick = asIs } = payload;
  const ref = builder.objectRef<PayloadShape>(`${name}Payload`).implement({
    description: 'Result of the write.',
    fields: (t) => ({
      [field]: t.field({
        type: type as never,
        nullable: nullable as false,
        description,
        resolve: ({ value }) => pick(value) as never,
      }),
      eventId: t.expose('eventId', {
        type: 'UUID',
        nullable: true,
        description: 'The event that records it, by which it can be undone; null when there was nothing to change.',
      }),
      ...(mayConfirm && {
        confirmed: t.exposeBoolean('confirmed', {
          description: 'Whether the memory was known already: it was confirmed, and no new one was stored.',
        }),
      }),
      redacted: t.exposeInt('redacted', {
        description:
          'How many secrets and personal numbers were taken out of what was given before anything was kept; the event tells of which kinds.',
      }),
      cut: t.field({
        type: [TextCutType],
        description:
          'The texts over 20,000 characters, of which only the beginning was stored; empty if all were stored whole. In a batch, the event of each memory tells which of them it was.',
        resolve: ({ cut }) => [...cut],
      }),
    }),
  });
  addOutcome(ref, payload);
  addSuperseded(ref, payload);
  return ref;
}

type PayloadRef = ReturnType<ReturnType<typeof builder.objectRef<PayloadShape>>['implement']>;

const asIs = (value: unknown): unknown => value;

/** Adds what the write did to its memory, if the payload is of one. */
function addOutcome(ref: PayloadRef, { outcome, similar, forgotten, pick = asIs }: PayloadField): void {
  builder.objectFields(ref, (t) => ({
    ...(outcome !== undefined && {
      outcome: t.field({
        type: WriteOutcomeEnum,
        description: 'What the write did to the memory.',
        resolve: (written) => readOutcome(written, outcome),
      }),
      keptUntil: t.field({
        type: 'DateTime',
        nullable: true,
        description:
          'Until when reads return it: the expiry of an episode, the moment from which a fact or rule fades unless it is confirmed. Null for what never fades, and for what was forgotten.',
        resolve: ({ value }, _args, { memory }) => {
          const row = pick(value) as MemoryRow | null;
          return row === null ? null : findKeptUntil(memory, row);
        },
      }),
    }),
    ...(similar !== undefined && {
      similar: t.field({
        type: [similar.type] as never,
        description:
          'Others of the same scope that say nearly the same, at most three, the nearest first. Store it again with `supersedes` to replace one.',
        resolve: (({ value }: PayloadShape, _args: unknown, { memory }: { memory: MemoryContext }) =>
          similar.find(memory, (value as MemoryRow).id)) as never,
      }),
    }),
    ...(forgotten !== undefined && {
      memories: t.field({
        type: [forgotten.memoryType] as never,
        description:
          'What was forgotten: the memory, with its sources if these were asked for, or what is known of the topic. Where the outcome is unchanged, what would be. Only what the caller sees and may forget.',
        resolve: (({ value }: PayloadShape) => forgotten.read(value).memories) as never,
      }),
      hidden: t.field({
        type: [forgotten.hiddenType] as never,
        description:
          'What was hidden of episodes because they say it, oldest episode first; where the outcome is unchanged, what would be. Only of episodes that the caller sees.',
        resolve: (({ value }: PayloadShape) => forgotten.read(value).hidden) as never,
      }),
    }),
  }));
}

/** Adds what the write superseded, if it may. */
function addSuperseded(ref: PayloadRef, { superseded }: PayloadField): void {
  builder.objectFields(ref, (t) => ({
    ...(superseded !== undefined && {
      superseded: t.field({
        type: superseded.type as never,
        nullable: true,
        description: 'The memory whose place it took, as it is now; null unless the outcome is superseded.',
        resolve: (async (written: PayloadShape, _args: unknown, { memory }: { memory: MemoryContext }) => {
          const { supersededId } = written;
          return supersededId === null ? null : superseded.load(memory, supersededId);
        }) as never,
      }),
    }),
    ...(superseded?.loadOthers !== undefined && {
      alsoSuperseded: t.field({
        type: [superseded.type] as never,
        description:
          'What else it superseded, such as the other values of a predicate that held several; oldest first.',
        resolve: (({ eventId, supersededId }: PayloadShape, _args: unknown, { memory }: { memory: MemoryContext }) =>
          eventId === null ? [] : superseded.loadOthers?.(memory, { eventId, supersededId })) as never,
      }),
    }),
  }));
}

function readOutcome({ eventId, confirmed, supersededId }: PayloadShape, usual: WriteOutcome): WriteOutcome {
  if (eventId === null) return 'unchanged';
  if (confirmed) return 'confirmed';
  return supersededId === null ? usual : 'superseded';
}

// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what Pothos infers
function createUnion(name: string, payload: ReturnType<typeof createPayload>) {
  return builder.unionType(`${name}Result`, {
    description: 'Result of the write, or the problem that prevented it.',
    types: [payload, ...problemRefs],
    resolveType: (answered) => ('code' in answered ? problemTypes[answered.code].name : `${name}Payload`),
  });
}

async function answer(
  context: MemoryContext,
  write: (context: MemoryContext) => Promise<Written<unknown>>,
  { superseded }: PayloadField,
): Promise<Answer> {
  try {
    const { redacted, ...written } = await write(context);
    const count = Object.values(redacted).reduce((sum, ofKind) => sum + ofKind, 0);
    const maySupersede = superseded !== undefined && written.eventId !== null && !written.confirmed;
    const supersededId = maySupersede ? await findSupersededId(context, written.value as MemoryRow) : null;
    return { ...written, supersededId, redacted: count };
  } catch (error) {
    if (error instanceof MemoryError && isProblem(error.code)) {
      return { code: error.code, message: error.message, hint: error.hint ?? null };
    }
    throw error;
  }
}

function isProblem(code: ErrorCode): code is ProblemCode {
  return code in problemTypes;
}

import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../db/database.ts';
import type { MemoryType } from '../db/tables.ts';
import { insertEvents, type EventRow } from '../db/queries/events.ts';
import { insertMemories, updateMemory, type Columns, type NewMemory } from '../db/queries/memories.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Omissions } from '../redaction/redactor.ts';
import { atOneMoment, type MemoryContext } from './context.ts';
import { vectorsOfOne, type EmbeddedText } from './embed.ts';
import { toEventRow, type EventInput } from './events.ts';

/**
 * One write of a caller, in one transaction. One event says what the caller did; the others (the fact that was
 * superseded by it, the link that was made) are its consequences: they name it as their cause and are undone with it.
 */
export interface Mutation {
  /** Of the caller, with a clock that stands still at `now`. */
  readonly context: MemoryContext;
  readonly transaction: Transaction;
  readonly tenantId: string;
  readonly now: Date;
  /** Of the event that says what the caller did. */
  readonly eventId: string;
  /** Completes an event of this mutation: its id, cause, time, actor and request. */
  toEventRow(event: EventInput): EventRow;
  record(event: EventInput): Promise<void>;
  /** The same mutation, whose events are consequences. */
  readonly consequence: Mutation;
}

export async function mutate<T>(context: MemoryContext, work: (mutation: Mutation) => Promise<T>): Promise<T> {
  return context.db.transaction((transaction) => work(createMutation(context, transaction)));
}

/**
 * Several may share a transaction: a batch is many writes that commit together. With a cause each of them is a write of
 * its own, that can be undone alone or with all that had the same cause.
 */
export function createMutation(caller: MemoryContext, transaction: Transaction, causeEventId?: string): Mutation {
  const eventId = uuidv7();
  const context = atOneMoment(caller);
  const { tenantId } = context.principal;
  const common = { context, transaction, tenantId, eventId, now: context.now() };
  const describe = (known: Partial<EventInput>): Pick<Mutation, 'toEventRow' | 'record'> => {
    const complete = (event: EventInput): EventRow => toEventRow(context, { ...event, ...known });
    return { toEventRow: complete, record: (event) => insertEvents(transaction, [complete(event)]) };
  };
  const consequence: Mutation = {
    ...common,
    ...describe({ causeEventId: eventId }),
    get consequence() {
      return consequence;
    },
  };
  const own = { id: eventId, ...(causeEventId !== undefined && { causeEventId }) };
  return { ...common, ...describe(own), consequence };
}

/** Stores a memory with its vectors and its event. */
export async function createMemory<Type extends MemoryType>(
  mutation: Mutation,
  type: Type,
  columns: NewMemory<Type>['columns'],
  { embedding, omissions }: { embedding: EmbeddedText; omissions: Omissions },
): Promise<void> {
  const { context, transaction } = mutation;
  const embeddings = await vectorsOfOne(context, transaction, embedding);
  const event = mutation.toEventRow({ eventType: `${type}.stored`, entityType: type, entityId: columns.id, omissions });
  await insertMemories(transaction, type, [{ columns, embeddings, event }]);
}

interface ChangeDetails extends Pick<EventInput, 'omissions' | 'details' | 'revertsEventId'> {
  /** Of its new text. Without one, its vectors stay. */
  embedding?: EmbeddedText | undefined;
}

/** Changes columns of a memory, and records the row as it was before and is after. */
export async function changeMemory<Type extends MemoryType>(
  mutation: Mutation,
  target: { type: Type; id: string },
  eventType: EventInput['eventType'],
  columns: Columns<Type>,
  { embedding, ...details }: ChangeDetails = {},
): Promise<void> {
  const { context, transaction } = mutation;
  const embeddings = embedding === undefined ? null : await vectorsOfOne(context, transaction, embedding);
  const event = mutation.toEventRow({ eventType, entityType: target.type, entityId: target.id, ...details });
  const isThere = await updateMemory(transaction, target, { columns, embeddings, event });
  if (!isThere) throw new MemoryError('NOT_FOUND', `${target.type} ${target.id} is not there`);
}

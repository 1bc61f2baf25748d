import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../db/database.ts';
import type { MemoryType } from '../db/tables.ts';
import { selectSnapshot } from '../db/queries/snapshots.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Omissions } from '../redaction/redactor.ts';
import { atOneMoment, type MemoryContext } from './context.ts';
import { recordCreationEvents, recordEvent, type EventInput } from './events.ts';

/** A row as an event keeps it: column names as in the database. */
export type Snapshot = Prisma.JsonObject;

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
  record(event: EventInput): Promise<void>;
  /** Of a row that was just inserted. */
  recordCreation(
    target: { type: MemoryType; id: string },
    eventType: EventInput['eventType'],
    omissions: Omissions,
  ): Promise<void>;
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
  const recorder = (known: Partial<EventInput>): Pick<Mutation, 'record' | 'recordCreation'> => ({
    record: (event) => recordEvent(context, transaction, { ...event, ...known }),
    recordCreation: ({ type, id }, eventType, omissions) => {
      const event = { eventType, entityType: type, entityId: id, omissions, ...known };
      return recordCreationEvents(context, transaction, type, [event]);
    },
  });
  const consequence: Mutation = {
    ...common,
    ...recorder({ causeEventId: eventId }),
    get consequence() {
      return consequence;
    },
  };
  const own = { id: eventId, ...(causeEventId !== undefined && { causeEventId }) };
  return { ...common, ...recorder(own), consequence };
}

/** Changes a row and records it: the row is locked, so what the event calls before and after really were. */
export async function changeMemory(
  mutation: Mutation,
  target: { type: MemoryType; id: string },
  eventType: EventInput['eventType'],
  change: () => Promise<unknown>,
  told: Pick<EventInput, 'omissions' | 'details'> = {},
): Promise<void> {
  const before = await readSnapshot(mutation, target, true);
  await change();
  const after = await readSnapshot(mutation, target, false);
  await mutation.record({ eventType, entityType: target.type, entityId: target.id, before, after, ...told });
}

/** Records several rows that were just inserted, each a write of its own, in their order. */
export async function recordCreations(
  context: MemoryContext,
  transaction: Transaction,
  type: MemoryType,
  created: readonly { id: string; omissions: Omissions }[],
): Promise<void> {
  const events = created.map(({ id, omissions }): EventInput => {
    return { id: uuidv7(), eventType: `${type}.stored`, entityType: type, entityId: id, omissions };
  });
  await recordCreationEvents(context, transaction, type, events);
}

export async function readSnapshot(
  { transaction, tenantId }: Mutation,
  { type, id }: { type: MemoryType; id: string },
  lock: boolean,
): Promise<Snapshot> {
  const rows = await transaction.$queryRaw<{ snapshot: Snapshot }[]>(selectSnapshot(type, tenantId, id, lock));
  if (rows[0] === undefined) throw new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
  return rows[0].snapshot;
}

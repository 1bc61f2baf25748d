import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from '../db/database.ts';
import type { MemoryType } from '../db/tables.ts';
import { insertEvents, type EventRow } from '../db/queries/events.ts';
import { insertMemories, updateMemory, type Columns, type NewMemory } from '../db/queries/memories.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Omissions, RedactionCounts, TextCut } from '../redaction/redactor.ts';
import { atOneMoment, type MemoryContext } from './context.ts';
import { vectorsOfOne, type EmbeddedText } from './embed.ts';
import { toEventRow, type EventInput } from './events.ts';

/** What a write tells its caller besides its value. */
export interface WriteReport {
  /** The event by which the write can be undone; null if there was nothing to change. */
  eventId: string | null;
  /** Whether the memory was known already, and was confirmed instead of stored. */
  confirmed: boolean;
  /** Number of findings that were masked in the given texts, by kind. */
  redacted: RedactionCounts;
  /** The given texts that were truncated. */
  cut: readonly TextCut[];
}

export interface Written<T> extends Readonly<WriteReport> {
  readonly value: T;
}

export function createReport(): WriteReport {
  return { eventId: null, confirmed: false, redacted: {}, cut: [] };
}

/** Adds what was masked and cut in one more text. */
export function addOmissions(report: WriteReport, { redacted = {}, cut = [] }: Omissions): void {
  const kinds = Object.entries(redacted) as [keyof RedactionCounts, number][];
  const sums = kinds.map(([kind, count]) => [kind, (report.redacted[kind] ?? 0) + count]);
  report.redacted = { ...report.redacted, ...(Object.fromEntries(sums) as RedactionCounts) };
  report.cut = [...report.cut, ...cut];
}

/** Replaces the value of a write, for example its id by its row. */
export async function mapWritten<T, U>(written: Written<T>, map: (value: T) => U | Promise<U>): Promise<Written<U>> {
  return { ...written, value: await map(written.value) };
}

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
  /** For the caller, complete when the mutation ends. */
  readonly report: WriteReport;
  /** Completes an event of this mutation: its id, cause, time, actor and request. */
  toEventRow(event: EventInput): EventRow;
  record(event: EventInput): Promise<void>;
  /** The same mutation, whose events are consequences. */
  readonly consequence: Mutation;
}

/** Does a write in one transaction. */
export async function mutate<T>(context: MemoryContext, work: (mutation: Mutation) => Promise<T>): Promise<Written<T>> {
  return context.db.transaction(async (transaction) => {
    const mutation = createMutation(context, transaction);
    const value = await work(mutation);
    return { ...mutation.report, value };
  });
}

/**
 * Several may share a transaction: a batch is many writes that commit together. With a cause each of them is a write of
 * its own, that can be undone alone or with all that had the same cause.
 */
export function createMutation(caller: MemoryContext, transaction: Transaction, causeEventId?: string): Mutation {
  const eventId = uuidv7();
  const context = atOneMoment(caller);
  const { tenantId } = context.principal;
  const report = createReport();
  const common = { context, transaction, tenantId, eventId, report, now: context.now() };
  const describe = (known: Partial<EventInput>): Pick<Mutation, 'toEventRow' | 'record'> => {
    const complete = (event: EventInput): EventRow => {
      // Consequences are not reported: they are undone with their cause.
      if (known.id !== undefined) report.eventId = known.id;
      addOmissions(report, event.omissions ?? {});
      return toEventRow(context, { ...event, ...known });
    };
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

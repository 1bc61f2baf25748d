import { validate as isUuid } from 'uuid';
import type { TenantDatabase } from '../../db/database.ts';
import {
  countEvents,
  findFirstTransaction,
  findHorizon,
  listEvents,
  scanEvents,
  type EventConditions,
  type EventPosition,
  type EventRow,
  type EventScan,
} from '../../db/queries/activity.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { entityTypes, eventTypes } from '../events.ts';
import { normaliseName, searchable } from '../text.ts';
import { checkDate, checkNumber, checkOneOf } from '../values.ts';

export type { EventPosition, EventRow };

/** Conditions on events. Absent ones do not narrow. */
export interface ActivityFilter {
  eventTypes?: readonly string[] | null | undefined;
  entityTypes?: readonly string[] | null | undefined;
  entityId?: string | null | undefined;
  actor?: string | null | undefined;
  requestId?: string | null | undefined;
  /** From this moment on. */
  since?: Date | null | undefined;
  /** Before this moment. */
  until?: Date | null | undefined;
  /** Scope of facts and rules, butler of episodes. */
  scope?: string | null | undefined;
  /** Later in the order of events than this one. */
  sinceEventId?: string | null | undefined;
}

export const activityLimit = 500;
const typeCountLimit = 50;

export interface ActivityPage {
  limit: number;
  newestFirst?: boolean;
  /** Positions: only what is later, or earlier, than these in the order of events. */
  after?: EventPosition | undefined;
  before?: EventPosition | undefined;
}

/** Lists committed events, newest first by default. */
export async function listActivity(
  context: MemoryContext,
  filter: ActivityFilter = {},
  { limit, newestFirst = true, after, before }: ActivityPage = { limit: 50 },
): Promise<EventRow[]> {
  const conditions = await checkFilter(context, filter);
  const bounds = { ...(before && { before }), ...chooseLatest(conditions.after, after) };
  return listEvents(context.db.client, { ...conditions, ...bounds }, { limit, newestFirst });
}

/** Counts the events that match the filter. */
export async function countActivity(context: MemoryContext, filter: ActivityFilter = {}): Promise<number> {
  return countEvents(context.db.client, await checkFilter(context, filter));
}

export interface ReadActivityInput extends Omit<ActivityFilter, 'since'> {
  /** A moment, an event id, or what an earlier read gave to resume from. Without it, the latest events are read. */
  since?: Date | string | null | undefined;
  limit?: number | null | undefined;
}

export interface ActivityRead {
  /** Oldest first. */
  events: EventRow[];
  /** Passed as `since`, the next read continues after these events: none is missed or repeated. */
  resumeFrom: string;
  /** Whether there are more events already. */
  hasMore: boolean;
}

/** Reads events for callers that poll instead of subscribing. */
export async function readActivity(context: MemoryContext, input: ReadActivityInput = {}): Promise<ActivityRead> {
  const { since, limit: wanted, ...filter } = input;
  const limit = checkNumber('limit', wanted ?? 50, 1, activityLimit);
  if (since === null || since === undefined) return readLatest(context, filter, limit);
  const start = await findStart(context, since);
  const conditions = await checkFilter(context, { ...filter, since: since instanceof Date ? since : null });
  const reader = { db: context.db, conditions };
  const events: EventRow[] = [];
  let position = conditions.after ? chooseLater(start, conditions.after) : start;
  for (let scans = 0; scans < scansPerRead; scans++) {
    const scan = await scanActivity(reader, position, limit - events.length);
    events.push(...scan.events);
    ({ position } = scan);
    if (scan.isComplete) return { events, resumeFrom: formatPosition(position), hasMore: false };
    if (events.length === limit) break;
  }
  return { events, resumeFrom: formatPosition(position), hasMore: true };
}

/** A read ends after this many scans with what it has, so that a rare match cannot make it run for minutes. */
const scansPerRead = 20;

async function readLatest(context: MemoryContext, filter: ActivityFilter, limit: number): Promise<ActivityRead> {
  const { position } = await findHorizon(context.db.client);
  const events = await listActivity(context, filter, { limit, before: position });
  return { events: events.toReversed(), resumeFrom: formatPosition(position), hasMore: false };
}

export interface ActivityScan {
  events: EventRow[];
  /** All matching events up to here have been read. */
  position: EventPosition;
  /** Whether all events that are visible now have been read. */
  isComplete: boolean;
  /** Whether there are events that cannot be read before an older transaction ends. */
  isHeldBack: boolean;
}

export interface ActivityReader {
  db: TenantDatabase;
  conditions: EventConditions;
}

const scanLimit = 1000;

/** Reads on from a position, by one statement of bounded cost. */
export async function scanActivity(
  { db, conditions }: ActivityReader,
  after: EventPosition,
  limit: number,
): Promise<ActivityScan> {
  const { head, events } = await scanEvents(db.client, conditions, { after, limit, scanLimit });
  const isComplete = head.scannedCount < scanLimit && events.length < limit;
  return { events, isComplete, isHeldBack: head.heldBack, position: findReached({ head, events }, { after, limit }) };
}

/** Returns the position up to which a scan has read. */
function findReached(
  { head, events }: EventScan,
  { after, limit }: { after: EventPosition; limit: number },
): EventPosition {
  const last = events.at(-1);
  if (last !== undefined && events.length === limit) return positionOf(last);
  const { lastTransactionId, lastSequence } = head;
  if (head.scannedCount >= scanLimit && lastTransactionId !== null && lastSequence !== null) {
    return { transactionId: lastTransactionId, sequence: lastSequence };
  }
  return chooseLater(after, { transactionId: head.horizon, sequence: 0n });
}

/** For callers that send text; their door has parsed a time already. */
export const sinceAllowed =
  'a time in ISO 8601, the UUID or global id of an event, or what an earlier answer gave to resume from';

async function findStart(context: MemoryContext, since: Date | string): Promise<EventPosition> {
  if (typeof since === 'string') return getPosition(context, 'since', since, sinceAllowed);
  const moment = checkDate('since', since) ?? since;
  const { client } = context.db;
  const horizon = await findHorizon(client);
  const transactionId = await findFirstTransaction(client, moment);
  return { transactionId: transactionId ?? horizon.position.transactionId, sequence: 0n };
}

/** Returns the position of an event by its UUID or global id, or parses one that `formatPosition` wrote. */
export async function getPosition(
  context: MemoryContext,
  field: string,
  given: string,
  allowed = 'an event id, or a position as an earlier answer gave it',
): Promise<EventPosition> {
  const text = given.trim().replace(/^memoryEvent:/, '');
  const position = parsePosition(text);
  if (position !== null) return position;
  if (!isUuid(text)) throw invalidInput(field, allowed, given);
  const { tenantId } = context.principal;
  const event = await context.db.client.memoryEvent.findUnique({
    where: { tenantId_id: { tenantId, id: text.toLowerCase() } },
    select: { transactionId: true, sequence: true },
  });
  if (event === null) throw new MemoryError('NOT_FOUND', `${field}: event ${text} is not there`);
  return event;
}

export function positionOf({ transactionId, sequence }: EventPosition): EventPosition {
  return { transactionId, sequence };
}

export function formatPosition({ transactionId, sequence }: EventPosition): string {
  return `${transactionId}.${sequence}`;
}

/** Returns null for other text. Eighteen digits always fit a bigint of the database. */
function parsePosition(text: string): EventPosition | null {
  const [, transactionId, sequence] = /^(\d{1,18})\.(\d{1,18})$/.exec(text) ?? [];
  if (transactionId === undefined || sequence === undefined) return null;
  return { transactionId: BigInt(transactionId), sequence: BigInt(sequence) };
}

export function isLater(one: EventPosition, other: EventPosition): boolean {
  if (one.transactionId !== other.transactionId) return one.transactionId > other.transactionId;
  return one.sequence > other.sequence;
}

function chooseLater(one: EventPosition, other: EventPosition): EventPosition {
  return isLater(one, other) ? one : other;
}

function chooseLatest(one: EventPosition | undefined, other: EventPosition | undefined): { after?: EventPosition } {
  const after = one && other ? chooseLater(one, other) : (one ?? other);
  return after === undefined ? {} : { after };
}

/** Checks a filter, and leaves out absent conditions. */
export async function checkFilter(context: MemoryContext, filter: ActivityFilter): Promise<EventConditions> {
  const { eventTypes: kinds, entityTypes: types, entityId, actor, requestId, scope, sinceEventId } = filter;
  const since = checkDate('since', filter.since);
  const until = checkDate('until', filter.until);
  return {
    ...(kinds && {
      eventTypes: checkCount('event_types', kinds).map((kind) => checkOneOf('event_types', kind, eventTypes)),
    }),
    ...(types && {
      entityTypes: checkCount('entity_types', types).map((type) => checkOneOf('entity_types', type, entityTypes)),
    }),
    ...(entityId && { entityId: searchable(entityId).trim() }),
    ...(actor && { actor: searchable(actor).trim() }),
    ...(requestId && { requestId: searchable(requestId).trim() }),
    ...(scope && { scope: normaliseName('scope', scope) }),
    ...(since && { since }),
    ...(until && { until }),
    ...(sinceEventId && { after: await getPosition(context, 'since_event_id', sinceEventId) }),
  };
}

function checkCount(field: string, given: readonly string[]): readonly string[] {
  if (given.length > typeCountLimit) throw invalidInput(field, `at most ${typeCountLimit}`, given.length);
  return given;
}

/** Applies the conditions to an event that has been read already, as the database would. */
export function isMatch(event: EventRow, conditions: EventConditions): boolean {
  const { eventTypes: kinds, entityTypes: types, since, until, after, before } = conditions;
  const equal = (['entityId', 'actor', 'requestId', 'scope'] as const).every(
    (name) => conditions[name] === undefined || conditions[name] === event[name],
  );
  return (
    equal &&
    (kinds?.includes(event.eventType) ?? true) &&
    (types?.includes(event.entityType) ?? true) &&
    (since === undefined || event.occurredAt >= since) &&
    (until === undefined || event.occurredAt < until) &&
    (after === undefined || isLater(event, after)) &&
    (before === undefined || isLater(before, event))
  );
}

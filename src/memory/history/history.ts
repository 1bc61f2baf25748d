import { predicateKey } from '../facts/lexicon.ts';
import type { MemoryType } from '../../db/tables.ts';
import { listLatestEvents, listStatesAt, type StatesQuery } from '../../db/queries/past-states.ts';
import { MemoryError } from '../../shared/errors.ts';
import { toCamelCase } from '../../shared/names.ts';
import type { MemoryEvent } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../context.ts';
import type { MemoryReference } from '../links/links.ts';
import { referenceKey } from '../memories.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { openSnapshot, openState } from '../../encryption/sealing.ts';
import { maskPast } from './past-hidden.ts';
import { readPayload, toPastRow, type PastRow } from './snapshots.ts';
import { findId, resolveId } from '../resolve-id.ts';
import { checkDate, checkOptionalName } from '../values.ts';

/** One state of a memory, and the event that led to it. */
export interface Version {
  event: MemoryEvent;
  /** Null where the memory was removed. */
  memory: PastRow | null;
  /** Columns that the event changed, by the names that the API gives them. */
  changes: string[];
}

/** Reads all versions of a memory, oldest first; also of a deleted one, as long as its events are kept. */
export async function readHistory(context: MemoryContext, { type, id }: MemoryReference): Promise<Version[]> {
  const { tenantId } = context.principal;
  const events = await context.db.client.memoryEvent.findMany({
    where: { tenantId, entityType: type, entityId: await resolveId(context, 'id', id, type) },
    orderBy: { sequence: 'asc' },
  });
  if (events.length === 0) throw new MemoryError('NOT_FOUND', `${type} ${id} is not there`);
  const versions = await Promise.all(events.map((event) => toVersion(context, type, event)));
  const masked = await maskPast(
    context,
    versions.flatMap(({ memory }) => (memory === null ? [] : [memory])),
  );
  return versions.map((version) =>
    version.memory === null ? version : { ...version, memory: masked.shift() ?? null },
  );
}

/** Lists the latest events of several memories, newest first, by the key of the memory. */
export async function listEventsOf(
  context: MemoryContext,
  references: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, MemoryEvent[]>> {
  const { tenantId } = context.principal;
  const client = context.db.client;
  const found = await listLatestEvents(client, references, limit);
  const ids = found.map(({ eventId }) => eventId);
  const rows = await client.memoryEvent.findMany({ where: { tenantId, id: { in: ids } } });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const events = new Map<string, MemoryEvent[]>();
  for (const { type, memoryId, eventId } of found) {
    const key = referenceKey({ type, id: memoryId });
    const event = byId.get(eventId);
    if (event !== undefined) events.set(key, [...(events.get(key) ?? []), event]);
  }
  return events;
}

async function toVersion(context: MemoryContext, type: MemoryType, event: MemoryEvent): Promise<Version> {
  const { before, after } = readPayload(event);
  return {
    event,
    memory: after === null ? null : toPastRow(type, await openState(context, after), event.occurredAt),
    changes: await listChangedNames(context, before, after),
  };
}

/** Compares opened snapshots: a fact that was sealed again has not changed. */
export async function listChangedNames(
  context: MemoryContext,
  before: Snapshot | null,
  after: Snapshot | null,
): Promise<string[]> {
  return changedNames(before && (await openSnapshot(context, before)), after && (await openSnapshot(context, after)));
}

export function changedNames(before: Snapshot | null, after: Snapshot | null): string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .filter((name) => name !== 'version' && JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
    .map(toCamelCase);
}

/** Finds a memory as it was at a moment; null if it was not there. */
export async function findMemoryAsOf(
  context: MemoryContext,
  { type, id }: MemoryReference,
  at: Date,
): Promise<PastRow | null> {
  const found = await findId(context, 'id', id, type);
  if (found === null) return null;
  const { rows } = await readStates(context, { type, at, ids: [found], limit: 1 });
  return rows[0] ?? null;
}

export interface PastFilter {
  validity?: readonly string[] | null | undefined;
  /** A butler, for episodes. */
  scope?: string | null | undefined;
  subject?: string | null | undefined;
  predicate?: string | null | undefined;
}

/** Returns a page of the memories of a type as they were at a moment, in the order in which they came to be. */
export async function listStates(
  context: MemoryContext,
  { type, at }: Pick<StatesQuery, 'type' | 'at'>,
  { validity, ...filter }: PastFilter,
  page: Pick<StatesQuery, 'offset' | 'limit'>,
): Promise<PastPage> {
  const scope = checkOptionalName('scope', filter.scope);
  const subject = checkOptionalName('subject', filter.subject);
  const predicate = checkOptionalName('predicate', filter.predicate);
  return readStates(context, {
    type,
    at,
    ...page,
    equal: {
      ...(validity && type !== 'episode' && { validity: [...validity] }),
      ...(scope !== null && (type === 'episode' ? { butler: [scope] } : { scope: ['global', scope] })),
    },
    ...(subject !== null && { subject }),
    ...(predicate !== null && { predicateKey: predicateKey(predicate) }),
  });
}

export interface PastPage {
  rows: PastRow[];
  total: number;
}

export async function readStates(context: MemoryContext, query: StatesQuery): Promise<PastPage> {
  checkDate('at', query.at);
  const { rows, total } = await listStatesAt(context.db.client, query);
  const opened = await Promise.all(rows.map(({ state }) => openState(context, state)));
  const past = opened.map((state) => toPastRow(query.type, state, query.at));
  return { rows: await maskPast(context, past), total };
}

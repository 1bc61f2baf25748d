import { Prisma, type Episode, type Fact, type Rule } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../shared/names.ts';
import type { TenantClient, TenantDatabase, Transaction } from '../database.ts';
import { announceEvents } from '../events/event-signal.ts';
import { milliseconds, readMoments } from '../sql/moments.ts';
import { memoryTables, memoryTypes, type MemoryType } from '../tables.ts';
import { toVectorColumns, type NewEmbedding } from './embeddings.ts';
import { insertEventsFrom, type EventRow } from './events.ts';
import { snapshotOf } from './snapshots.ts';

interface Rows {
  episode: Episode;
  fact: Fact;
  rule: Rule;
}

/** Values of columns, by the names that rows have in code. */
export type Columns<Type extends MemoryType = MemoryType> = {
  readonly [Name in keyof Rows[Type]]?: Name extends 'tags' | 'metadata' ? object | undefined : Rows[Type][Name];
};

export interface NewMemory<Type extends MemoryType> {
  columns: Columns<Type> & { id: string };
  embeddings: readonly NewEmbedding[];
  /** Says that it was stored. Its payload gets the row as the database has it. */
  event: EventRow;
}

/** Inserts memories of one type with their vectors and events, in one statement. All have the same columns. */
export async function insertMemories<Type extends MemoryType>(
  transaction: Transaction,
  type: Type,
  memories: readonly NewMemory<Type>[],
): Promise<void> {
  if (memories.length === 0) return;
  announceEvents(transaction);
  const records = memories.map(({ columns, embeddings }) =>
    toRecord({ ...columns, tenantId: transaction.tenantId, ...toVectorColumns(type, embeddings) }),
  );
  const names = Prisma.raw(Object.keys(records[0] ?? {}).join(', '));
  const table = Prisma.raw(memoryTables[type]);
  const events = memories.map(({ event }) => event);
  await transaction.$executeRaw`
    WITH created AS (
      INSERT INTO ${table} (${names})
      SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(records)}::jsonb)
      RETURNING *
    ), described AS (SELECT id, jsonb_build_object('after', ${snapshotOf('created')}) AS payload FROM created)
    ${insertEventsFrom(events, 'described')}`;
}

/**
 * Updates one memory, and inserts the event that keeps the row as it was before and is after, in one statement. The row
 * is locked first. Without embeddings its vectors stay. Returns false if it is not there.
 */
export async function updateMemory(
  transaction: Transaction,
  { type, id }: { type: MemoryType; id: string },
  { columns, embeddings, event }: { columns: object; embeddings: readonly NewEmbedding[] | null; event: EventRow },
): Promise<boolean> {
  announceEvents(transaction);
  const { tenantId } = transaction;
  const table = Prisma.raw(memoryTables[type]);
  const record = toRecord({ ...columns, ...(embeddings !== null && toVectorColumns(type, embeddings)) });
  const assignments = Prisma.raw(
    Object.keys(record)
      .map((name) => `${name} = given.${name}, `)
      .join(''),
  );
  const count = await transaction.$executeRaw`
    WITH old AS (
      SELECT m.id, ${snapshotOf('m')} AS snapshot FROM ${table} m
      WHERE m.tenant_id = ${tenantId} AND m.id = ${id}::uuid FOR UPDATE
    ), changed AS (
      UPDATE ${table} m SET ${assignments} version = m.version + 1
      FROM old, jsonb_populate_record(NULL::${table}, ${JSON.stringify(record)}::jsonb) AS given
      WHERE m.tenant_id = ${tenantId} AND m.id = old.id
      RETURNING m.id, jsonb_build_object('before', old.snapshot, 'after', ${snapshotOf('m')}) AS payload
    )
    ${insertEventsFrom([event], 'changed')}`;
  return count > 0;
}

/** Turns values into what `jsonb_populate_record` reads: under the names of columns, and bytes in hexadecimal. */
function toRecord(values: object): Record<string, unknown> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]: [string, unknown]) => {
      const column = toSnakeCase(name);
      if (!/^[a-z_]+$/.test(column)) throw new Error(`not the name of a column: ${name}`);
      return [column, value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value];
    }),
  );
}

/** What decides whether a memory may be changed. An episode has no validity: it is active until it is forgotten. */
export interface LockedMemory {
  validity: string;
  expiresAt: Date | null;
  scope: string;
  sourceButler: string | null;
  /** Null for episodes. */
  lastConfirmedAt: Date | null;
  /** Since when a fact is true; null for others. */
  validFrom: Date | null;
}

/** Locks the row of a memory until the transaction ends; null if it is not there. */
export async function lockMemory(
  transaction: Transaction,
  { type, id }: { type: MemoryType; id: string },
): Promise<LockedMemory | null> {
  const columns =
    type === 'episode'
      ? `CASE WHEN forgotten_at IS NULL THEN 'active' ELSE 'retracted' END AS validity, expires_at AS "expiresAt",
          butler AS scope, butler AS "sourceButler", NULL::timestamptz AS "lastConfirmedAt",
          NULL::timestamptz AS "validFrom"`
      : `validity, NULL::timestamptz AS "expiresAt", scope, source_butler AS "sourceButler",
          last_confirmed_at AS "lastConfirmedAt", ${type === 'fact' ? 'valid_from' : 'NULL::timestamptz'} AS "validFrom"`;
  const [row] = await transaction.$queryRaw<LockedMemory[]>`
    SELECT ${Prisma.raw(columns)} FROM ${Prisma.raw(memoryTables[type])}
    WHERE tenant_id = ${transaction.tenantId} AND id = ${id}::uuid FOR UPDATE`;
  return row ?? null;
}

/** Returns whether a memory is there, or was: a deleted episode is cited by its tombstone. */
export async function hasMemory(
  transaction: Transaction,
  { type, id }: { type: MemoryType; id: string },
): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ exists: boolean }[]>`
    SELECT memory_exists(${transaction.tenantId}, ${type}, ${id}::uuid) AS exists`;
  return row?.exists === true;
}

/** Every column but vectors and lexemes, by the names that rows have in here. */
const columns: Record<MemoryType, readonly string[]> = {
  episode: Object.values(Prisma.EpisodeScalarFieldEnum),
  fact: Object.values(Prisma.FactScalarFieldEnum),
  rule: Object.values(Prisma.RuleScalarFieldEnum),
};

function isMoment(name: string): boolean {
  return /At$|^valid(From|To)$/.test(name);
}

const moments = Object.fromEntries(memoryTypes.map((type) => [type, columns[type].filter(isMoment)])) as Record<
  MemoryType,
  string[]
>;

export interface MemoryRowFound {
  type: MemoryType;
  row: { id: string };
}

/** Lists memories by id, whatever their state: one round trip for all lists, one statement each. */
export async function listMemoryRows(
  db: TenantDatabase,
  lists: readonly (readonly { type: MemoryType; id: string }[])[],
): Promise<MemoryRowFound[][]> {
  const asked = lists.filter((references) => references.length > 0);
  if (asked.length === 0) return lists.map(() => []);
  const answers = await db.roundTrip(asked.map((references) => selectMemoryRows(db.tenantId, references)));
  return lists.map((references) => readMemoryRows(answers[asked.indexOf(references)]));
}

/** Selects a JSON array of type and row. */
function selectMemoryRows(tenantId: string, references: readonly { type: MemoryType; id: string }[]): Prisma.Sql {
  const types = memoryTypes.filter((type) => references.some((reference) => reference.type === type));
  const parts = types.map((type) => {
    const ids = references.filter((reference) => reference.type === type).map(({ id }) => id);
    return Prisma.sql`
      SELECT ${type}::text AS type, row_to_json(r) AS row FROM (
        SELECT ${selectColumns(type)} FROM ${Prisma.raw(memoryTables[type])} m
        WHERE m.tenant_id = ${tenantId} AND m.id = ANY (${ids}::uuid[])
      ) r`;
  });
  return Prisma.sql`SELECT json_agg(memory)::text FROM (${Prisma.join(parts, ' UNION ALL ')}) memory`;
}

/** Moments in milliseconds since 1970, as which they are read exactly, whatever their year. */
function selectColumns(type: MemoryType): Prisma.Sql {
  const listed = columns[type].map((name) => {
    const column = `m.${toSnakeCase(name)}`;
    return `${isMoment(name) ? milliseconds(column) : column} AS "${name}"`;
  });
  return Prisma.raw(listed.join(', '));
}

/** Returns what the statement answered, with the values that rows have in here. */
function readMemoryRows(answer: string | null | undefined): MemoryRowFound[] {
  const found = JSON.parse(answer ?? '[]') as { type: MemoryType; row: Record<string, unknown> }[];
  for (const { type, row } of found) readMoments(row, moments[type]);
  return found as unknown as MemoryRowFound[];
}

/** Hexadecimal digits that the indexes `<table>_by_handle` have. */
const indexedDigits = 7;

/** Lists memories whose ids end so, at most `limit`. The ending has at least as many digits as the indexes. */
export async function listByEndOfId(
  client: TenantClient,
  end: string,
  limit: number,
): Promise<{ type: MemoryType; id: string }[]> {
  const statements = memoryTypes.map(
    (type) => Prisma.sql`
      SELECT ${type}::text AS type, m.id::text AS id FROM ${Prisma.raw(memoryTables[type])} m
      WHERE m.tenant_id = ${client.tenantId} AND right(m.id::text, ${Prisma.raw(String(indexedDigits))}) = ${end.slice(-indexedDigits)}
        AND right(m.id::text, ${end.length}::int) = ${end}`,
  );
  return client.$queryRaw`${Prisma.join(statements, ' UNION ALL ')} ORDER BY type, id LIMIT ${limit}`;
}

import type { Database } from '../../src/db/database.ts';
import type { Principal } from '../../src/memory/context.ts';
import { listTables, type Row } from '../support/rows.ts';

/** Every row of the database, and whose it is: said here once more, apart from the policies that are on trial. */

export interface OwnedRow {
  table: string;
  tenantId: string;
  /** The name of a butler, `global`, or `operators` for what only those who run the server see. */
  owner: string;
  row: Row;
  /** Tells any write to the row, also one that changes nothing. */
  writtenBy: string;
}

export const global = 'global';
export const operators = 'operators';

type Find = (type: unknown, id: unknown) => string;

const owners: Record<string, (row: Row, find: Find) => string> = {
  episodes: ({ butler }) => String(butler),
  episode_tombstones: ({ butler }) => String(butler),
  memory_tombstones: ({ scope }) => String(scope),
  consolidation_runs: ({ butler }) => String(butler),
  context_receipts: ({ butler }) => (typeof butler === 'string' ? butler : operators),
  facts: ({ scope }) => String(scope),
  rules: ({ scope }) => String(scope),
  reviews: ({ scope }) => String(scope),
  quarantined_items: () => operators,
  rule_applications: ({ rule_id }, find) => find('rule', rule_id),
  memory_links: (row, find) =>
    together(find(row['source_type'], row['source_id']), find(row['target_type'], row['target_id'])),
  memory_events: (row, find) => ownerOfEvent(row, find),
  data_keys: () => global,
  embedding_versions: () => global,
  idempotency_keys: ({ key }) => /^key of (\w+)/.exec(String(key))?.[1] ?? operators,
  access_records: () => operators,
  api_tokens: () => operators,
  erasures: () => operators,
  event_chain: () => operators,
  event_days: () => operators,
  job_runs: () => operators,
};

/** A link says something of both its ends: only who sees both sees it. */
function together(one: string, other: string): string {
  if (one === other || other === global) return one;
  return one === global ? other : operators;
}

function ownerOfEvent({ entity_type: type, entity_id: id, payload }: Row, find: Find): string {
  if (type !== 'link') return find(type, id);
  const { before, after } = payload as Record<'before' | 'after', Record<string, unknown> | null>;
  const link = after ?? before ?? {};
  return together(find(link['sourceType'], link['sourceId']), find(link['targetType'], link['targetId']));
}

const tableOfEntity: Record<string, string[]> = {
  episode: ['episodes', 'episode_tombstones'],
  fact: ['facts', 'memory_tombstones'],
  rule: ['rules', 'memory_tombstones'],
  consolidation_run: ['consolidation_runs'],
  review: ['reviews'],
  quarantined_item: ['quarantined_items'],
};

export async function readAllRows(database: Database): Promise<OwnedRow[]> {
  const read = await database.asOwner(async (client) => {
    const statement = statements.get(database) ?? describeRows(client);
    statements.set(database, statement);
    return (await client.query<{ table: string; row: Row; writtenBy: string }>(await statement)).rows;
  });
  const known = new Map(
    read.map(({ table, row }) => [`${String(row['tenant_id'])} ${table} ${String(row['id'])}`, row]),
  );
  return read.map(({ table, row, writtenBy }) => {
    const tenantId = String(row['tenant_id']);
    const find: Find = (type, id) => {
      for (const name of tableOfEntity[String(type)] ?? []) {
        const found = known.get(`${tenantId} ${name} ${String(id)}`);
        if (found !== undefined) return ownerIn(name)(found, find);
      }
      return operators;
    };
    return { table, tenantId, owner: ownerIn(table)(row, find), row, writtenBy };
  });
}

function ownerIn(table: string): (row: Row, find: Find) => string {
  const owner = owners[table];
  if (owner === undefined)
    throw new Error(`test/isolation/ownership.ts does not say whose a row of ${table} is: add it`);
  return owner;
}

const statements = new WeakMap<Database, Promise<string>>();

/** One statement for all tables, without the vectors, which are large and say nothing that the rest does not. */
async function describeRows(client: Parameters<typeof listTables>[0]): Promise<string> {
  const tables = await listTables(client);
  const { rows } = await client.query<{ table: string; columns: string }>(
    `SELECT table_name AS table, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = ANY ($1) AND udt_name NOT IN ('vector', 'tsvector')
     GROUP BY table_name`,
    [tables],
  );
  const parts = rows.map(
    ({ table, columns }) =>
      `SELECT '${table}' AS table, to_jsonb(r) AS row, (SELECT x) AS "writtenBy"
       FROM (SELECT xmin::text AS x, ${columns} FROM ${table}) AS t, LATERAL (SELECT ${columns
         .split(', ')
         .map((column) => `t.${column}`)
         .join(', ')}) AS r`,
  );
  return parts.join('\nUNION ALL\n');
}

function mayKnow({ tenantId, role, butler }: Principal, row: Pick<OwnedRow, 'tenantId' | 'owner'>): boolean {
  if (row.tenantId !== tenantId) return false;
  return role !== 'butler' || row.owner === global || row.owner === butler;
}

const idColumns = ['id', 'session_id', 'request_id'];

function idsOf({ row }: OwnedRow): string[] {
  return idColumns.flatMap((column) => (typeof row[column] === 'string' ? [row[column]] : []));
}

/** The ids of what the caller may not know, but for those that something it may know has too. */
export function foreignIds(
  rows: readonly OwnedRow[],
  caller: Principal,
  knownTokenIds: ReadonlySet<string>,
): Set<string> {
  const known = new Set([...knownTokenIds, ...rows.filter((row) => mayKnow(caller, row)).flatMap(idsOf)]);
  return new Set(
    rows
      .filter((row) => !mayKnow(caller, row))
      .flatMap(idsOf)
      .filter((id) => !known.has(id)),
  );
}

/** What the caller may neither know nor change, one line a row; a write to any of them changes its line. */
export function digestOfOthers(
  rows: readonly OwnedRow[],
  caller: Principal,
  ownTokenIds: ReadonlySet<string>,
): string[] {
  return rows
    .filter((row) => !mayKnow(caller, row))
    .filter(({ table, row }) => !isTraceOfCaller(table, row, ownTokenIds))
    .map(({ table, tenantId, owner, row, writtenBy }) => [tenantId, table, owner, nameOf(row), writtenBy].join(' | '))
    .toSorted();
}

/**
 * What a caller leaves behind in the books that only operators read: its keys, the use of its token, where it went, and the
 * entries of the chain, one for each event; those are looked at themselves.
 */
function isTraceOfCaller(table: string, row: Row, ownTokenIds: ReadonlySet<string>): boolean {
  if (table === 'event_chain') return true;
  if (table === 'access_records') return row['entered_tenant'] !== null;
  if (table === 'idempotency_keys') return !String(row['key']).startsWith('key of');
  return table === 'api_tokens' && ownTokenIds.has(String(row['id']));
}

function nameOf(row: Row): string {
  return JSON.stringify(row['id'] ?? Object.values(row).slice(0, 7));
}

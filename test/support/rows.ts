import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';

/** Rows for raw SQL: the smallest that each table accepts. Column names as in the database. */
export type Row = Record<string, unknown>;

const past = new Date('2026-01-01T00:00:00.000Z');
const future = new Date('2036-01-01T00:00:00.000Z');

const smallest: Record<string, () => Row> = {
  embedding_versions: () => ({
    provider: 'hashing',
    model: 'test',
    dtype: 'f32',
    digest: 'none',
    dimensions: 384,
    slot: 'primary',
    status: 'active',
    created_at: past,
  }),
  data_keys: () => ({
    wrapped_key: `\\x${'00'.repeat(61)}`,
    master_key_id: 'none',
    status: 'active',
    created_at: past,
  }),
  consolidation_runs: () => ({
    butler: `butler ${randomUUID()}`,
    engine: 'patterns',
    status: 'running',
    worker: 'worker-1',
    started_at: past,
  }),
  episodes: () => ({ butler: 'alfred', content: 'The tea was served.', created_at: past, expires_at: future }),
  memory_tombstones: () => ({ type: 'fact', scope: 'global', reason: 'retention', created_at: past, deleted_at: past }),
  episode_tombstones: () => ({ butler: 'alfred', reason: 'expired', created_at: past, deleted_at: past }),
  facts: () => ({
    subject: `guest ${randomUUID()}`,
    predicate: 'drinks',
    content: 'tea',
    recorded_at: past,
    created_at: past,
  }),
  rules: () => ({ content: 'Serve tea at five.', created_at: past }),
  rule_applications: () => ({ outcome: 'helpful', applied_at: past }),
  reviews: () => ({ kind: 'same_thing', scope: 'global', reason: 'looks_alike', opened_at: past }),
  quarantined_items: () => ({ butler: 'alfred', kind: 'fact', content: 'The tea is cold.', created_at: past }),
  memory_links: () => ({ source_type: 'fact', target_type: 'rule', relation: 'supports', created_at: past }),
  memory_events: () => ({
    event_type: 'fact.created',
    entity_type: 'fact',
    entity_id: randomUUID(),
    occurred_at: past,
    actor: 'alfred',
    request_id: 'request-1',
    payload: {},
  }),
  event_chain: () => ({
    position: 1000,
    event_id: randomUUID(),
    payload_digest: Buffer.alloc(32),
    hash: Buffer.alloc(32),
  }),
  erasures: () => ({
    erased_at: past,
    actor: 'admin',
    request_id: 'request-1',
    memories: '[]',
    counts: {},
    blanked: {},
    hash: Buffer.alloc(32),
  }),
  context_receipts: () => ({
    kind: 'recall',
    query: 'tea',
    configuration_digest: 'none',
    created_at: past,
    expires_at: future,
  }),
  idempotency_keys: () => ({
    key: randomUUID(),
    operation: 'storeFact',
    input_digest: 'none',
    response: {},
    created_at: past,
  }),
  job_runs: () => ({
    job: 'decay-sweep',
    started_by: 'schedule',
    actor: 'schedule',
    request_id: 'request-1',
    status: 'running',
    started_at: past,
    last_sign_at: past,
  }),
  access_records: () => ({
    accessed_at: past,
    kind: 'read',
    actor: 'admin',
    request_id: 'request-1',
    operations: '{search}',
    digest: 'none',
  }),
  event_days: () => ({ day: '2026-01-01', event_type: `fact.${randomUUID()}`, count: 1 }),
  api_tokens: () => ({
    name: 'test',
    token_hash: randomUUID(),
    role: 'admin',
    created_at: past,
    created_by: 'test',
  }),
};

const tablesWithoutId = new Set(['memory_links', 'idempotency_keys', 'event_days', 'event_chain']);

/** Filled by a trigger, when the row that they are about is committed. */
const writtenByTrigger = new Set(['event_chain']);

export function rowOf(table: string, tenantId: string, columns: Row = {}): Row {
  const make = smallest[table];
  if (make === undefined) throw new Error(`test/support/rows.ts has no row for table ${table}: add the smallest one`);
  const id = tablesWithoutId.has(table) ? {} : { id: randomUUID() };
  return { tenant_id: tenantId, ...id, ...make(), ...columns };
}

export async function insertRow(client: Pick<PoolClient, 'query'>, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await client.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(row).map(toParameter),
  );
}

/** `pg` writes a JavaScript array as a PostgreSQL array, which jsonb does not take. */
function toParameter(value: unknown): unknown {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);
  return isJson ? JSON.stringify(value) : value;
}

/** One row in every table that there is at its version, each with what it refers to. Returns them by table. */
export async function seedTenant(client: Pick<PoolClient, 'query'>, tenantId: string): Promise<Record<string, Row>> {
  const rows: Record<string, Row> = {};
  const tables = new Set(await listTables(client));
  for (const table of Object.keys(smallest).filter((name) => tables.has(name))) {
    const references: Record<string, Row> = {
      rule_applications: { rule_id: rows['rules']?.['id'] },
      memory_links: { source_id: rows['facts']?.['id'], target_id: rows['rules']?.['id'] },
      quarantined_items: { episode_id: rows['episodes']?.['id'] },
      reviews: {
        newer_id: rows['facts']?.['id'],
        older_id: table === 'reviews' ? await insertFact(client, tenantId) : null,
      },
    };
    const row = rowOf(table, tenantId, references[table]);
    if (!writtenByTrigger.has(table)) await insertRow(client, table, row);
    rows[table] = row;
  }
  return rows;
}

async function insertFact(client: Pick<PoolClient, 'query'>, tenantId: string): Promise<unknown> {
  const row = rowOf('facts', tenantId);
  await insertRow(client, 'facts', row);
  return row['id'];
}

/** Every table of ours, from the catalog, so that a new one cannot be forgotten. */
export async function listTables(client: Pick<PoolClient, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'
     ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

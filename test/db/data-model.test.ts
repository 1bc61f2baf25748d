import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertRow, rowOf, seedTenant, type Row } from '../support/rows.ts';

const tenant = 'tenant-a';
let scratch: TestDatabase;
let client: PoolClient;
let release: () => void;

beforeAll(async () => {
  scratch = await createTestDatabase();
});

afterAll(() => scratch.drop());

/** Each test has the owner's connection in a transaction that is rolled back: it sees what the server would meet. */
beforeEach(async () => {
  await new Promise<void>((resolve, reject) => {
    const ended = new Promise<void>((end) => (release = end));
    scratch.database
      .asOwner(async (owner) => {
        client = owner;
        await client.query('BEGIN');
        resolve();
        await ended;
        await client.query('ROLLBACK');
      })
      .catch(reject);
  });
});

afterEach(() => release());

interface Refusal {
  code: string;
  constraint: string | undefined;
  message: string;
}

/** Null if the statement was accepted. Either way the transaction goes on as if it had not been. */
async function refusalOf(work: () => Promise<unknown>): Promise<Refusal | null> {
  await client.query('SAVEPOINT attempt');
  const refusal = await work().then(
    () => null,
    ({ code, constraint, message }: Refusal) => ({ code, constraint, message }),
  );
  await client.query('ROLLBACK TO SAVEPOINT attempt');
  return refusal;
}

async function insert(table: string, columns: Row = {}, tenantId = tenant): Promise<Row> {
  const row = rowOf(table, tenantId, columns);
  await insertRow(client, table, row);
  return row;
}

const notNull = '23502';
const foreignKey = '23503';
const unique = '23505';
const restricted = '23001';

describe('checks', () => {
  type Seeded = Record<string, Row>;
  const zeroes = `[${'0,'.repeat(383)}1]`;
  const ownId = '00000000-0000-4000-8000-000000000001';

  /** Those that take more than a bad value in one column. */
  const particular: Record<string, (rows: Seeded) => Row> = {
    memory_events_event_type_check: () => ({ event_type: 'Fact Created' }),
    memory_links_ends_check: ({ rules }) => ({ source_type: 'rule', source_id: rules?.['id'] }),
    memory_links_source_type_check: ({ episodes }) => ({ source_type: 'nonsense', source_id: episodes?.['id'] }),
    memory_links_target_type_check: ({ episodes }) => ({ target_type: 'nonsense', target_id: episodes?.['id'] }),
    facts_kind_check: () => ({ kind: 'nonsense', observed_at: new Date('2026-01-01') }),
    facts_supersedes_check: () => ({ id: ownId, supersedes_id: ownId }),
    facts_valid_time_check: () => ({ valid_from: new Date('2026-02-01'), valid_to: new Date('2026-01-01') }),
    facts_event_check: () => ({ kind: 'event' }),
    facts_reference_sessions_check: () => ({
      reference_sessions: `{${Array.from({ length: 101 }, String).join(',')}}`,
    }),
    episodes_nothing_found_check: () => ({ nothing_found: true }),
    rules_anti_pattern_check: () => ({ maturity: 'anti_pattern' }),
    event_chain_payload_digest_check: () => ({ payload_digest: Buffer.alloc(31) }),
    erasures_hash_check: () => ({ hash: Buffer.alloc(31) }),
    event_chain_hash_check: () => ({ hash: Buffer.alloc(33) }),
    job_runs_status_check: () => ({ status: 'nonsense', finished_at: new Date('2026-01-02') }),
    job_runs_finished_check: () => ({ finished_at: new Date('2026-01-02') }),
    data_keys_status_check: () => ({ status: 'nonsense', retired_at: new Date('2026-01-02') }),
    data_keys_retired_check: () => ({ retired_at: new Date('2026-01-02') }),
    data_keys_wrapped_key_check: () => ({ wrapped_key: '\\x00' }),
    facts_sealed_check: () => ({ sealed_content: '\\x00', content: '***' }),
    facts_sealed_content_check: ({ data_keys }) => ({ sealed_content: '\\x00', data_key_id: data_keys?.['id'] }),
    quarantined_items_status_check: () => ({ status: 'nonsense', decided_at: new Date('2026-01-02') }),
    quarantined_items_decided_check: () => ({ decided_at: new Date('2026-01-02') }),
    reviews_ends_check: ({ facts }) => ({ older_id: facts?.['id'] }),
    reviews_status_check: () => ({ status: 'nonsense', outcome: 'keep_both', settled_at: new Date('2026-01-02') }),
    reviews_outcome_check: () => ({ status: 'settled', outcome: 'nonsense', settled_at: new Date('2026-01-02') }),
    reviews_settled_check: () => ({ outcome: 'keep_both' }),
    api_tokens_butler_check: () => ({ role: 'butler' }),
    api_tokens_across_check: () => ({ role: 'operator', across: '{other}' }),
    api_tokens_across_write_check: () => ({ across_write: true }),
    ...Object.fromEntries(
      ['episodes', 'facts', 'rules'].flatMap((table) => [
        [`${table}_language_check`, () => ({ language: 'klingon' })],
        [`${table}_embedding_check`, () => ({ embedding: zeroes })],
        [`${table}_alternate_embedding_check`, () => ({ alternate_embedding: zeroes })],
        [`${table}_embedding_tokens_check`, () => ({ embedding_tokens: '\\x00' })],
        [`${table}_alternate_embedding_tokens_check`, () => ({ alternate_embedding_tokens: '\\x00' })],
      ]),
    ),
  };

  /** What refuses the value before the check is asked: a trigger, or the generated column that comes out as null. */
  const refusedBefore: Record<string, string> = {
    memory_links_tenant_check: 'memory_links_source',
    episodes_language_check: notNull,
    facts_language_check: notNull,
    rules_language_check: notNull,
  };

  /** One bad value for a check on one column, by the form of the check. */
  function badValues(definition: string): unknown[] {
    if (definition.includes('= ANY (ARRAY[')) return ['nonsense', ''];
    if (definition.includes("<> ''::text")) return [''];
    if (definition.includes("= 'array'::text")) return [{}];
    if (definition.includes("= 'object'::text")) return ['[]'];
    if (/>= .*<= /.test(definition)) return [-1, 11];
    if (/>=? \(?[01]\b/.test(definition)) return [-1];
    return [];
  }

  interface Check {
    table: string;
    name: string;
    definition: string;
    column: string;
  }

  async function listChecks(): Promise<Check[]> {
    const { rows } = await client.query<Check>(
      `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(pg_constraint.oid) AS definition,
         (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1]) AS column
       FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace ORDER BY conname`,
    );
    return rows;
  }

  test('each refuses the values that it is there to refuse', async () => {
    const rows = await seedTenant(client, tenant);
    const references: Record<string, Row> = {
      rule_applications: { rule_id: rows['rules']?.['id'] },
      memory_links: { source_id: rows['facts']?.['id'], target_id: rows['rules']?.['id'] },
      quarantined_items: { episode_id: rows['episodes']?.['id'] },
      reviews: { newer_id: rows['facts']?.['id'], older_id: rows['reviews']?.['older_id'] },
    };
    const checks = await listChecks();
    const wrong: string[] = [];
    for (const { table, name, definition, column } of checks) {
      const bad = particular[name]?.(rows);
      const cases = bad === undefined ? badValues(definition).map((value) => ({ [column]: value })) : [bad];
      if (cases.length === 0) wrong.push(`${name} has no case here: ${definition}`);
      for (const columns of cases) {
        const row = { ...rowOf(table, tenant, references[table]), ...columns };
        const refusal = await refusalOf(() => insertRow(client, table, row));
        const guard = refusedBefore[name] ?? name;
        if (refusal?.constraint !== guard && refusal?.code !== guard) {
          wrong.push(`${name} let ${JSON.stringify(columns)} pass: ${refusal?.message}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(checks.length).toBeGreaterThan(60);
    expect(Object.keys(particular).filter((name) => !checks.some((one) => one.name === name))).toEqual([]);
  });

  /** A text column that holds one of a few words but has no check would take any word at all. */
  test('every column that holds one of a few words has one', async () => {
    const checks = await listChecks();
    const enumerated = checks.filter(({ definition }) => definition.includes('= ANY (ARRAY['));
    expect(enumerated.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual([
      'access_records.kind',
      'api_tokens.role',
      'consolidation_runs.engine',
      'consolidation_runs.status',
      'context_receipts.kind',
      'data_keys.status',
      'embedding_versions.slot',
      'embedding_versions.status',
      'episode_tombstones.reason',
      'episodes.consolidation_status',
      'facts.kind',
      'facts.permanence',
      'facts.validity',
      'job_runs.started_by',
      'job_runs.status',
      'memory_events.entity_type',
      'memory_links.relation',
      'memory_links.source_type',
      'memory_links.target_type',
      'memory_tombstones.reason',
      'memory_tombstones.type',
      'quarantined_items.kind',
      'quarantined_items.status',
      'reviews.kind',
      'reviews.outcome',
      'reviews.status',
      'rule_applications.outcome',
      'rules.maturity',
      'rules.permanence',
      'rules.validity',
    ]);
  });
});

describe('one live fact for a key', () => {
  const fact = (columns: Row = {}): Promise<Row> =>
    insert('facts', { subject: 'Ada', predicate: 'favourite food', content: 'plums', ...columns });

  test.each([
    ['the same spelling', 'Ada', 'favourite food'],
    ['other case', 'ADA', 'Favourite Food'],
    ['underscores', 'Ada', 'favourite_food'],
    ['hyphens', 'Ada', 'favourite-food'],
    ['spaces around', ' Ada ', '  favourite food  '],
    ['several separators', 'Ada', 'favourite - _ food'],
    ['tabs and line ends', 'Ada', 'favourite\t\nfood'],
  ])('a second one is refused with %s', async (_how, subject, predicate) => {
    await fact();
    expect(await refusalOf(() => fact({ subject, predicate }))).toMatchObject({
      code: unique,
      constraint: 'facts_one_live_per_key',
    });
  });

  test.each([
    ['active', 'fading'],
    ['fading', 'active'],
    ['fading', 'fading'],
  ])('a second one is refused when the first is %s and it is %s', async (first, second) => {
    await fact({ validity: first });
    expect(await refusalOf(() => fact({ validity: second }))).toMatchObject({ constraint: 'facts_one_live_per_key' });
  });

  test('one that is set aside stands beside it, and takes its place only once it is free', async () => {
    await fact({ set_aside: true });
    await fact();
    expect(await refusalOf(() => fact({ set_aside: true }))).toBeNull();
    expect(await refusalOf(fact)).toMatchObject({ constraint: 'facts_one_live_per_key' });
  });

  test.each(['superseded', 'expired', 'retracted'])('a live one stands beside one that is %s', async (validity) => {
    await fact({ validity });
    expect(await refusalOf(fact)).toBeNull();
  });

  test('another subject, predicate, scope or tenant is another key', async () => {
    await fact();
    expect(await refusalOf(() => fact({ subject: 'Ada L' }))).toBeNull();
    expect(await refusalOf(() => fact({ predicate: 'favouritefood' }))).toBeNull();
    expect(await refusalOf(() => fact({ scope: 'alfred' }))).toBeNull();
    expect(await refusalOf(() => fact({ tenant_id: 'tenant-b' }))).toBeNull();
  });

  test('events share a key with each other and with a state', async () => {
    await fact();
    const event = { kind: 'event', observed_at: new Date('2026-01-01') };
    await fact(event);
    expect(await refusalOf(() => fact(event))).toBeNull();
  });

  test('the spelling is kept beside the key', async () => {
    await fact({ subject: 'Ada', predicate: 'Favourite-Food' });
    const { rows } = await client.query('SELECT subject, predicate, subject_key, predicate_key FROM facts');
    expect(rows).toEqual([
      { subject: 'Ada', predicate: 'Favourite-Food', subject_key: 'ada', predicate_key: 'favourite_food' },
    ]);
  });

  test('the key cannot be written', async () => {
    expect(await refusalOf(() => fact({ subject_key: 'other' }))).toMatchObject({ code: '428C9' });
  });
});

describe('links', () => {
  let rows: Record<string, Row>;
  beforeEach(async () => {
    rows = await seedTenant(client, tenant);
  });

  const link = (columns: Row = {}): Promise<Row> =>
    insert('memory_links', { source_id: rows['facts']?.['id'], target_id: rows['rules']?.['id'], ...columns });

  test('a pair carries several relations, each once', async () => {
    expect(await refusalOf(() => link({ relation: 'contradicts' }))).toBeNull();
    expect(await refusalOf(() => link({ relation: 'supports' }))).toMatchObject({
      code: unique,
      constraint: 'memory_links_pkey',
    });
  });

  test.each(['episode', 'fact', 'rule'])('an end that names no %s is refused', async (type) => {
    const missing = randomUUID();
    expect(await refusalOf(() => link({ source_type: type, source_id: missing }))).toMatchObject({
      code: foreignKey,
      constraint: 'memory_links_source',
      message: `link source ${type} ${missing} does not exist`,
    });
    expect(await refusalOf(() => link({ target_type: type, target_id: missing }))).toMatchObject({
      code: foreignKey,
      constraint: 'memory_links_target',
    });
  });

  test('an end of another type than it says is refused', async () => {
    const mistyped = { source_type: 'rule', source_id: rows['facts']?.['id'] };
    expect(await refusalOf(() => link(mistyped))).toMatchObject({ constraint: 'memory_links_source' });
  });

  test('a deleted episode may be an end, as its tombstone answers for it', async () => {
    const ends = { source_type: 'episode', source_id: rows['episode_tombstones']?.['id'], relation: 'derived_from' };
    expect(await refusalOf(() => link(ends))).toBeNull();
  });

  test('a removed fact or rule may be an end, for the same reason', async () => {
    for (const type of ['fact', 'rule']) {
      const { id } = await insert('memory_tombstones', { type });
      const ends = { source_type: type, source_id: id, relation: 'related_to' };
      expect(await refusalOf(() => link(ends)), type).toBeNull();
    }
  });

  test('a memory of another tenant is no end', async () => {
    const others = await seedTenant(client, 'tenant-b');
    for (const [type, table] of [
      ['episode', 'episodes'],
      ['episode', 'episode_tombstones'],
      ['fact', 'facts'],
      ['rule', 'rules'],
    ] as const) {
      const ends = { source_type: type, source_id: others[table]?.['id'] };
      expect(await refusalOf(() => link(ends)), table).toMatchObject({ constraint: 'memory_links_source' });
    }
  });

  test('a link cannot be moved to an end that does not exist', async () => {
    const move = (): Promise<unknown> => client.query('UPDATE memory_links SET target_id = $1', [randomUUID()]);
    expect(await refusalOf(move)).toMatchObject({ constraint: 'memory_links_target' });
  });
});

describe.each(['facts', 'rules'])('the source episode of %s', (table) => {
  test('must exist', async () => {
    const missing = randomUUID();
    expect(await refusalOf(() => insert(table, { source_episode_id: missing }))).toMatchObject({
      code: foreignKey,
      constraint: `${table}_source_episode`,
      message: `source episode ${missing} does not exist`,
    });
    await insert(table);
    const change = (): Promise<unknown> => client.query(`UPDATE ${table} SET source_episode_id = $1`, [missing]);
    expect(await refusalOf(change)).toMatchObject({ constraint: `${table}_source_episode` });
  });

  test('may be there or deleted', async () => {
    for (const source of ['episodes', 'episode_tombstones']) {
      const { id } = await insert(source);
      expect(await refusalOf(() => insert(table, { source_episode_id: id })), source).toBeNull();
    }
  });

  test("may not be another tenant's", async () => {
    for (const source of ['episodes', 'episode_tombstones']) {
      const { id } = await insert(source, {}, 'tenant-b');
      expect(await refusalOf(() => insert(table, { source_episode_id: id })), source).toMatchObject({
        code: foreignKey,
      });
    }
  });
});

describe('episodes', () => {
  test('one goes only when its tombstone stands', async () => {
    const { id } = await insert('episodes');
    const remove = (): Promise<unknown> => client.query('DELETE FROM episodes WHERE id = $1', [id]);
    expect(await refusalOf(remove)).toMatchObject({ code: restricted, constraint: 'episodes_tombstone' });
    await insert('episode_tombstones', { id }, 'tenant-b');
    expect(await refusalOf(remove)).toMatchObject({ code: restricted });
    await insert('episode_tombstones', { id });
    expect(await refusalOf(remove)).toBeNull();
  });

  test('consolidated says what the status says, and cannot be written', async () => {
    for (const status of ['pending', 'consolidated', 'failed', 'dead_letter']) {
      await insert('episodes', { consolidation_status: status });
    }
    const { rows } = await client.query('SELECT consolidation_status AS status FROM episodes WHERE consolidated');
    expect(rows).toEqual([{ status: 'consolidated' }]);
    const write = (): Promise<unknown> => client.query('UPDATE episodes SET consolidated = true');
    expect(await refusalOf(write)).toMatchObject({ code: '428C9' });
  });
});

describe('events', () => {
  test.each([
    ['update', 'UPDATE memory_events SET actor = $1'],
    ['delete', 'DELETE FROM memory_events WHERE actor <> $1'],
    ['truncate', 'TRUNCATE memory_events'],
  ])('even the owner cannot %s them', async (what, statement) => {
    await insert('memory_events');
    // As at the end of a transaction: a table with checks outstanding cannot be truncated anyway.
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    const values = statement.includes('$1') ? ['someone else'] : [];
    expect(await refusalOf(() => client.query(statement, values))).toMatchObject({
      code: restricted,
      constraint: 'memory_events_append_only',
      message: `memory_events is append-only: ${what.toUpperCase()} is refused`,
    });
  });

  test.each([
    ['update', 'UPDATE event_chain SET position = position + 1'],
    ['delete', 'DELETE FROM event_chain'],
    ['truncate', 'TRUNCATE event_chain'],
  ])('even the owner cannot %s their chain', async (what, statement) => {
    await insert('memory_events');
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    expect(await refusalOf(() => client.query(statement))).toMatchObject({
      code: restricted,
      constraint: 'event_chain_append_only',
      message: `event_chain is append-only: ${what.toUpperCase()} is refused`,
    });
  });

  test('a table that events refer to cannot be emptied over them', async () => {
    const truncate = (): Promise<unknown> => client.query('TRUNCATE episodes, facts, rules, memory_events CASCADE');
    expect(await refusalOf(truncate)).toMatchObject({ constraint: 'memory_events_append_only' });
  });

  test('they are numbered in the order of writing, and carry the transaction that wrote them', async () => {
    await insert('memory_events', { event_type: 'fact.first' });
    await insert('memory_events', { event_type: 'fact.second' });
    const { rows } = await client.query(
      `SELECT event_type, transaction_id = pg_current_xact_id()::text::bigint AS ours FROM memory_events ORDER BY sequence`,
    );
    expect(rows).toEqual([
      { event_type: 'fact.first', ours: true },
      { event_type: 'fact.second', ours: true },
    ]);
  });
});

describe('embedding versions', () => {
  test('one is active, one fills the other slot, and a model is not built twice', async () => {
    await insert('embedding_versions');
    const version = (columns: Row): Promise<Row> => insert('embedding_versions', columns);
    const building = { slot: 'alternate', status: 'building' };
    expect(await refusalOf(() => version({ slot: 'alternate', model: 'other' }))).toMatchObject({
      constraint: 'embedding_versions_one_active',
    });
    expect(await refusalOf(() => version({ status: 'building', model: 'other' }))).toMatchObject({
      constraint: 'embedding_versions_one_per_slot',
    });
    expect(await refusalOf(() => version(building))).toMatchObject({ constraint: 'embedding_versions_one_per_model' });
    expect(await refusalOf(() => version({ ...building, model: 'other' }))).toBeNull();
    expect(await refusalOf(() => version({ status: 'retired' }))).toBeNull();
  });
});

describe('search', () => {
  const matches = async (table: string, query: string, language = 'english'): Promise<boolean> => {
    const { rowCount } = await client.query(
      `SELECT FROM ${table} WHERE search_vector @@ plainto_tsquery($1::regconfig, $2)`,
      [language, query],
    );
    return rowCount === 1;
  };

  test.each(['episodes', 'rules'])('the words of %s are found by their stems', async (table) => {
    await insert(table, { content: 'The guests were eating plums.' });
    expect(await matches(table, 'eat plum')).toBe(true);
    expect(await matches(table, 'pear')).toBe(false);
    await client.query(`UPDATE ${table} SET content = 'The guests were eating pears.'`);
    expect(await matches(table, 'pear')).toBe(true);
  });

  test('facts are found by subject, by the words of the predicate and by content', async () => {
    await insert('facts', { subject: 'Ada', predicate: 'favourite_food', content: 'plums' });
    for (const query of ['Ada', 'food', 'plum']) expect(await matches('facts', query), query).toBe(true);
  });

  test.each([
    ['german', 'Die Häuser stehen leer.', 'Haus'],
    ['french', 'Les chevaux mangent.', 'cheval'],
    ['simple', 'Houses', 'houses'],
  ])('a text in %s is stemmed as such', async (language, content, query) => {
    await insert('episodes', { content, language });
    expect(await matches('episodes', query, language)).toBe(true);
  });

  test('every language that PostgreSQL 14 ships is taken', async () => {
    const { rows } = await client.query<{ name: string }>('SELECT cfgname AS name FROM pg_ts_config ORDER BY 1');
    const newer = ['armenian', 'basque', 'catalan', 'estonian', 'hindi', 'polish', 'serbian', 'yiddish', 'esperanto'];
    const refused: string[] = [];
    for (const { name } of rows) {
      if ((await refusalOf(() => insert('rules', { language: name }))) !== null) refused.push(name);
    }
    expect(refused.filter((name) => !newer.includes(name))).toEqual([]);
  });

  const vector = `[${Array.from({ length: 384 }, (_, index) => (index % 7) - 3).join(',')}]`;
  const slots = ['episodes', 'facts', 'rules'].flatMap((table) =>
    ['embedding', 'alternate_embedding'].map((slot) => [table, slot] as const),
  );

  test.each(slots)('the nearest %s by %s come from its HNSW index', async (table, slot) => {
    const { id: version } = await insert('embedding_versions');
    const { id } = await insert(table, { [slot]: vector, [`${slot}_version_id`]: version });
    await client.query('SET LOCAL enable_seqscan = off');
    const query = `SELECT id FROM ${table} ORDER BY ${slot} <=> '${vector}' LIMIT 5`;
    const plan = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${query}`);
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(
      `Index Scan using ${table}_${slot} on ${table}`,
    );
    expect((await client.query(query)).rows).toEqual([{ id }]);
  });

  test('a vector of another length is refused', async () => {
    const { id } = await insert('embedding_versions');
    const short = { embedding: '[1,2,3]', embedding_version_id: id };
    expect(await refusalOf(() => insert('facts', short))).toMatchObject({ code: '22000' });
  });

  test("a vector may not name another tenant's version", async () => {
    const { id } = await insert('embedding_versions', {}, 'tenant-b');
    const foreign = { embedding: vector, embedding_version_id: id };
    expect(await refusalOf(() => insert('facts', foreign))).toMatchObject({
      constraint: 'facts_embedding_version_fkey',
    });
  });
});

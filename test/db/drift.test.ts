import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/shared/package-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { listDrift } from '../support/schema-engine.ts';

/**
 * All that schema.prisma cannot say. Prisma does not look at checks, triggers, policies, functions and expressions of
 * generated columns, so they need no place here; its own table of migrations it leaves out.
 */
const handWritten = [
  'DROP INDEX "episodes_alternate_embedding"',
  'DROP INDEX "episodes_embedding"',
  'DROP INDEX "facts_alternate_embedding"',
  'DROP INDEX "facts_embedding"',
  'DROP INDEX "rules_alternate_embedding"',
  'DROP INDEX "rules_embedding"',
  // Prisma compares the type beneath a domain.
  ...['episodes', 'facts', 'rules'].map(
    (table) =>
      `ALTER TABLE "${table}" ALTER COLUMN "embedding_tokens" SET DATA TYPE token_signs, ALTER COLUMN "alternate_embedding_tokens" SET DATA TYPE token_signs`,
  ),
];

let scratch: TestDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase();
});
afterAll(() => scratch.drop());

test('schema.prisma describes the migrated database, but for the vector indexes', async () => {
  expect(await scratch.database.asOwner(listDrift)).toEqual(handWritten);
});

test.each([
  ['a new column', 'ALTER TABLE facts ADD COLUMN mood text', 'ALTER TABLE "facts" DROP COLUMN "mood"'],
  ['a missing index', 'DROP INDEX facts_by_key', 'CREATE INDEX "facts_by_key"'],
  ['a new table', 'CREATE TABLE stray (id integer PRIMARY KEY)', 'DROP TABLE "stray"'],
  [
    'a column that became optional',
    'ALTER TABLE rules ALTER content DROP NOT NULL',
    'ALTER COLUMN "content" SET NOT NULL',
  ],
  ['another default', "ALTER TABLE facts ALTER kind SET DEFAULT 'event'", "SET DEFAULT 'state'"],
])('the comparison sees %s', async (_what, change, difference) => {
  await scratch.database.asOwner(async (client) => {
    await client.query('BEGIN');
    await client.query(change);
    const drift = await listDrift(client);
    await client.query('ROLLBACK');
    expect(drift.filter((statement) => !handWritten.includes(statement)).join('\n')).toContain(difference);
  });
});

test('schema.prisma names the types that Prisma does not compare', async () => {
  const schema = await readFile(join(packageRoot, 'prisma', 'schema.prisma'), 'utf8');
  const declared = [...schema.matchAll(/Unsupported\("(.+?)"\)/g)].map(([, type]) => type ?? '');
  const { rows } = await scratch.database.asOwner((client) =>
    client.query<{ type: string }>(
      `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         AND atttypid IN ('vector'::regtype, 'tsvector'::regtype, 'token_signs'::regtype)`,
    ),
  );
  expect(rows.map(({ type }) => type).toSorted()).toEqual(declared.toSorted());
});

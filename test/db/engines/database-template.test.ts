import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { buildDatabaseTemplate } from '../../../scripts/build-database-template.ts';
import { openDatabase, type Database } from '../../../src/db/database.ts';
import { findTemplate } from '../../../src/db/engines/database-template.ts';
import { packDirectory, unpackDirectory } from '../../../src/db/engines/directory-archive.ts';
import { migrate, readMigrations } from '../../../src/db/migrate.ts';
import { testEngine } from '../../support/database.ts';
import { testDatabaseOptions } from '../../support/templates.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(inject('testRun').directory, 'template-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('an archive of a directory', () => {
  it('gives back every file, byte for byte, and every directory', async () => {
    const source = join(folder, 'source');
    await mkdir(join(source, 'empty', 'below'), { recursive: true });
    const files = { 'empty.txt': Buffer.alloc(0), zeros: Buffer.alloc(5000), ends: Buffer.from([0, 7, 10, 0, 0]) };
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(source, name), bytes);
    packDirectory(source, join(folder, 'archive', 'a.br'));
    const target = join(folder, 'target');
    // What a process that was killed in the middle leaves.
    await mkdir(`${target}.new`);
    await writeFile(join(`${target}.new`, 'half'), '');
    unpackDirectory(join(folder, 'archive', 'a.br'), target);

    expect((await readdir(target, { recursive: true })).toSorted()).toEqual(
      [...Object.keys(files), 'empty', join('empty', 'below')].toSorted(),
    );
    for (const [name, bytes] of Object.entries(files)) expect(await readFile(join(target, name))).toEqual(bytes);
    expect(existsSync(`${target}.new`)).toBe(false);
  });

  it('leaves nothing behind if it is damaged', async () => {
    const damaged = join(folder, 'damaged.br');
    await writeFile(damaged, 'not an archive');
    expect(() => unpackDirectory(damaged, join(folder, 'never'))).toThrow(/damaged\.br/);
    expect((await readdir(folder)).filter((name) => name.startsWith('never'))).toEqual([]);
  });
});

describe.runIf(testEngine === 'pglite')('the template of the embedded database', { timeout: 120_000 }, () => {
  let built: string;
  let copies: Database[];
  const name = 'memory';

  beforeAll(async () => {
    await mkdir(join(folder, 'built'));
    await writeFile(join(folder, 'built', 'stale.br'), '');
    built = await buildDatabaseTemplate(join(folder, 'built'));
    copies = [];
    for (const home of [join(folder, 'one'), join(folder, 'two')]) {
      await mkdir(home);
      unpackDirectory(built, join(home, name));
      copies.push(await openDatabase({ ...testDatabaseOptions, home, name }));
    }
  }, 240_000);
  afterAll(async () => {
    for (const copy of copies) await copy.close();
  });

  it('has every migration applied', async () => {
    const total = (await readMigrations()).length;
    for (const copy of copies) expect(await migrate(copy)).toEqual({ applied: [], total });
  });

  it('holds no row that one installation could share with another, but for the bookkeeping of its tables', async () => {
    const [copy] = copies as [Database];
    const filled = await copy.asOwner(async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
      );
      const counts: string[] = [];
      for (const table of rows) {
        const { rowCount } = await client.query(`SELECT FROM ${table.name} LIMIT 1`);
        if (rowCount === 1) counts.push(table.name);
      }
      return counts;
    });
    expect(filled).toEqual(['pgboss.version', 'public._prisma_migrations']);
  });

  it('is found for the migrations that it was made with, and for no others', async () => {
    const migrations = await readMigrations();
    const [first, ...others] = migrations;
    if (first === undefined) throw new Error('there are no migrations');
    const at = join(folder, 'built');

    expect(await findTemplate(at)).toBe(built);
    expect(await findTemplate(at, migrations.slice(0, -1))).toBeNull();
    expect(await findTemplate(at, [{ ...first, checksum: 'edited' }, ...others])).toBeNull();
    expect(await findTemplate(at, [...migrations, { name: 'later', sql: '', checksum: 'x' }])).toBeNull();
    expect(await findTemplate(join(folder, 'none'))).toBeNull();
  });

  it('took the place of a stale one, and is not built again while it is fresh', async () => {
    expect(await readdir(join(folder, 'built'))).toEqual([basename(built)]);
    const { mtimeMs } = await stat(built);
    expect(await buildDatabaseTemplate(join(folder, 'built'))).toBe(built);
    expect((await stat(built)).mtimeMs).toBe(mtimeMs);
  });
});

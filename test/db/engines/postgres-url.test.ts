import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/db/database.ts';
import { createTestDatabase, testEngine, type TestDatabase } from '../../support/database.ts';

describe.runIf(testEngine === 'postgres')('the address of a PostgreSQL server', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  async function locationOf(url: string, name = 'unused'): Promise<string> {
    const database = await openDatabase({ ...test.options, url, name });
    try {
      await database.ping();
      return database.location;
    } finally {
      await database.close();
    }
  }

  it('may leave the database to butler.db.name', async () => {
    const url = new URL(test.options.url ?? '');
    const name = url.pathname.slice(1);
    url.pathname = '';

    expect(await locationOf(url.toString(), name)).toBe(`postgres://${url.username}@${url.host}/${name}`);
  });

  it('may name the directory of a socket', async ({ skip }) => {
    const { rows } = await test.database.asOwner((client) =>
      client.query<{ folder: string; port: string; name: string; login: string }>(
        `SELECT split_part(current_setting('unix_socket_directories'), ',', 1) AS folder,
           current_setting('port') AS port, current_database() AS name, current_user AS login`,
      ),
    );
    const { folder = '', port, name, login } = rows[0] ?? {};
    skip(!existsSync(`${folder}/.s.PGSQL.${port}`), 'the server has no socket on this machine');

    const url = `postgres://${login}:secret@/${name}?host=${encodeURIComponent(folder)}&port=${port}`;
    expect(await locationOf(url)).toBe(`postgres://${login}@${folder}:${port}/${name}`);
  });
});

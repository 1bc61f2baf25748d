import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { packageManifest, packageRoot } from '../../src/shared/package-root.ts';
import { readMigrations } from '../../src/db/migrate.ts';
import { runCli, type CliResult } from '../support/cli-process.ts';
import { masterKey } from '../support/encryption.ts';
import { createServerHome, type ServerHome } from '../support/server-process.ts';

let home: ServerHome;

beforeAll(async () => {
  home = await createServerHome();
});
afterAll(() => home.remove());

const run = (command: string[], env: Record<string, string> = {}): Promise<CliResult> =>
  runCli(command, { env: { ...home.env, ...env }, workingDirectory: home.directory });

describe('butler-memory', () => {
  it('--version prints the version of the package', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${packageManifest.version}\n`, stderr: '' });
  });

  it.each([[['swerve']], [['serve', 'now']], [['serve', '--fast']]])('refuses %j', async (command) => {
    const { code, stdout, stderr } = await run(command);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: (unknown command 'swerve'|too many arguments for 'serve'|unknown option '--fast')/);
  });
});

describe('the flags of Node.js', () => {
  it('are the same for the program and for npm start', async () => {
    const program = await readFile(join(packageRoot, 'src', 'cli.ts'), 'utf8');
    const manifest = await readFile(join(packageRoot, 'package.json'), 'utf8');
    const { scripts } = JSON.parse(manifest) as { scripts: { start: string } };
    const flags = /^#!\/usr\/bin\/env -S node (--.*)\n/.exec(program)?.[1];

    expect(scripts.start).toContain(`node ${flags} dist/src/cli.js serve`);
  });
});

describe('butler-memory migrate', () => {
  it('brings a new database to this version, and does nothing the second time', async () => {
    const parent = await mkdtemp(join(inject('testRun').directory, 'migrate-'));
    const migrate = (): Promise<CliResult> => run(['migrate'], { DATABASE_URL: '', BUTLER_MEMORY_HOME: parent });
    const names = (await readMigrations()).map(({ name }) => name);
    const location = `pglite at ${join(parent, 'butler_memory')}`;

    expect(await migrate()).toEqual({
      code: 0,
      stdout: `${location}: created; ${names.length} migrations in all\n`,
      stderr: '',
    });
    expect(await migrate()).toEqual({
      code: 0,
      stdout: `${location}: nothing to do; ${names.length} migrations in all\n`,
      stderr: '',
    });
    await rm(parent, { recursive: true });
  });
});

describe('butler-memory verify', () => {
  it('finds nothing where all was written by the server, and names what was not', async () => {
    expect(await run(['verify'])).toEqual({ code: 0, stdout: 'no difference\n', stderr: '' });
    const id = '01a1e54f-fe14-734e-8641-0080c072e133';
    await home.query(`INSERT INTO rules (tenant_id, id, content, created_at) VALUES ('other', '${id}', 'x', now())`);
    const { code, stdout } = await run(['verify']);
    await home.query('DELETE FROM rules');

    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^other: rule ${id}: .*content.*\n1 differences in 1 tenants\n$`));
  });
});

describe('butler-memory verify --chain', () => {
  const insert = (id: string): string => `
    INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
    VALUES ('default', '${id}', 'tenant.noted', 'tenant', 'default', '2026-03-01T12:00:00Z', 'test', 'r', '{}')`;
  const [first, second] = ['01a1e54f-fe14-734e-8641-0080c072e134', '01a1e54f-fe14-734e-8641-0080c072e135'];
  const tamper = async (statement: string): Promise<void> => {
    await home.query('ALTER TABLE memory_events DISABLE TRIGGER USER');
    await home.query(statement);
    await home.query('ALTER TABLE memory_events ENABLE TRIGGER USER');
  };

  it('prints the head, finds nothing where all is sound, and names what is not', async () => {
    await home.query(insert(first));
    const head = await run(['verify', '--head', '--tenant', 'default']);
    expect(head).toMatchObject({ code: 0, stderr: '' });
    expect(head.stdout).toMatch(/^default 1:[0-9a-f]{64} 2026-03-01T12:00:00\.000Z\n$/);
    const kept = head.stdout.split(' ')[1] ?? '';
    const verify = (...options: string[]): Promise<CliResult> => run(['verify', '--tenant', 'default', ...options]);
    await home.query(insert(second));

    expect(await verify('--chain')).toEqual({ code: 0, stdout: 'no difference\n', stderr: '' });
    expect(await verify('--chain', '--since', kept)).toEqual({ code: 0, stdout: 'no difference\n', stderr: '' });
    expect(await verify('--chain', '--since', kept.replace('1:', '3:'))).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^default: other_head: position 3: .*\n1 differences in 1 tenants\n$/) as string,
    });

    await tamper(`UPDATE memory_events SET actor = 'somebody else' WHERE id = '${second}'`);
    const { code, stdout } = await verify('--chain');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^default: changed: position 2, event ${second}: .*\n1 differences in 1 tenants\n$`),
    );
  });

  it.each([
    [['--chain', '--at', '2026-03-01'], 'at must be given without --chain'],
    [['--head', '--chain'], 'head must be given alone'],
    [['--since', '12'], 'since must be a head as it was printed'],
  ])('refuses %j', async (options, message) => {
    const { code, stderr } = await run(['verify', '--tenant', 'default', ...options]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});

describe('butler-memory erase', () => {
  it('tells what is known and what it would take, takes it when it is confirmed, and leaves nothing of it', async () => {
    const id = '01a1e54f-fe14-734e-8641-0080c072e136';
    await home.query(
      `INSERT INTO facts (tenant_id, id, subject, predicate, content, created_at, recorded_at)
       VALUES ('erased', '${id}', 'Ada Lovelace', 'likes', 'tea', now(), now())`,
    );
    await home.query(
      `INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
       SELECT 'erased', gen_random_uuid(), 'fact.stored', 'fact', id, created_at, 'test', 'r',
         jsonb_build_object('before', null, 'after', to_jsonb(f)) FROM facts f WHERE id = '${id}'`,
    );
    const erase = (...options: string[]): Promise<CliResult> => run(['erase', '--tenant', 'erased', ...options]);

    const exported = await run(['export', '--tenant', 'erased', '--subject', 'ada-lovelace']);
    expect(JSON.parse(exported.stdout)).toMatchObject({
      subject: 'ada-lovelace',
      tenant: 'erased',
      memories: [
        { relation: 'about', type: 'fact', memory: { id, content: 'tea' }, events: [{ eventType: 'fact.stored' }] },
      ],
    });
    const output = join(home.directory, 'ada.json');
    const exportToFile = (): Promise<CliResult> =>
      run(['export', '--tenant', 'erased', '--subject', 'ada-lovelace', '--output', output]);
    expect(await exportToFile()).toEqual({ code: 0, stdout: '', stderr: '' });
    const written = await readFile(output, 'utf8');
    expect(await exportToFile()).toEqual({
      code: 1,
      stdout: '',
      stderr: `butler-memory: output must be a file that is not there yet (got ${output}, which is there) (Nothing was written. Name another file, or move that one away.)\n`,
    });
    expect(await readFile(output, 'utf8')).toBe(written);
    const dry = await erase('--subject', 'ada-lovelace', '--dry-run');
    expect(dry.stdout).toMatch(
      new RegExp(
        `^would erase fact/${id}\nwould touch: memories 1, events 1, links 0, applications 0, receipts 0, idempotencyKeys 0, runs 0\n` +
          '1 memories; nothing was changed; confirmation [0-9a-f]{16}\n$',
      ),
    );
    await erase('--memory', `fact/${id}`);
    expect((await run(['export', '--tenant', 'erased', '--subject', 'Ada Lovelace'])).code).toBe(0);
    const records = await home.query(
      `SELECT kind, actor, operations, ids, digest FROM access_records WHERE tenant_id = 'erased' ORDER BY accessed_at, id`,
    );
    const record = (operation: string, ids: string[] = []): object => ({
      kind: 'read',
      actor: 'command line',
      operations: [operation],
      ids,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(records, 'each read is written down, and what was erased is an event').toEqual([
      record('exportSubject'),
      record('exportSubject'),
      record('exportSubject'),
      record('erasurePlan'),
      record('erasurePlan', [id]),
      record('exportSubject'),
    ]);
    expect(new Set(records.map((read) => read['digest'])).size).toBe(4);
    const confirmation = dry.stdout.trim().split(' ').at(-1) ?? '';
    const done = await erase('--subject', 'Ada Lovelace', '--confirm', confirmation);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toMatch(new RegExp(`^erased fact/${id}\nerasure [0-9a-f-]{36}: memories 1, .*events 1`));
    expect(await run(['verify', '--chain', '--tenant', 'erased'])).toMatchObject({
      code: 0,
      stdout: 'no difference\n',
    });
  });
});

describe('butler-memory export', () => {
  it('of a tenant that is not there is refused, and makes none', async () => {
    const { code, stdout } = await run(['export', '--tenant', 'mistyped', '--subject', 'Ada Lovelace']);
    expect([code, stdout]).toEqual([1, '']);
    expect(await home.query(`SELECT * FROM memory_tenants() AS tenant WHERE tenant = 'mistyped'`)).toEqual([]);
  });
});

describe('butler-memory job', () => {
  it('lists the jobs with their schedules', async () => {
    const { code, stdout } = await run(['job']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^consolidate {10}0 \*\/6 \* \* \* +Run memory consolidation$/m);
    expect(stdout).toMatch(/^decay-sweep {10}0 3 \* \* \* +Run confidence decay sweep/m);
  });

  it('tells what it would do, does it, and has nothing left to do', async () => {
    await home.query(
      `INSERT INTO context_receipts (tenant_id, id, kind, query, configuration_digest, created_at, expires_at)
       VALUES ('here', gen_random_uuid(), 'recall', 'tea', 'x', now() - interval '2 days', now() - interval '1 day')`,
    );
    await home.query(
      `INSERT INTO facts (tenant_id, id, subject, predicate, content, created_at, recorded_at)
       VALUES ('here', gen_random_uuid(), 'user', 'likes', 'tea', now(), now())`,
    );
    const purge = (...options: string[]): Promise<CliResult> =>
      run(['job', 'purge-receipts', '--tenant', 'here', ...options]);
    const line = (verb: string, receipts: number): string =>
      `here: purge-receipts ${verb}: receipts ${receipts}, idempotencyKeys 0, jobRuns 0, accessRecords 0, consolidationRuns 0\n`;

    expect(await purge('--dry-run')).toEqual({ code: 0, stdout: line('would do', 1), stderr: '' });
    const done = await purge();
    expect({ ...done, stdout: sorted(done.stdout) }).toEqual({ code: 0, stdout: sorted(line('did', 1)), stderr: '' });
    expect(sorted((await purge()).stdout)).toBe(sorted(line('did', 0)));
    for (const table of ['facts', 'job_runs']) await home.query(`DELETE FROM ${table}`);
  });

  it.each([
    [['job', 'tidy'], /name must be one of consolidate, .* \(got "tidy"/],
    [['job', 'decay-sweep', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
    [
      ['job', 'maintain-storage', '--tenant', 'nobody'],
      /tenant must be left out with maintain-storage.* \(got "nobody"/,
    ],
    [['verify', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
    [['verify', '--chain', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
    [['verify', '--head', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
    [['export', '--subject', 'Ada', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
    [['erase', '--subject', 'Ada', '--tenant', 'nobody'], /tenant must be .* \(got "nobody"/],
  ])('refuses %j', async (command, message) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

/** The database keeps the counts in an order of its own. */
const sorted = (line: string): string =>
  line.replace(/: (\w+ \d.*)\n/, (_, counts: string) => `: ${counts.split(', ').toSorted().join(', ')}\n`);

describe('butler-memory token', () => {
  it('creates, lists, rotates and revokes, and tells a token only when it is made', async () => {
    const created = await run([
      'token',
      'create',
      '--tenant',
      'house',
      '--role',
      'butler',
      '--butler',
      'home',
      '--expires',
      '30d',
    ]);
    const [token = '', about = ''] = created.stdout.split('\n');
    expect(token).toMatch(/^bmt_[\w-]{43}$/);
    expect(about).toMatch(/^[\w-]{36} {2}token: tenant house, butler home, until \d{4}-/);
    const [id = ''] = about.split(' ');

    expect((await run(['token', 'list'])).stdout).toBe(`${about}\n`);
    const rotated = await run(['token', 'rotate', id, '--tenant', 'house']);
    const [fresh = '', freshAbout = ''] = rotated.stdout.split('\n');
    expect(fresh).toMatch(/^bmt_/);
    expect(fresh).not.toBe(token);
    const revoked = await run(['token', 'revoke', freshAbout.split(' ')[0] ?? '', '--tenant', 'house']);
    expect(revoked.stdout).toMatch(/token: tenant house, butler home, revoked \d{4}-/);
    expect((await run(['token', 'list', '--tenant', 'house'])).stdout.match(/revoked/g)).toHaveLength(2);
    await home.query('DELETE FROM api_tokens');
  });

  it('creates one for a viewer, which needs no butler', async () => {
    const { stdout } = await run(['token', 'create', '--tenant', 'house', '--role', 'viewer', '--name', 'dashboard']);
    expect(stdout).toMatch(/^bmt_[\w-]{43}\n[\w-]{36} {2}dashboard: tenant house, viewer\n$/);
    await home.query('DELETE FROM api_tokens');
  });

  it.each([
    [['token', 'create', '--role', 'king'], 'role must be one of viewer, butler, operator, admin (got "king")'],
    [
      ['token', 'create', '--role', 'admin', '--expires', 'soon'],
      'expires must be a date, or a time from now such as 30d or 12h (got "soon")',
    ],
    [
      ['token', 'revoke', '01a1e54f-fe14-734e-8641-0080c072e133'],
      'token 01a1e54f-fe14-734e-8641-0080c072e133 is not there',
    ],
  ])('refuses %j', async (command, message) => {
    const { code, stdout, stderr } = await run(command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });
});

/** The first lines of its sections. */
const sectionsOf = (stdout: string): string[] => stdout.match(/^(ok {2}|FAIL) .*$/gm) ?? [];

describe('butler-memory doctor', () => {
  it('finds nothing wrong with a healthy set-up', async () => {
    const { code, stdout, stderr } = await run(['doctor']);

    expect(sectionsOf(stdout)).toEqual([
      'ok   versions',
      'ok   configuration',
      'ok   disk',
      'ok   model',
      'ok   encryption',
      'ok   database',
      'ok   migrations',
      'ok   indexes',
      'ok   embedding versions',
      'ok   data keys',
    ]);
    expect(stdout).toContain(`butler-memory ${packageManifest.version}`);
    expect(stdout).toContain('BUTLER_MEMORY_HOME');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('tells what is broken, all the rest as well, and no password', async () => {
    const url = 'postgres://someone:s3cret@127.0.0.1:9/memory?sslpassword=s3cret2';
    const { code, stdout, stderr } = await run(['doctor'], { DATABASE_URL: url, MIGRATION_DATABASE_URL: url });

    expect(sectionsOf(stdout)).toEqual([
      'ok   versions',
      'ok   configuration',
      'ok   disk',
      'ok   model',
      'ok   encryption',
      'FAIL database',
    ]);
    expect(stdout).toMatch(/FAIL database\n +database postgres:\/\/someone@127\.0\.0\.1:9\/memory cannot be reached: /);
    expect(stdout).toContain('postgres://someone:***@127.0.0.1:9/memory');
    expect(stdout + stderr).not.toContain('s3cret');
    expect(code).toBe(1);
  });

  it('and every start say that the master key is not that of the data, and show no key', async () => {
    const encrypted = await createServerHome();
    await encrypted.query(`
      INSERT INTO data_keys VALUES ('here', gen_random_uuid(), decode(repeat('00', 61), 'hex'), 'another', 'active', now())`);
    const env = { ...encrypted.env, BUTLER_MEMORY_MASTER_KEY: masterKey(9) };
    const refusal = 'of id another (1 data keys) (got a key of id ';
    const { code, stdout, stderr } = await run(['doctor'], env);
    expect(stdout).toMatch(/ok {3}encryption\n +no predicate is encrypted\n +master key [0-9a-f]{16}\n/);
    expect(stdout).toContain(`FAIL data keys\n`);
    expect(stdout).toContain(refusal);
    expect(stdout + stderr).not.toContain(masterKey(9));
    expect(code).toBe(1);

    const start = await run(['verify'], env);
    expect(start).toMatchObject({ code: 1, stdout: '' });
    expect(start.stderr).toContain(refusal);
    expect(start.stderr.trim().split('\n')).toHaveLength(1);
    expect((await run(['job', 'rotate-keys'], encrypted.env)).stderr).toContain('(got none)');
    await encrypted.remove();
  });

  it('finds a migration that is missing, an index that is not valid and vectors of another model', async () => {
    const broken = await createServerHome();
    const [{ name } = { name: '' }] = (await readMigrations()).slice(-1);
    await broken.query(`
      DELETE FROM _prisma_migrations WHERE migration_name = '${name}';
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'episodes_pkey'::regclass;
      INSERT INTO embedding_versions (tenant_id, id, provider, model, dtype, digest, dimensions, slot, status, created_at)
      VALUES ('here', gen_random_uuid(), 'hashing', 'older', 'fp32', repeat('0', 64), 384, 'primary', 'active', now());
      INSERT INTO rules (tenant_id, id, content, created_at) VALUES ('here', gen_random_uuid(), 'x', now())`);
    const { code, stdout } = await run(['doctor'], { ...broken.env });
    await broken.remove();

    expect(stdout).toMatch(new RegExp(`FAIL migrations\\n +not applied: ${name}\\n`));
    expect(stdout).toMatch(/FAIL indexes\n +invalid: episodes_pkey; rebuild with REINDEX\n/);
    expect(stdout).toMatch(/FAIL embedding versions\n +vectors are of hashing older .*: re-embedding has not begun/);
    expect(code).toBe(1);
  });
});

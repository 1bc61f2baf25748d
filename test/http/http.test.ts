import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import { readMigrations } from '../../src/db/migrate.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';

let testApp: TestApp;

beforeAll(async () => {
  testApp = await createTestApp();
  await installQueue(testApp.core.db);
});
afterAll(() => testApp.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  testApp.app.fetch(new Request(`http://localhost${path}`, { headers }));

describe('/healthz', () => {
  it('says that the process is alive, whatever else is not ready', async () => {
    const response = await get('/healthz');

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });
});

describe('/readyz', () => {
  it('is 503 and names each check until everything has started, then 200', async () => {
    const early = await get('/readyz');
    expect(early.status).toBe(503);
    expect(await early.json()).toMatchObject({
      status: 'starting',
      engine: testApp.core.db.engine,
      checks: [
        { name: 'database', status: 'ok', detail: null },
        { name: 'migrations', status: 'ok', detail: null },
        { name: 'model' },
        { name: 'queue', status: 'starting', detail: 'not started yet' },
        { name: 'schedules', status: 'starting', detail: 'not started yet' },
      ],
    });

    await testApp.app.start();

    const late = await get('/readyz');
    expect(late.status).toBe(200);
    expect(await late.json()).toMatchObject({
      status: 'ok',
      checks: ['database', 'migrations', 'model', 'queue', 'schedules'].map((name) => ({
        name,
        status: 'ok',
        detail: null,
      })),
    });
  });

  it('is 503 and names what failed', async () => {
    const broken = await createTestApp();
    const [{ name } = { name: '' }] = (await readMigrations()).slice(-1);
    await broken.core.db.asOwner((client) =>
      client.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [name]),
    );

    const response = await broken.app.fetch(new Request('http://localhost/readyz'));
    const health = (await response.json()) as { status: string; checks: object[] };
    await broken.close();

    expect(response.status).toBe(503);
    expect(health.status).toBe('failed');
    expect(health.checks).toContainEqual({ name: 'migrations', status: 'failed', detail: `not applied: ${name}` });
  });
});

describe('readiness and health', () => {
  it('look at the parts once a second, however many ask', async () => {
    const pings = vi.spyOn(testApp.core.db, 'ping');
    const passMs = (ms: number): void => void (testApp.clock.now = new Date(testApp.clock.now.getTime() + ms));
    const askAll = async (): Promise<number> => {
      const asked = [...Array.from({ length: 9 }, () => '/readyz'), '/graphql?query={health{status}}'];
      const statuses = await Promise.all(asked.map(async (path) => (await get(path)).status));
      expect(new Set(statuses).size, 'all are told the same').toBe(1);
      return pings.mock.calls.length;
    };

    passMs(1000);
    expect(await askAll()).toBe(1);
    expect(await askAll()).toBe(1);
    passMs(999);
    expect(await askAll()).toBe(1);
    passMs(1);
    expect(await askAll()).toBe(2);
    passMs(-60_000);
    expect(await askAll()).toBe(3);
    pings.mockRestore();
  });

  it('tell of a part that broke after they were asked', async () => {
    testApp.clock.now = new Date(testApp.clock.now.getTime() + 1000);
    expect((await get('/readyz')).status).toBe(200);
    const ping = vi.spyOn(testApp.core.db, 'ping').mockRejectedValue(new Error('gone'));
    testApp.clock.now = new Date(testApp.clock.now.getTime() + 1000);
    const response = await get('/readyz');
    ping.mockRestore();

    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      checks: [{ name: 'database', status: 'failed', detail: 'gone' }, {}, {}, {}, {}],
    });
  });
});

describe('the landing page', () => {
  it('links the places of the server', async () => {
    const response = await get('/');
    const html = await response.text();

    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const path of ['/graphql', '/mcp', '/healthz', '/readyz']) expect(html).toContain(`<a href="${path}">`);
  });

  it('shows a configured description as text, never as markup', async () => {
    const config = testConfig();
    const description = `<script>alert("x")</script> & 'more'`;
    const hostile = await createTestApp({ ...config, butler: { ...config.butler, description, name: '<b>' } });
    const html = await (await hostile.app.fetch(new Request('http://localhost/'))).text();
    await hostile.close();

    expect(html).toContain('&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62; &#38; &#39;more&#39;');
    expect(html).not.toMatch(/<script|<b>/);
  });
});

describe('a path where nothing is', () => {
  it('answers 404 as JSON', async () => {
    const response = await get('/nowhere');

    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({ error: { code: 'NOT_FOUND', message: 'nothing is at /nowhere' } });
  });

  it.each(['/GraphQL', '/graphql/', '//mcp', '/healthz/..%2f..'])('is also %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

describe('x-request-id', () => {
  it.each(['7', 'trace-1.2:3_4', 'a'.repeat(128)])('is kept when a caller gives a sane one', async (id) => {
    const response = await get('/healthz', { 'x-request-id': id });

    expect(response.headers.get('x-request-id')).toBe(id);
  });

  it.each<[string, Record<string, string>]>([
    ['none', {}],
    ['an empty one', { 'x-request-id': '' }],
    ['one of 129 characters', { 'x-request-id': 'a'.repeat(129) }],
    ['one of 10 kB', { 'x-request-id': 'a'.repeat(10_000) }],
    ['one with a quote', { 'x-request-id': '","level":"fatal' }],
    ['one with a blank', { 'x-request-id': 'a b' }],
    ['one that is not ASCII', { 'x-request-id': '\u00e9' }],
  ])('is replaced by a UUID when a caller gives %s', async (_, headers) => {
    const response = await get('/healthz', headers);

    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  });

  it('is on every answer: of GraphQL, of MCP and of what is not there', async () => {
    for (const path of ['/graphql', '/mcp', '/nowhere', '/']) {
      const response = await get(path, { 'x-request-id': `id-of${path}`.replace('/', '.') });
      expect(response.headers.get('x-request-id')).toBe(`id-of${path}`.replace('/', '.'));
    }
  });
});

describe('/metrics', () => {
  it('tells of requests by path, without names that a caller made up, and of every schedule', async () => {
    await get('/healthz');
    await get('/made/up/by/someone');
    const response = await get('/metrics');
    const text = await response.text();

    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain(
      'butler_memory_http_request_duration_seconds_count{method="GET",path="/healthz",status="200"}',
    );
    expect(text).toContain('butler_memory_http_request_duration_seconds_count{method="GET",path="other",status="404"}');
    expect(text).not.toContain('made');
    expect(text).toContain('butler_memory_schedules_known 1');
    expect(text).toContain('butler_memory_schedule_status{job="decay-sweep",status="waiting"} 1');
    expect(text).toContain('butler_memory_schedule_status{job="decay-sweep",status="missed"} 0');
  });
});

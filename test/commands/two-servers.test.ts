import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli-process.ts';
import { testEngine } from '../support/database.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import {
  createServerHome,
  startServerProcess,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

let home: ServerHome;
let server: ServerProcess;

beforeAll(async () => {
  home = await createServerHome();
  server = await startServerProcess({ home });
  await server.logged('ready');
});
afterAll(async () => {
  await server.stop();
  await home.remove();
});

const store =
  'mutation { storeEpisode(input: { content: "a", butler: "b" }) { ... on StoreEpisodePayload { episode { uuid } } } }';

describe.runIf(testEngine === 'pglite')('a second process on the directory of a running server', () => {
  it.each([
    ['serve', ['starting']],
    ['mcp', []],
    ['migrate', []],
  ])('is refused with the pid of the first: %s', async (command, logged) => {
    const { code, stdout, stderr } = await runCli([command], { env: home.env });

    expect(code).toBe(1);
    const lines = stdout.split('\n').filter((line) => line !== '');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(logged);
    expect(stderr).toMatch(new RegExp(`is in use by process ${server.pid} \\(butler-memory\\)`));
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is told by doctor which process it is', async () => {
    const { code, stdout } = await runCli(['doctor'], { env: home.env });

    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`FAIL database\\n +data directory .* in use by process ${server.pid} `));
  });

  it('does the first no harm', async () => {
    const { data } = await requestGraphQL(fetch, server.url, store);

    expect(data).toMatchObject({ storeEpisode: { episode: { uuid: expect.any(String) as string } } });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

describe.runIf(testEngine === 'postgres')('a second server on one PostgreSQL database', () => {
  it('serves what the first stored', async () => {
    const second = await startServerProcess({ home });
    const stored = await requestGraphQL<{ storeEpisode: { episode: { uuid: string } } }>(fetch, server.url, store);
    const { uuid } = stored.data.storeEpisode.episode;
    const found = await requestGraphQL(fetch, second.url, `{ episode(id: "${uuid}") { uuid } }`);

    expect(found.data).toEqual({ episode: { uuid } });
    expect(await second.stop()).toBe(0);
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { drill } from '../support/drill.ts';
import { runCli } from '../support/cli-process.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import {
  createServerHome,
  startServerProcess,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

const crashes = drill({ sample: 3, all: 20 });
const writers = 4;

let home: ServerHome;

beforeAll(async () => {
  home = await createServerHome();
});
afterAll(() => home.remove());

const store =
  'mutation ($content: String!) { storeEpisode(input: { content: $content, butler: "b" }) { ... on StoreEpisodePayload { episode { id } } } }';

/** Writes from several clients at once; kills the server at the nth acknowledgement, when other writes are under way. */
async function crashUnderLoad(server: ServerProcess, killAt: number): Promise<string[]> {
  const acknowledged: string[] = [];
  const write = async (): Promise<void> => {
    for (;;) {
      const content = `episode ${acknowledged.length}`;
      const answer = await requestGraphQL<{ storeEpisode: { episode: { id: string } } }>(fetch, server.url, store, {
        content,
      });
      expect(answer.errors).toBeUndefined();
      acknowledged.push(answer.data.storeEpisode.episode.id);
      if (acknowledged.length === killAt) server.signal('SIGKILL');
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: writers }, write));
  // Only the crash may end a writer.
  for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'TypeError' } });
  await server.ended;
  return acknowledged;
}

async function findMissing(server: ServerProcess, ids: readonly string[]): Promise<string[]> {
  const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const { data } = await requestGraphQL<{ nodes: ({ id: string } | null)[] }>(fetch, server.url, query, { ids });
  const found = new Set(data.nodes.map((node) => node?.id));
  return ids.filter((id) => !found.has(id));
}

async function startCleanly(): Promise<ServerProcess> {
  const server = await startServerProcess({ home });
  await server.logged('ready');
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  return server;
}

function expectNoTrouble(server: ServerProcess): void {
  expect(server.errors()).toBe('');
  expect(server.logs().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
}

it(`loses nothing that it acknowledged in ${crashes} crashes under load`, async () => {
  const acknowledged: string[] = [];
  for (let crash = 0; crash < crashes; crash++) {
    const server = await startCleanly();
    expect(await findMissing(server, acknowledged)).toEqual([]);
    acknowledged.push(...(await crashUnderLoad(server, 1 + (crash % 7))));
    expectNoTrouble(server);
  }

  const server = await startCleanly();
  expect(await findMissing(server, acknowledged)).toEqual([]);
  expect(await server.stop()).toBe(0);
  expectNoTrouble(server);
  // Nor is anything half there: each episode has its event, and each event its episode.
  const halves = await home.query(`
    SELECT e.id AS episode, v.id AS event FROM episodes e
    FULL JOIN (SELECT * FROM memory_events WHERE entity_type = 'episode') v ON v.entity_id = e.id::text
    WHERE e.id IS NULL OR v.id IS NULL`);
  expect(halves).toEqual([]);
  const verified = await runCli(['verify'], { env: home.env, workingDirectory: home.directory });
  expect(verified).toMatchObject({ code: 0, stdout: 'no difference\n' });
});

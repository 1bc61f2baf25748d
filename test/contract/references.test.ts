import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepCapacity } from '../../src/lifecycle/eviction.ts';
import { sweepPromotions } from '../../src/lifecycle/promotion.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import type { StoredFact } from '../../src/db/stored-fact.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { requestGraphQL } from '../support/graphql-request.ts';
import { connectMcp, type TestClient } from '../support/mcp-client.ts';
import { storeFact } from '../support/writes.ts';

/**
 * What counts as a reference differs by door, so this is not stated through every door alike: an agent reads through MCP, and
 * whoever reads through GraphQL says whether an agent does.
 */

let testApp: TestApp;
let client: TestClient;
let fact: Fact;
let word: string;
let facts = 0;
let start: Date;

beforeAll(async () => {
  const config = testConfig();
  const { memory } = config;
  const mid = { ...memory.mid, promoteAfterRefs: 6 };
  testApp = await createTestApp({ ...config, memory: { ...memory, mid } });
  client = await connectMcp(testApp.app);
  start = testApp.clock.now;
});
afterAll(async () => {
  await client.close();
  await testApp.close();
});

const context = (): MemoryContext => testApp.app.createContext().memory;

beforeEach(async () => {
  testApp.clock.now = start;
  word = `barometer${++facts}`;
  fact = await storeFact(context(), {
    subject: 'user',
    predicate: word,
    content: `owns a ${word}`,
    sourceButler: word,
    importance: 4,
  });
});

const onDay = (day: number): void => {
  testApp.clock.now = new Date(start.getTime() + day * 86_400_000);
};
const written = async (): Promise<StoredFact> => {
  await testApp.app.createContext().references.flush();
  return testApp.core.db.forTenant('default').client.fact.findFirstOrThrow({ where: { id: fact.id } });
};
const promotedOnDay = async (day: number): Promise<boolean> => {
  await written();
  onDay(day);
  await sweepPromotions(context(), { dryRun: false });
  return (await written()).permanence === 'stable';
};
const byTool = async (name: string, given: Record<string, unknown>): Promise<void> => {
  expect(await client.call(name, given)).toMatchObject({ isError: false });
};
const byQuery = async (query: string): Promise<void> => {
  const fetch = (request: Request): Promise<Response> => testApp.app.fetch(request);
  const { errors } = await requestGraphQL(fetch, 'http://localhost', query);
  expect(errors).toBeUndefined();
};

/** Each way to read a fact, by a tool and by a query whose last argument is whether it counts. */
const reads: Record<
  string,
  { tool: (more: object) => Promise<void>; query: (more: string, counting: string) => Promise<void> }
> = {
  search: {
    tool: (more) => byTool('memory_search', { query: word, mode: 'keyword', ...more }),
    query: (more, counting) =>
      byQuery(`{ search(input: { query: "${word}", mode: keyword ${more} } ${counting}) { candidates } }`),
  },
  recall: {
    tool: (more) => byTool('memory_recall', { topic: word, ...more }),
    query: (more, counting) => byQuery(`{ recall(input: { topic: "${word}" ${more} } ${counting}) { candidates } }`),
  },
  get: {
    tool: (more) => byTool('memory_get', { type: 'fact', id: fact.id, ...more }),
    query: (more, counting) => byQuery(`{ memory(type: fact, id: "${fact.id}" ${more} ${counting}) { uuid } }`),
  },
};
const ways = Object.keys(reads);
const readBy = (way: string): (typeof reads)[string] => reads[way] as (typeof reads)[string];

describe('an agent that reads through MCP', () => {
  it.each(ways)('counts a reference of what it finds, which promotes it: %s', async (way) => {
    for (const day of [0, 0, 0, 1, 1, 1]) {
      onDay(day);
      await readBy(way).tool({});
    }
    expect(await written()).toMatchObject({
      referenceCount: 6,
      lastReferencedAt: testApp.clock.now,
      lastShownAt: null,
    });
    expect((await written()).referenceSessions).toHaveLength(2);
    expect(await promotedOnDay(7)).toBe(true);
    expect(await findDifferences(context())).toEqual([]);
  });

  it.each(ways)('on one day without a session is one session, which promotes nothing: %s', async (way) => {
    for (let read = 0; read < 8; read += 1) await readBy(way).tool({});
    expect(await written()).toMatchObject({ referenceCount: 8 });
    expect(await promotedOnDay(30)).toBe(false);
  });

  it.each(ways)('is as many sessions as it names, whatever the day: %s', async (way) => {
    const [first, second] = [randomUUID(), randomUUID()];
    for (const day of [0, 1, 2, 3, 4, 5]) {
      onDay(day);
      await readBy(way).tool({ session_id: first });
    }
    expect(await promotedOnDay(7)).toBe(false);
    await readBy(way).tool({ session_id: second });
    expect(await promotedOnDay(8)).toBe(true);
  });

  it('counts a resource that it reads', async () => {
    await client.readResource({ uri: `memory://fact/${fact.id}` });
    expect(await written()).toMatchObject({ referenceCount: 1 });
  });

  it('is refused a session that is no UUID, and counts nothing by it', async () => {
    const given = { session_id: 'first' };
    const refused = { isError: true, text: expect.stringContaining('session_id') as string };
    expect(await client.call('memory_search', { query: word, ...given })).toMatchObject(refused);
    expect(await client.call('memory_recall', { topic: word, ...given })).toMatchObject(refused);
    expect(await client.call('memory_get', { type: 'fact', id: fact.id, ...given })).toMatchObject(refused);
    expect(await written()).toMatchObject({ referenceCount: 0 });
  });
});

describe('a caller of GraphQL', () => {
  it.each(ways)('that asks for it counts a reference of what it finds, which promotes it: %s', async (way) => {
    for (const day of [0, 0, 0, 1, 1, 1]) {
      onDay(day);
      await readBy(way).query('', 'countReference: true');
    }
    expect(await written()).toMatchObject({ referenceCount: 6, lastReferencedAt: testApp.clock.now });
    expect(await promotedOnDay(7)).toBe(true);
  });

  it('names its session', async () => {
    for (const [index, way] of [...ways, ...ways].entries()) {
      const session = index < 3 ? '01890000-0000-7000-8000-000000000001' : '01890000-0000-7000-8000-000000000002';
      await readBy(way).query(`sessionId: "${session}"`, 'countReference: true');
    }
    expect(await promotedOnDay(7)).toBe(true);
  });

  it('that batches counts by the same argument', async () => {
    const counting = 'countReference: true';
    await byQuery(`{ searchBatch(inputs: [{ query: "${word}", mode: keyword }]) { __typename } }`);
    await byQuery(`{ recallBatch(inputs: [{ topic: "${word}" }]) { __typename } }`);
    expect(await written()).toMatchObject({ referenceCount: 0 });
    await byQuery(`{ searchBatch(inputs: [{ query: "${word}", mode: keyword }] ${counting}) { __typename } }`);
    await byQuery(`{ recallBatch(inputs: [{ topic: "${word}" }] ${counting}) { __typename } }`);
    expect(await written()).toMatchObject({ referenceCount: 2 });
  });

  it.each(['', 'countReference: false'])('that only looks changes nothing of the memory (%s)', async (counting) => {
    const before = await written();
    for (const day of [0, 1, 2, 3, 4, 5, 6]) {
      onDay(day);
      for (const way of ways) await readBy(way).query('', counting);
      await byQuery(
        `{ context(input: { triggerPrompt: "${word}", butler: "${word}" } ${counting}) { text } facts(filter: { subject: "user" }) { totalCount } }`,
      );
      await byQuery(
        `{ contextBatch(requests: [{ triggerPrompt: "${word}", butler: "${word}" }] ${counting}) { __typename } }`,
      );
    }
    expect(await written()).toEqual(before);
    expect(await promotedOnDay(7)).toBe(false);
  });
});

describe('a context', () => {
  const shownBy: Record<string, () => Promise<void>> = {
    memory_context: () => byTool('memory_context', { trigger_prompt: word, butler: word }),
    memory_context_batch: () => byTool('memory_context_batch', { requests: [{ trigger_prompt: word, butler: word }] }),
    'GraphQL that asks for it': () =>
      byQuery(`{ context(input: { triggerPrompt: "${word}", butler: "${word}" } countReference: true) { text } }`),
  };

  it.each(Object.keys(shownBy))(
    'protects what it shows from eviction and counts for nothing else: %s',
    async (door) => {
      const show = shownBy[door] as () => Promise<void>;
      for (const day of [1, 2, 3, 4, 5, 6]) {
        onDay(day);
        await show();
      }
      expect(await written()).toMatchObject({
        referenceCount: 0,
        lastReferencedAt: null,
        referenceSessions: [],
        lastShownAt: testApp.clock.now,
      });
      expect(await promotedOnDay(30)).toBe(false);

      // A younger fact of the same butler, and room for one of the two.
      onDay(0.5);
      const younger = await storeFact(context(), {
        subject: 'guest',
        predicate: word,
        content: 'sails',
        sourceButler: word,
        importance: 4,
      });
      onDay(31);
      const { config } = context();
      const mid = { ...config.memory.mid, maxEntries: 1 };
      await sweepCapacity(
        { ...context(), config: { ...config, memory: { ...config.memory, mid } } },
        { dryRun: false },
      );
      const { validity } = await testApp.core.db
        .forTenant('default')
        .client.fact.findFirstOrThrow({ where: { id: younger.id } });
      expect({ shown: (await written()).validity, younger: validity }).toEqual({ shown: 'active', younger: 'expired' });
    },
  );
});

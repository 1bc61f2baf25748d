import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const key = { idempotencyKey: 'once' };
const writes: [string, (context: MemoryContext) => Promise<{ id: string }>][] = [
  ['episode', (context) => storeEpisode(context, { butler: 'home', content: 'tea', ...key })],
  ['fact', (context) => storeFact(context, { subject: 'user', predicate: 'drinks', content: 'tea', ...key })],
  ['rule', (context) => storeRule(context, { content: 'Serve tea', ...key })],
];

it.each(writes)('a %s that is sent again with its key is not embedded again', async (tenantId, write) => {
  let embedded = 0;
  const plain = core.context({ tenantId });
  const { embedder } = plain;
  const findFor: typeof embedder.findFor = async (model) =>
    (await embedder.findFor(model)) === null ? null : counting;
  const counting: typeof embedder = {
    model: embedder.model,
    load: () => embedder.load(),
    status: () => embedder.status(),
    embed: (texts) => ((embedded += texts.length), embedder.embed(texts)),
    embedQuery: (text) => embedder.embedQuery(text),
    findFor,
    close: () => embedder.close(),
  };
  const context = { ...plain, embedder: counting };
  const first = await write(context);
  expect(embedded).toBe(1);

  expect((await write(context)).id).toBe(first.id);
  expect(embedded).toBe(1);
});

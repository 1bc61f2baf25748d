import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { embedderOptions } from '../../src/create-memory.ts';
import { memoryTables, memoryTypes } from '../../src/db/tables.ts';
import { alignVectorDimensions } from '../../src/db/vector-dimensions.ts';
import { createEmbedder } from '../../src/embedding/create-embedder.ts';
import { modelKey, type Embedder } from '../../src/embedding/embedder.ts';
import { Prisma, type EmbeddingVersion } from '../../src/generated/prisma/client.ts';
import { listVersionProgress } from '../../src/lifecycle/embedding-progress.ts';
import { sweepEmbeddings, type ReembedOptions } from '../../src/lifecycle/reembed.ts';
import { insertMemories, type NewMemory } from '../../src/db/queries/memories.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { embedOne, vectorsOfOne } from '../../src/memory/embed.ts';
import { createMutation } from '../../src/memory/mutation.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { asStored } from '../../src/redaction/redactor.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { createTestDatabase, testEngine } from '../support/database.ts';
import { killChild, startTypescript } from '../support/run-typescript.ts';
import type { ReembedChildInput } from '../support/reembed-child.ts';
import { editRule, forgetMemory, ingestEpisodes, storeEpisode, storeFact, storeRule } from '../support/writes.ts';

/** Both providers are real: what differs between two models is all that re-embedding has to cope with. */
const otherDimensions = 64;

/** Where a second real model is, Xenova/gte-small: the package has only one. */
const modelsDirectory = process.env['TEST_MODELS_DIRECTORY'];

let core: TestCore;
let small: Embedder;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
  small = await createEmbedder({ ...embedderOptions(core.config, core.logger), dimensions: otherDimensions });
  await makeRoomFor(small);
});
afterAll(async () => {
  await small.close();
  await core.close();
});
beforeEach(() => {
  core.clock.now = core.start;
  tenants += 1;
  tenantId = `tenant-${tenants}`;
});

/** As a process with that model would have it; with the old one when none is named. */
function contextWith(embedder: Embedder = core.embedder): MemoryContext {
  return { ...core.context({ tenantId }), embedder };
}

/** What a restart with that model in the configuration does to a database with vectors of 384 dimensions in use. */
async function makeRoomFor({ model }: Embedder): Promise<void> {
  await storeEpisode(core.context({ tenantId: 'the first' }), { butler, content: 'keeps the primary slot' });
  await alignVectorDimensions(core.db, model.dimensions);
}

function wrap(embedder: Embedder, changes: Partial<Embedder>): Embedder {
  const wrapped: Embedder = {
    model: embedder.model,
    load: () => embedder.load(),
    status: () => embedder.status(),
    embed: (texts) => embedder.embed(texts),
    embedQuery: (text) => embedder.embedQuery(text),
    findFor: async (model) => (modelKey(model) === modelKey(embedder.model) ? wrapped : embedder.findFor(model)),
    close: () => embedder.close(),
    ...changes,
  };
  return wrapped;
}

/** Of a process that has the files of its own model and no other. */
function alone(embedder: Embedder): Embedder {
  const single = wrap(embedder, {});
  single.findFor = async (model) => (modelKey(model) === modelKey(embedder.model) ? single : null);
  return single;
}

function sweep(embedder: Embedder, options: Partial<ReembedOptions> = {}): ReturnType<typeof sweepEmbeddings> {
  return sweepEmbeddings(contextWith(embedder), { dryRun: false, ...options });
}

const nothing = { embedded: 0, remaining: 0, failed: 0, activated: 0, retired: 0, cleared: 0 };

const butler = 'general';

async function storeAll(context: MemoryContext, count: number, scope = 'global'): Promise<void> {
  const texts = Array.from({ length: count }, (_, index) => `Anna noted ${index} cups of tea`);
  await ingestEpisodes(
    context,
    texts.map((content) => ({ butler, content })),
  );
  await storeFact(context, { subject: 'user', predicate: 'favourite_drink', content: 'green tea', scope });
  await storeRule(context, { content: 'Offer tea before coffee', scope });
}

function versions(): Promise<EmbeddingVersion[]> {
  return core.db.forTenant(tenantId).client.embeddingVersion.findMany({ orderBy: { createdAt: 'asc' } });
}

async function eventTypes(): Promise<string[]> {
  const events = await core.db
    .forTenant(tenantId)
    .client.memoryEvent.findMany({ where: { entityType: 'embedding_version' }, orderBy: { sequence: 'asc' } });
  return events.map(({ eventType }) => eventType);
}

interface VectorRow {
  type: string;
  id: string;
  content: string;
  primary: string | null;
  alternate: string | null;
}

async function vectors(): Promise<VectorRow[]> {
  const rows = memoryTypes.map(
    (type) => Prisma.sql`SELECT ${type} AS type, id::text, content, embedding::text AS primary,
      alternate_embedding::text AS alternate FROM ${Prisma.raw(memoryTables[type])}`,
  );
  return core.db
    .forTenant(tenantId)
    .client.$queryRaw<VectorRow[]>(Prisma.sql`${Prisma.join(rows, ' UNION ALL ')} ORDER BY type, id`);
}

describe('a sweep with another model configured', () => {
  beforeEach(async () => {
    await storeAll(contextWith(), 80);
  });

  it('gives every row its vector, switches, and says so in events', async () => {
    const progress: [number, number | null][] = [];

    expect(await sweep(small, { progress: (done, total) => progress.push([done, total]) })).toEqual({
      ...nothing,
      embedded: 82,
      activated: 1,
      retired: 1,
    });
    expect(progress.at(-1)).toEqual([82, 82]);
    expect(progress.every(([, total]) => total === 82)).toBe(true);
    expect(await versions()).toMatchObject([
      { dimensions: 384, slot: 'primary', status: 'retired', retiredAt: core.start },
      { dimensions: otherDimensions, slot: 'alternate', status: 'active', activatedAt: core.start },
    ]);
    expect(await eventTypes()).toEqual([
      'embedding_version.registered',
      'embedding_version.registered',
      'embedding_version.retired',
      'embedding_version.activated',
    ]);
    expect((await vectors()).filter(({ alternate }) => alternate === null)).toEqual([]);
  });

  it('leaves nothing to do for a second one, and nothing that the events do not tell', async () => {
    await sweep(small);
    const events = await core.db.forTenant(tenantId).client.memoryEvent.count();

    expect(await sweep(small)).toEqual(nothing);
    expect(await core.db.forTenant(tenantId).client.memoryEvent.count()).toBe(events);
    expect(await findDifferences(contextWith())).toEqual([]);
  });

  it('makes the vectors that a write makes, to the bit', async () => {
    await sweep(small);
    const before = await vectors();
    await storeAll(contextWith(small), 80, 'again');
    const after = await vectors();
    const written = after.filter(({ id }) => !before.some((row) => row.id === id));

    expect(written).toHaveLength(82);
    for (const { type, content, alternate } of written) {
      const swept = before.find((row) => row.type === type && row.content === content);
      expect(swept?.alternate, `${type} ${content}`).toBe(alternate);
    }
  });

  it('clears the old vectors only when no search can be reading them any more', async () => {
    await sweep(small);
    expect((await vectors()).filter(({ primary }) => primary === null)).toEqual([]);

    await core.onDay(1, async () => expect(await sweep(small)).toEqual({ ...nothing, cleared: 82 }));
    expect((await vectors()).filter(({ primary }) => primary !== null)).toEqual([]);
    await core.onDay(1, async () => expect(await sweep(small)).toEqual(nothing));
  });

  it('that is dry counts what it would do and writes nothing', async () => {
    const before = { rows: await vectors(), versions: await versions(), events: await eventTypes() };

    expect(await sweep(small, { dryRun: true })).toEqual({ ...nothing, embedded: 82, activated: 1, retired: 1 });
    expect({ rows: await vectors(), versions: await versions(), events: await eventTypes() }).toEqual(before);
  });

  it('includes what is forgotten, retracted and superseded', async () => {
    const context = contextWith();
    const episode = await storeEpisode(context, { butler, content: 'to be forgotten' });
    await forgetMemory(context, { type: 'episode', id: episode.id });
    await storeFact(context, { subject: 'user', predicate: 'favourite_drink', content: 'black tea' });
    const fact = await storeFact(context, { subject: 'user', predicate: 'city', content: 'Lisbon' });
    await forgetMemory(context, { type: 'fact', id: fact.id });

    expect(await sweep(small)).toMatchObject({ embedded: 85, remaining: 0, activated: 1 });
  });

  it('goes on where one that was stopped left off', async () => {
    const stop = new AbortController();
    const first = await sweep(small, {
      signal: stop.signal,
      progress: (done) => (done > 0 ? stop.abort() : undefined),
    });
    expect(first).toMatchObject({ activated: 0 });
    expect(first.embedded).toBeGreaterThan(0);
    expect(first.remaining).toBe(82 - first.embedded);

    const computed = small.status().texts.computed;
    const second = await sweep(small);
    expect(second).toMatchObject({ embedded: first.remaining, activated: 1 });
    expect(small.status().texts.computed - computed).toBe(first.remaining);
  });

  it('keeps what it wrote when the model fails, and switches nothing', async () => {
    let asked = 0;
    const failing = wrap(small, {
      embed: async (texts) => {
        asked += 1;
        if (asked >= 2) throw new Error('the model broke down');
        return small.embed(texts);
      },
    });

    await expect(sweep(failing)).rejects.toThrow('the model broke down');
    expect(await listVersionProgress(contextWith())).toMatchObject([
      { version: { status: 'active' }, done: 82 },
      { version: { status: 'building' }, done: 64, total: 82 },
    ]);
    expect(await sweep(small)).toMatchObject({ embedded: 18, activated: 1 });
  });

  it('passes over a row whose text the model cannot embed, and brings the others to the new model', async () => {
    const poison = await storeRule(contextWith(), { content: 'A text that breaks the model' });
    const failing = wrap(small, {
      embed: async (texts) => {
        if (texts.some((text) => text.includes('breaks the model'))) throw new Error('the model broke down');
        return small.embed(texts);
      },
    });

    expect(await sweep(failing)).toMatchObject({ embedded: 82, remaining: 1, failed: 1, activated: 1 });
    // What it could not do it does once it can.
    expect(await sweep(small)).toMatchObject({ embedded: 1, remaining: 0, failed: 0 });
    expect(poison.id).toBeDefined();
  });

  it('never gives a row the vector of a text that was edited meanwhile', async () => {
    const rule = await storeRule(contextWith(), { content: 'The old text of a rule' });
    const process = contextWith(alone(core.embedder));
    let isEdited = false;
    const slow = wrap(small, {
      embed: async (texts) => {
        const made = await small.embed(texts);
        if (texts.includes('The old text of a rule') && !isEdited) {
          isEdited = true;
          await editRule(process, { ruleId: rule.id, content: 'The new text of a rule' });
        }
        return made;
      },
    });
    expect(await sweep(slow)).toMatchObject({ embedded: 83, activated: 1 });

    const fresh = await storeRule(contextWith(small), { content: 'The new text of a rule' });
    const rows = await vectors();
    const vectorOf = (id: string): string | null | undefined => rows.find((row) => row.id === id)?.alternate;
    expect(isEdited).toBe(true);
    expect(vectorOf(rule.id)).toBe(vectorOf(fresh.id));
  });

  it('gives the vector to rows that are written while it runs, and the old one as well', async () => {
    const processes = [core.embedder, alone(core.embedder), small].map(contextWith);
    const written: string[] = [];
    const busy = wrap(small, {
      embed: async (texts) => {
        for (const [index, process] of processes.entries()) {
          if (written.length < 12)
            written.push((await storeEpisode(process, { butler, content: `meanwhile ${index}` })).id);
        }
        return small.embed(texts);
      },
    });

    expect(await sweep(busy)).toMatchObject({ remaining: 0, activated: 1 });
    const rows = (await vectors()).filter(({ id }) => written.includes(id));
    expect(rows).toHaveLength(written.length);
    expect(rows.filter(({ primary, alternate }) => primary === null || alternate === null)).toEqual([]);
  });

  it('is not overtaken by a write that was prepared before the switch and comes after it', async () => {
    const context = contextWith();
    const prepared = await embedOne(context, asStored('prepared long ago'));
    await sweep(small);
    await core.db.forTenant(tenantId).transaction(async (transaction) => {
      const made = await vectorsOfOne(context, transaction, prepared);
      expect(made).toMatchObject([{ version: { slot: 'alternate', status: 'active' } }]);
      expect(made[0]?.vector).toHaveLength(otherDimensions);
    });
  });

  it('is left alone by a process that was started before, with the old model', async () => {
    await core.onDay(2, () => sweep(small, { progress: () => (core.clock.now = core.day(3)) }));
    const outdated = { configuredAt: core.day(1) };

    expect(await sweep(core.embedder, outdated)).toEqual(nothing);
    expect(await versions()).toMatchObject([{ status: 'retired' }, { status: 'active', dimensions: otherDimensions }]);
  });

  it('is given up when the old model is configured again, and its vectors are cleared', async () => {
    const stop = new AbortController();
    const { embedded } = await sweep(small, { signal: stop.signal, progress: () => stop.abort() });

    expect(await sweep(core.embedder)).toEqual({ ...nothing, retired: 1 });
    expect(await versions()).toMatchObject([{ status: 'active' }, { status: 'retired' }]);
    await core.onDay(1, async () => expect(await sweep(core.embedder)).toEqual({ ...nothing, cleared: embedded }));
  });

  it('fills rows that came without a vector, when nothing else is to be done', async () => {
    await sweep(small);
    await core.db.forTenant(tenantId).client.$executeRaw`
      UPDATE rules SET alternate_embedding = NULL, alternate_embedding_version_id = NULL`;

    expect(await sweep(small)).toEqual({ ...nothing, embedded: 1 });
  });

  it('leaves the rows of other tenants as they are', async () => {
    const other = core.context({ tenantId: `${tenantId}, another` });
    await storeEpisode(other, { butler, content: 'of another tenant' });
    await sweep(small);

    expect(await listVersionProgress(other)).toMatchObject([{ version: { status: 'active' }, done: 1, total: 1 }]);
    expect(await sweepEmbeddings({ ...other, embedder: small }, { dryRun: false })).toMatchObject({
      embedded: 1,
      activated: 1,
    });
  });
});

describe('a search while a model takes over', () => {
  const query = { query: 'Anna noted 7 cups of tea', mode: 'semantic' as const, limit: 5 };

  async function similarities(context: MemoryContext): Promise<(number | null)[]> {
    const { results, semanticChannel } = await searchMemories(context, query);
    expect(semanticChannel).toBe('used');
    return results.map(({ parts }) => parts.match?.similarity ?? null);
  }

  beforeEach(async () => {
    await storeAll(contextWith(), 80);
  });

  it('goes on with the old one until the switch, and from then on with the new one, in every process', async () => {
    const [running, restarted] = [contextWith(), contextWith(small)];
    const old = await similarities(running);
    const during: (number | null)[][] = [];
    const watching = wrap(small, {
      embed: async (texts) => {
        during.push(await similarities(running), await similarities(restarted));
        return small.embed(texts);
      },
    });
    await sweep(watching);
    const after = await similarities(restarted);

    expect(during.length).toBeGreaterThan(4);
    for (const found of during) expect(found).toEqual(old);
    expect(after).not.toEqual(old);
    expect(await similarities(running)).toEqual(after);
    expect(after[0]).toBeCloseTo(1, 5);
  });

  it('has the words alone when the old model is gone, while re-embedding goes on', async () => {
    const restarted = contextWith(alone(small));
    const { results, semanticChannel } = await searchMemories(restarted, { ...query, mode: 'hybrid' });
    expect(semanticChannel).toBe('model_changed');
    expect(results.length).toBeGreaterThan(0);
    expect(results.every(({ parts }) => parts.match?.similarity === null)).toBe(true);

    expect(await sweep(restarted.embedder)).toMatchObject({ embedded: 82, activated: 1 });
    expect((await similarities(restarted))[0]).toBeCloseTo(1, 5);
  });
});

describe.runIf(testEngine === 'postgres')('a writer that is under way at the switch', () => {
  it('holds it up, and its row is not left without the vector', async () => {
    await storeAll(contextWith(), 3);
    const writer = contextWith(alone(core.embedder));
    const embedded = await embedOne(writer, asStored('written at the last moment'));
    const chosen = createGate();
    const committing = createGate();
    const stop = new AbortController();
    await sweep(small, { signal: stop.signal, progress: () => stop.abort() });

    const writing = core.db.forTenant(tenantId).transaction(async (transaction) => {
      const embeddings = await vectorsOfOne(writer, transaction, embedded);
      expect(embeddings).toMatchObject([{ version: { slot: 'primary' } }]);
      chosen.open();
      await committing.passed;
      const columns = episodeColumns('written at the last moment');
      const stored = { eventType: 'episode.stored', entityType: 'episode', entityId: columns.id } as const;
      const event = createMutation(writer, transaction).toEventRow(stored);
      await insertMemories(transaction, 'episode', [{ columns, embeddings, event }]);
    });
    await chosen.passed;
    const over = new AbortController();
    const sweeping = sweep(small).finally(() => over.abort());
    await waitUntilBlocked(over.signal);
    expect(await versions()).toMatchObject([{ status: 'active' }, { status: 'building' }]);
    committing.open();
    await writing;

    expect(await sweeping).toMatchObject({ remaining: 0, activated: 1 });
    expect((await vectors()).filter(({ alternate }) => alternate === null)).toEqual([]);
  });

  it('comes after it when it is later, and sees the new version', async () => {
    await storeAll(contextWith(), 3);
    const writers = Array.from({ length: 6 }, (_, index) => contextWith(index % 2 === 0 ? core.embedder : small));
    const over = new AbortController();
    const writing = Promise.all(
      writers.map(async (writer, index) => {
        for (let count = 0; !over.signal.aborted || count < 5; count += 1) {
          await storeEpisode(writer, { butler, content: `writer ${index} wrote ${count}` });
        }
      }),
    );
    expect(await sweep(small)).toMatchObject({ remaining: 0, activated: 1 });
    over.abort();
    await writing;

    expect((await vectors()).filter(({ alternate }) => alternate === null)).toEqual([]);
  });

  function createGate(): { passed: Promise<void>; open: () => void } {
    let open = (): void => undefined;
    const passed = new Promise<void>((resolve) => (open = resolve));
    return { passed, open: () => open() };
  }

  /** Or until that which should wait is over. */
  async function waitUntilBlocked(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const { rows } = await core.db.asOwner((client) =>
        client.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
      );
      if (rows.length > 0) return;
    }
  }

  function episodeColumns(content: string): NewMemory<'episode'>['columns'] {
    const id = '019a0000-0000-7000-8000-000000000001';
    const times = { createdAt: core.start, expiresAt: core.day(7), observedAt: null };
    return {
      id,
      content: asStored(content),
      ...times,
      butler,
      sessionId: null,
      importance: 5,
      tags: [],
      metadata: {},
      language: 'english',
    };
  }
});

describe('with models of one size', () => {
  let model: Embedder;
  let shared: TestCore;

  beforeAll(async () => {
    shared = core;
    core = await createTestCore();
    model = await createEmbedder({ ...embedderOptions(core.config, core.logger), provider: 'transformers' });
  });
  afterAll(async () => {
    await model.close();
    await core.close();
    core = shared;
  });

  async function expectTakeover(from: Embedder, to: Embedder): Promise<void> {
    await storeAll(contextWith(from), 4);
    expect(await sweep(to)).toMatchObject({ embedded: 6, activated: 1 });
    const swept = await vectors();
    await storeAll(contextWith(to), 4, 'again');
    const all = await vectors();

    for (const { type, content, alternate } of swept) {
      const same = all.filter((row) => row.type === type && row.content === content);
      expect(same.map((row) => row.alternate)).toEqual([alternate, alternate]);
    }
    const query = { query: 'a hot beverage', mode: 'semantic', types: ['rule'] } as const;
    const found = await searchMemories(contextWith(to), query);
    expect(found).toMatchObject({ semanticChannel: 'used' });
    expect(found.results[0]?.parts.match?.similarity).toBeGreaterThan(0.2);
  }

  it('the real model takes over from the hashes, with the vectors that a write makes', async () => {
    await expectTakeover(core.embedder, model);
  });

  it.skipIf(modelsDirectory === undefined)(
    'a second real model takes over from the first, with the vectors that a write makes',
    async () => {
      const { logger, config } = core;
      const second = await createEmbedder({
        ...embedderOptions(config, logger),
        provider: 'transformers',
        model: 'Xenova/gte-small',
        dtype: 'fp32',
        ownModelsDirectory: modelsDirectory,
      });
      try {
        await expectTakeover(model, second);
      } finally {
        await second.close();
      }
    },
  );

  it('a third one takes the slot of one that was given up', async () => {
    await storeAll(contextWith(), 4);
    const stop = new AbortController();
    const abandoned = wrap(model, { model: { ...model.model, digest: 'another' } });
    await sweep(alone(abandoned), { signal: stop.signal, progress: () => stop.abort() });

    expect(await sweep(model)).toMatchObject({ embedded: 6, activated: 1, retired: 2 });
    expect(await versions()).toMatchObject([
      { slot: 'primary', status: 'retired' },
      { slot: 'alternate', status: 'retired' },
      { slot: 'alternate', status: 'active' },
    ]);
    expect((await searchMemories(contextWith(model), { query: 'tea', mode: 'semantic' })).results).toHaveLength(6);
  });
});

describe('a process that is killed while it re-embeds', () => {
  it('loses nothing of what it wrote', async () => {
    const scratch = await createTestDatabase();
    try {
      const context = { ...contextWith(), db: scratch.database.forTenant(tenantId) };
      await ingestEpisodes(
        context,
        Array.from({ length: 300 }, (_, index) => ({ butler, content: `note ${index}` })),
      );
      await alignVectorDimensions(scratch.database, otherDimensions);
      await scratch.close();
      const input: ReembedChildInput = { options: scratch.options, tenantId, dimensions: otherDimensions, batches: 3 };
      const child = startTypescript('reembed-child', input);
      child.stderr.pipe(process.stderr);
      let told = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        told = Math.max(told, (JSON.parse(line) as { done: number }).done);
        if (told >= 128 && child.exitCode === null) child.kill('SIGKILL');
      }
      await killChild(child);

      const db = (await scratch.reopen()).forTenant(tenantId);
      const resumed = { ...contextWith(), db, embedder: small };
      const [, building] = await listVersionProgress(resumed);
      expect(building).toMatchObject({ version: { status: 'building' }, total: 300 });
      expect(building?.done).toBeGreaterThanOrEqual(told);
      expect(building?.done).toBeLessThan(300);
      const report = await sweepEmbeddings(resumed, { dryRun: false });
      expect(report).toMatchObject({ embedded: 300 - (building?.done ?? 0), remaining: 0, activated: 1 });
      expect(await findDifferences(resumed)).toEqual([]);
    } finally {
      await scratch.drop();
    }
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { consolidateWith } from '../../src/lifecycle/consolidation/consolidate.ts';
import { EngineError } from '../../src/lifecycle/consolidation/engine.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { readPayload } from '../../src/memory/history/snapshots.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { scripted } from '../lifecycle/consolidation/setup.ts';
import { canaries, canaryCount, canaryText, dumpTables, leaksIn, redactionConfig } from '../redaction/canaries.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door } from './doors.ts';
import { ingestEpisodes, storeFact } from '../support/writes.ts';

const metadata = { note: canaryText, deep: [{ password: 'Xk9canaryQz77', card: 4539148803436467 }], [canaryText]: 1 };

describe('what must not be kept', () => {
  let testApp: TestApp;
  let door: Door;
  let log = '';
  let names = 0;
  const given: string[] = [];

  beforeAll(async () => {
    const config = redactionConfig({}, { LOG_LEVEL: 'trace' });
    testApp = await createTestApp(config, createLogger(config, { write: (line) => void (log += line) }));
    const { embedder } = testApp.core;
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts) => {
      given.push(...texts);
      return embed(texts);
    };
  });
  afterAll(() => testApp.close());

  const context = (): MemoryContext => testApp.app.createContext().memory;
  const newButler = (): string => `butler ${++names}`;
  const eventOf = async (entityId: string): Promise<ReturnType<typeof readPayload> & { id: string }> => {
    const event = await testApp.core.db
      .forTenant('default')
      .client.memoryEvent.findFirstOrThrow({ where: { entityId }, orderBy: { sequence: 'desc' } });
    return { ...readPayload(event), id: event.id };
  };

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(async () => {
      await door.close();
      expect((await dumpTables(testApp.core.db)).filter((row) => leaksIn(row).length > 0)).toEqual([]);
      expect(leaksIn(log)).toEqual([]);
      expect(given.filter((text) => leaksIn(text).length > 0)).toEqual([]);
    });

    it('is in no memory, whichever is stored', async () => {
      const butler = newButler();
      const words = { tags: [canaries['card']?.text ?? '', 'tea'], metadata };
      const episode = await door.storeEpisode({ butler, content: canaryText, ...words });
      const fact = await door.storeFact({
        subject: `user ${canaries['email']?.text}`,
        predicate: `pays with ${canaries['card']?.text} ${butler}`,
        content: canaryText,
        ...words,
      });
      const rule = await door.storeRule({ content: canaryText, ...words });
      const note = await door.storeNote({ content: canaryText, tags: words.tags });
      const lasting = await door.storeNote({ content: `${canaryText} ${butler}`, tier: 'long' });
      const [ingested = ''] = await door.ingestEpisodes([{ butler, content: canaryText, ...words }]);

      for (const { content } of [episode, fact, rule, note, lasting]) {
        expect(content).toContain('The user said [redacted:secret] , and [redacted:secret] , and password: [redacted');
        expect(content).toContain('[redacted:card] , and [redacted:iban] , and [redacted:national_id] , and [redacted');
      }
      expect(episode['tags']).toEqual(['[redacted:card]', 'tea']);
      expect(fact['metadata']).toMatchObject({
        deep: [{ password: '[redacted:secret]', card: '[redacted:card]' }],
      });
      expect((await eventOf(ingested)).redacted).toMatchObject({ iban: 3, national_id: 3 });
    });

    it('is counted in the answer and in the event, and nowhere told', async () => {
      const stored = await door.storeRule({
        content: `Never say ${canaries['card']?.text} or ${canaries['iban']?.text}`,
      });
      expect(door.lastRedacted()).toBe(2);
      expect((await eventOf(stored.id)).redacted).toEqual({ card: 1, iban: 1 });

      await door.storeRule({ content: 'Never say a number' });
      expect(door.lastRedacted()).toBe(0);
      expect((await eventOf((await door.storeRule({ content: 'Nor a name' })).id)).redacted).toBeNull();
    });

    it('is in no judgement of a rule, and not in the warning that it becomes', async () => {
      const { id } = await door.storeRule({ content: `For ${newButler()}: serve tea to ${canaries['email']?.text}` });
      for (let count = 0; count < 3; count++) {
        await door.markRule({ ruleId: id, outcome: 'harmful', reason: canaryText, evidence: metadata });
      }
      const warning = await door.getMemory({ type: 'rule', id });
      expect(warning).toMatchObject({ maturity: 'anti_pattern' });
      expect(warning['content']).toContain('because: The user said [redacted:secret]');
    });

    it('is in nothing that an agent makes of episodes, nor in why it was refused', async () => {
      const butler = newButler();
      const [id = ''] = await door.ingestEpisodes([{ butler, content: `Tea, and ${canaryText}` }]);
      const claim = await door.claimConsolidation({ butler });
      expect(leaksIn(claim.prompt?.user ?? '')).toEqual([]);

      const evidence = [{ episode_id: id, quote: 'Tea' }];
      const about = {
        subject: `${butler} ${canaryText.slice(0, 150)}`,
        predicate: 'said',
        tags: [canaries['phone']?.text],
      };
      const run = await door.submitConsolidation(claim.run?.id ?? '', {
        new_facts: [
          { ...about, content: canaryText, evidence },
          { ...about, content: canaryText, scope: canaryText.slice(0, 150), evidence },
          { ...about, content: canaryText, evidence: [{ episode_id: canaryText, quote: canaryText }] },
        ],
        new_rules: [{ content: canaryText, evidence }],
      });

      expect(run).toMatchObject({ status: 'succeeded', factsCreated: 1 });
      expect(run.refusedItems).toHaveLength(2);
    });

    it('is in no receipt; what was found with it can be shown again', async () => {
      const butler = newButler();
      const { id } = await door.storeEpisode({ butler, content: 'Tea was paid for by card' });
      const [found] = await door.search({ query: canaryText, butler });
      const [recalled] = await door.recall({ topic: `tea by card ${canaryText}`, butler });
      const { receiptId } = await door.context({ triggerPrompt: `tea by card ${canaryText}`, butler });

      expect([found?.id ?? id, recalled?.id ?? id]).toEqual([id, id]);
      const replay = await replayReceipt(context(), receiptId);
      expect(replay).toMatchObject({ isExact: true, missing: [], changed: [] });
      expect(replay.receipt.query).toContain('tea by card The user said [redacted:secret]');
    });

    it('is no name of anything, and is not quoted when it is refused', async () => {
      const card = canaries['card']?.text ?? '';
      const refused: Record<string, () => Promise<unknown>> = {
        butler: () => door.storeEpisode({ content: 'Tea', butler: card }),
        scope: () => door.storeRule({ content: 'Tea', scope: card }),
        source_butler: () => door.storeFact({ subject: 'a', predicate: 'b', content: 'c', sourceButler: card }),
        idempotency_key: () => door.storeRule({ content: 'Tea', idempotencyKey: `pay ${card}` }),
      };
      for (const [field, write] of Object.entries(refused)) {
        await expect(write()).rejects.toMatchObject({
          code: 'INVALID_INPUT',
          message: expect.stringMatching(
            `^${field} must be text without the number of a payment card \\(card\\) \\(got one, which is not shown\\)`,
          ) as string,
        });
      }
    });

    it('leaves undo, history and the check of the tables as they are', async () => {
      const predicate = newButler();
      const first = await door.storeFact({ subject: 'user', predicate, content: 'pays in cash' });
      const second = await door.storeFact({ subject: 'user', predicate, content: canaryText });
      const { id, after } = await eventOf(second.id);
      expect(after).toMatchObject({ content: second['content'] });
      await door.undo({ eventId: id });

      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({ validity: 'active' });
      expect((await door.history({ type: 'fact', id: second.id })).map(({ event }) => event.eventType)).toEqual([
        'fact.stored',
        'fact.undone',
      ]);
      expect(await findDifferences(context())).toEqual([]);
    });

    it('is the same fact when it is stored again', async () => {
      const fact = { subject: 'user', predicate: newButler(), content: canaryText, idempotencyKey: newButler() };
      const first = await door.storeFact(fact);
      expect((await door.storeFact(fact)).id).toBe(first.id);
      expect((await door.storeFact({ ...fact, idempotencyKey: null })).id).toBe(first.id);
    });
  });

  it('is not in what an engine says when it fails, in the log least of all', async () => {
    const butler = newButler();
    await ingestEpisodes(context(), [{ butler, content: 'Tea' }]);
    const failing = scripted(() => {
      throw new EngineError(`the model said: ${canaryText}`, { retryable: true });
    });
    await consolidateWith(context(), failing, {});
    const off = scripted(() => {
      throw new EngineError(`no answer: ${canaryText}`, { retryable: true, isUnavailable: true });
    });
    testApp.clock.now = new Date(testApp.clock.now.getTime() + 86_400_000);
    await consolidateWith(context(), off, {});

    expect(log).toContain('consolidation: a run failed');
    expect(leaksIn(log)).toEqual([]);
    expect((await dumpTables(testApp.core.db)).filter((row) => leaksIn(row).length > 0)).toEqual([]);
  });

  it('is not the id of a request', async () => {
    const secret = canaries['key']?.text ?? '';
    const response = await testApp.app.fetch(
      new Request('http://localhost/healthz', { headers: { 'x-request-id': secret } }),
    );
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(leaksIn(log)).toEqual([]);
  });

  it('would be noticed by these tests', async () => {
    const { id } = await storeFact(context(), { subject: 'user', predicate: 'leak', content: 'none' });
    const write = (content: string): Promise<unknown> =>
      testApp.core.db
        .forTenant('default')
        .client.fact.update({ where: { tenantId_id: { tenantId: 'default', id } }, data: { content } });
    await write(canaryText);
    const leaks = (await dumpTables(testApp.core.db)).flatMap(leaksIn);
    await write('none');
    expect(new Set(leaks).size).toBe(canaryCount);
  });
});

describe('a policy', () => {
  const card = canaries['card']?.text ?? '';
  const tea = `Tea, paid with ${card}, and again with 4539-1488-0343-6467`;

  const apps: Partial<Record<'off' | 'refuse' | 'hash', TestApp>> = {};

  beforeAll(async () => {
    for (const mode of ['off', 'refuse', 'hash'] as const) {
      apps[mode] = await createTestApp(redactionConfig({ cards: mode, hashKey: 'a key of the test' }));
    }
  });
  afterAll(async () => {
    for (const testApp of Object.values(apps)) await testApp.close();
  });

  throughEveryDoor((open) => {
    const withPolicy = async <T>(
      mode: keyof typeof apps,
      work: (door: Door, testApp: TestApp) => Promise<T>,
    ): Promise<T> => {
      const testApp = apps[mode] as TestApp;
      const door = await open(testApp);
      try {
        return await work(door, testApp);
      } finally {
        await door.close();
      }
    };

    it('may keep a kind as it is', async () => {
      const { content } = await withPolicy('off', (door) => door.storeRule({ content: tea }));
      expect(content).toBe(tea);
    });

    it('may refuse a kind, and names it and the field and never what it was', async () => {
      const refused = withPolicy('refuse', (door) => door.storeRule({ content: tea }));
      await expect(refused).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(
          /^content must be text without the number of a payment card \(card\) \(got one, which is not shown/,
        ) as string,
      });
    });

    it('that refuses still lets one search, and masks what is kept of that', async () => {
      await withPolicy('refuse', async (door, { app }) => {
        const { receiptId } = await door.context({ triggerPrompt: tea, butler: 'home' });
        const { receipt } = await replayReceipt(app.createContext().memory, receiptId);
        expect(receipt.query).toBe('Tea, paid with [redacted:card], and again with [redacted:card]');
      });
    });

    it('may leave a digest, the same for the same and another for another tenant', async () => {
      await withPolicy('hash', async (door, { app }) => {
        const { content } = await door.storeRule({ content: tea });
        const [first, second] = String(content).match(/\[redacted:card:[0-9a-f]{12}\]/g) ?? [];
        expect([first, second]).toEqual([expect.any(String), first]);
        const other = { tenantId: 'other', butler: null, role: 'operator' } as const;
        const elsewhere = await storeFact(app.createContext({}, other).memory, {
          subject: 'user',
          predicate: 'pays',
          content: tea,
        });
        expect(elsewhere.content).toMatch(/\[redacted:card:[0-9a-f]{12}\]/);
        expect(elsewhere.content).not.toContain(first);
      });
    });
  });

  it('of a tenant overrides single keys of that of all', async () => {
    const config = redactionConfig();
    const tenants = { acme: { redaction: { cards: 'off' as const }, retention: {} } };
    const testApp = await createTestApp({ ...config, butler: { ...config.butler, tenants } });
    const store = async (tenantId: string): Promise<string> => {
      const { memory } = testApp.app.createContext({}, { tenantId, butler: null, role: 'operator' });
      const content = `${card} of jo@example.com`;
      return (await storeFact(memory, { subject: 'user', predicate: 'pays', content })).content;
    };
    try {
      expect(await store('acme')).toBe(`${card} of [redacted:email]`);
      expect(await store('other')).toBe('[redacted:card] of [redacted:email]');
    } finally {
      await testApp.close();
    }
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryError } from '../../src/shared/errors.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door } from './doors.ts';
import { storeEpisode, storeFact, storeRule } from '../support/writes.ts';

describe('a memory', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const newName = (): string => `name ${++names}`;
  /** Works for another household than the doors. */
  const ofAnotherTenant = (): MemoryContext => {
    const { memory } = testApp.app.createContext();
    return testApp.app.createContext({}, { ...memory.principal, tenantId: 'other' }).memory;
  };
  const eventsOf = (tenantId: string, entityId: string): Promise<number> =>
    testApp.core.db.forTenant(tenantId).client.memoryEvent.count({ where: { entityId } });

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('of another tenant is not there, whatever is asked of it', async () => {
      const other = ofAnotherTenant();
      const fact = await storeFact(other, { subject: 'user', predicate: newName(), content: 'secret' });
      const rule = await storeRule(other, { content: `secret ${newName()}` });
      const episode = await storeEpisode(other, { butler: 'b', content: 'secret' });
      const notFound = { code: 'NOT_FOUND' };

      for (const [type, id] of [
        ['fact', fact.id],
        ['rule', rule.id],
        ['episode', episode.id],
      ] as const) {
        await expect(door.getMemory({ type, id })).rejects.toMatchObject(notFound);
        await expect(door.forgetMemory({ type, id })).rejects.toMatchObject(notFound);
        await expect(door.restoreMemory({ type, id })).rejects.toMatchObject(notFound);
        await expect(door.history({ type, id })).rejects.toMatchObject(notFound);
        expect(await eventsOf('other', id)).toBe(1);
      }
      await expect(door.confirmMemory({ type: 'fact', id: fact.id })).rejects.toMatchObject(notFound);
      await expect(door.markRule({ ruleId: rule.id, outcome: 'harmful' })).rejects.toMatchObject(notFound);
      await expect(door.storeRule({ content: 'x', sourceEpisodeId: episode.id })).rejects.toMatchObject(notFound);
      expect(await door.search({ query: 'secret', mode: 'keyword' })).toEqual([]);
    });

    it('of another tenant is left alone by a fact of the same key', async () => {
      const key = { subject: 'user', predicate: newName() };
      const theirs = await storeFact(ofAnotherTenant(), { ...key, content: 'tea' });
      const ours = await door.storeFact({ ...key, content: 'coffee' });

      expect(ours).toMatchObject({ supersedesId: null });
      expect(await eventsOf('other', theirs.id)).toBe(1);
    });

    it('is not half-written when its text cannot be embedded', async () => {
      const embed = vi.spyOn(testApp.core.embedder, 'embed');
      const count = (): Promise<number> => testApp.core.db.forTenant('default').client.memoryEvent.count();
      const before = await count();
      const failed = { code: 'EMBEDDING_FAILED' };
      embed.mockRejectedValueOnce(new MemoryError('EMBEDDING_FAILED', 'the model is gone'));
      await expect(door.storeEpisode({ butler: 'b', content: 'x' })).rejects.toMatchObject(failed);
      embed.mockRejectedValueOnce(new MemoryError('EMBEDDING_FAILED', 'the model is gone'));
      await expect(door.storeFact({ subject: 'user', predicate: newName(), content: 'x' })).rejects.toMatchObject(
        failed,
      );
      embed.mockRejectedValueOnce(new MemoryError('EMBEDDING_FAILED', 'the model is gone'));
      await expect(door.storeRule({ content: 'x' })).rejects.toMatchObject(failed);
      embed.mockRestore();

      expect(await count()).toBe(before);
    });

    it('is embedded by its content, and a fact by its subject and predicate too', async () => {
      const embed = vi.spyOn(testApp.core.embedder, 'embed');
      const [episode, rule, predicate] = [newName(), newName(), newName()];
      await door.storeEpisode({ butler: 'b', content: episode });
      await door.storeRule({ content: rule });
      await door.storeFact({ subject: 'user', predicate, content: 'tea' });
      const embedded = embed.mock.calls.flatMap(([texts]) => texts);
      embed.mockRestore();

      expect(embedded).toEqual([episode, rule, expect.stringMatching(`^${predicate}.*: tea \\(user\\)$`)]);
    });

    it('records which model made its vector', async () => {
      const { id } = await door.storeFact({ subject: 'user', predicate: newName(), content: 'x' });
      const { embeddingVersionId } = await testApp.core.db
        .forTenant('default')
        .client.fact.findUniqueOrThrow({ where: { tenantId_id: { tenantId: 'default', id } } });
      const version = await testApp.core.db
        .forTenant('default')
        .client.embeddingVersion.findFirstOrThrow({ where: { id: embeddingVersionId ?? '' } });

      expect(version).toMatchObject({ status: 'active', provider: testApp.core.embedder.model.provider });
    });

    it('names the fact whose place it took, over a chain of several', async () => {
      const key = { subject: 'user', predicate: newName() };
      const first = await door.storeFact({ ...key, content: 'one' });
      const second = await door.storeFact({ ...key, content: 'two' });
      const third = await door.storeFact({ ...key, content: 'three' });

      expect(third).toMatchObject({ supersedesId: second.id });
      expect(await door.getMemory({ type: 'fact', id: second.id })).toMatchObject({ supersedesId: first.id });
    });

    it('of two writers of one key at once leaves one live fact, and both are answered', async () => {
      const key = { subject: 'user', predicate: newName() };
      const both = await Promise.all(['tea', 'coffee'].map((content) => door.storeFact({ ...key, content })));
      const now = await Promise.all(both.map(({ id }) => door.getMemory({ type: 'fact', id })));

      expect(now.map(({ validity }) => validity as string).toSorted()).toEqual(['active', 'superseded']);
      const [live] = now.filter(({ validity }) => validity === 'active');
      const [old] = now.filter(({ validity }) => validity === 'superseded');
      expect(live).toMatchObject({ supersedesId: old?.id });
    });

    it('keeps the episode that a rule was learned from', async () => {
      const { id } = await door.storeEpisode({ butler: 'b', content: 'burned the toast' });
      expect(await door.storeRule({ content: `watch the toast ${newName()}`, sourceEpisodeId: id })).toMatchObject({
        sourceEpisodeId: id,
      });
    });
  });

  it.each([
    ['memory_store_fact', { subject: 's', predicate: 'p', content: 'c', tenant_id: 'other' }],
    ['memory_search', { query: 'q', tenant: 'other' }],
  ])('takes its tenant from no argument of %s', async (name, given) => {
    const response = await testApp.app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
      }),
    );
    const { result } = (await response.json()) as { result: { isError?: boolean; content: { text: string }[] } };

    expect(result.isError).toBe(true);
    expect(result.content[0]?.text).toMatch(/^INVALID_INPUT: argument must be .*tenant/);
  });
});

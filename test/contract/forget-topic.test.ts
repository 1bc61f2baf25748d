import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { handleOf } from '../../src/shared/handles.ts';
import { enrol, throughEveryDoor, type Door } from './doors.ts';

describe('forgetting by topic', () => {
  let testApp: TestApp;
  let tenants = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    let operator: Door;
    let alfred: Door;
    let berta: Door;

    beforeEach(async () => {
      const tenantId = `house ${++tenants}`;
      operator = await open(testApp, await enrol(testApp, { tenantId, role: 'operator', butler: null }));
      alfred = await open(testApp, await enrol(testApp, { tenantId, role: 'butler', butler: 'alfred' }));
      berta = await open(testApp, await enrol(testApp, { tenantId, role: 'butler', butler: 'berta' }));
    });
    afterEach(() => Promise.all([operator, alfred, berta].map((door) => door.close())));

    const pass = (): void => {
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
    };
    const text = 'User: The code of the cellar door is 4711. It changes in May. The boiler makes noise.';

    interface Known {
      old: string;
      live: string;
      rule: string;
      near: string;
      episodeId: string;
    }

    /** A fact with an earlier version, a rule and a sentence about one thing, and a fact that only comes near. */
    async function learn(door: Door, butler = 'alfred'): Promise<Known> {
      const about = { subject: 'cellar door', predicate: 'code', scope: butler };
      const { id: old } = await door.storeFact({ ...about, content: '4711' });
      pass();
      const { id: live } = await door.storeFact({ ...about, content: '9920' });
      const { id: rule } = await door.storeRule({
        content: 'Never read out the code of the cellar door',
        scope: butler,
      });
      const garden = { subject: 'garden door', predicate: 'colour', scope: butler };
      const { id: near } = await door.storeFact({ ...garden, content: 'green' });
      const [episodeId = ''] = await door.ingestEpisodes([{ butler, content: text }]);
      pass();
      return { old, live, rule, near, episodeId };
    }
    const read = async (door: Door, { old, live, rule, near, episodeId }: Known): Promise<unknown[]> => {
      const validity = async (type: 'fact' | 'rule', id: string): Promise<unknown> =>
        (await door.getMemory({ type, id }))['validity'];
      return [
        await validity('fact', old),
        await validity('fact', live),
        await validity('rule', rule),
        await validity('fact', near),
        (await door.getMemory({ type: 'episode', id: episodeId })).content,
      ];
    };
    const about = 'everything about the code of the cellar door';
    const untouched = ['superseded', 'active', 'active', 'active', text];
    const masked = 'User: [forgotten] [forgotten] The boiler makes noise.';

    it('lists what it would take, with handles, and changes nothing', async () => {
      const known = await learn(alfred);
      const listed = await alfred.forgetTopic({ about });

      expect(new Set(listed.memories.map(({ id }) => id))).toEqual(new Set([known.old, known.live, known.rule]));
      expect(listed.hidden.map((one) => one.text)).toEqual([
        'The code of the cellar door is 4711.',
        'It changes in May.',
      ]);
      expect(listed.hidden.map(({ episodeId }) => episodeId)).toEqual([known.episodeId, known.episodeId]);
      expect(listed.eventId).toBeNull();
      const said = alfred.lastText?.();
      expect(await read(alfred, known)).toEqual(untouched);
      if (said !== undefined) {
        for (const id of [known.old, known.live, known.rule, known.episodeId]) expect(said).toContain(handleOf(id));
        expect(said).toContain('confirm = true');
      }
    });

    it('takes all of it as one change, which one undo reverts', async () => {
      const known = await learn(alfred);
      const { memories, hidden, eventId } = await alfred.forgetTopic({ about, confirm: true });

      expect(new Set(memories.map(({ id }) => id))).toEqual(new Set([known.old, known.live, known.rule]));
      expect(hidden).toHaveLength(2);
      expect(await read(alfred, known)).toEqual(['retracted', 'retracted', 'retracted', 'active', masked]);
      expect(await alfred.search({ query: 'cellar', mode: 'keyword' })).toEqual([]);
      expect(await alfred.forgetTopic({ about })).toEqual({ memories: [], hidden: [], eventId: null });
      expect(await alfred.forgetTopic({ about, confirm: true })).toEqual({ memories: [], hidden: [], eventId: null });

      await alfred.undo({ eventId: eventId ?? '' });
      expect(await read(alfred, known)).toEqual(untouched);
      expect(await alfred.search({ query: 'cellar', mode: 'keyword' })).toHaveLength(3);
    });

    it('takes what only episodes say, and gives it back', async () => {
      const [episodeId = ''] = await alfred.ingestEpisodes([{ butler: 'alfred', content: text }]);
      const { memories, eventId } = await alfred.forgetTopic({ about, confirm: true });
      expect(memories).toEqual([]);
      const episode = { type: 'episode', id: episodeId } as const;
      expect(await alfred.getMemory(episode)).toMatchObject({ content: masked });
      await alfred.undo({ eventId: eventId ?? '' });
      expect(await alfred.getMemory(episode)).toMatchObject({ content: text });
    });

    it('takes the episodes, too, if asked to', async () => {
      const { episodeId } = await learn(alfred);
      const { memories, eventId } = await alfred.forgetTopic({ about, confirm: true, sources: true });
      expect(memories.map(({ id }) => id)).toContain(episodeId);
      const find = (): Promise<unknown[]> => alfred.search({ query: 'boiler', mode: 'keyword', types: ['episode'] });
      expect(await find()).toEqual([]);
      await alfred.undo({ eventId: eventId ?? '' });
      expect(await find()).toHaveLength(1);
    });

    it('reads a topic past characters that no text holds, and takes nothing for what names nothing', async () => {
      const known = await learn(alfred);
      const { memories } = await alfred.forgetTopic({ about: 'the code of the cellar\u0000 door\ud800' });
      expect(new Set(memories.map(({ id }) => id))).toEqual(new Set([known.old, known.live, known.rule]));
      await expect(alfred.forgetTopic({ about: '\u0000 \u0000' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    it('keeps to what the caller sees and may forget', async () => {
      const own = await learn(alfred);
      const others = await learn(berta, 'berta');
      const shared = await operator.storeFact({ subject: 'cellar door', predicate: 'code', content: '1234' });
      const { memories, hidden } = await alfred.forgetTopic({ about, confirm: true });

      expect(new Set(memories.map(({ id }) => id))).toEqual(new Set([own.old, own.live, own.rule]));
      expect(new Set(hidden.map(({ episodeId }) => episodeId))).toEqual(new Set([own.episodeId]));
      expect(await read(berta, others)).toEqual(untouched);
      expect(await operator.getMemory({ type: 'fact', id: shared.id })).toMatchObject({ validity: 'active' });

      const all = await operator.forgetTopic({ about });
      expect(new Set(all.memories.map(({ id }) => id))).toEqual(
        new Set([others.old, others.live, others.rule, shared.id]),
      );
    });

    it('answers the same key with the first answer', async () => {
      const known = await learn(alfred);
      const input = { about, confirm: true, idempotencyKey: `key ${tenants}` };
      const first = await alfred.forgetTopic(input);
      const later = await alfred.storeFact({
        subject: 'cellar door',
        predicate: 'code',
        content: '7',
        scope: 'alfred',
      });
      const second = await alfred.forgetTopic(input);

      expect(second.eventId).toBe(first.eventId);
      expect(second.memories.map(({ id }) => id)).toEqual(first.memories.map(({ id }) => id));
      expect(second.hidden).toEqual(first.hidden);
      expect(await alfred.getMemory({ type: 'fact', id: later.id })).toMatchObject({ validity: 'active' });
      expect((await alfred.getMemory({ type: 'fact', id: known.live }))['validity']).toBe('retracted');
      await expect(alfred.forgetTopic({ ...input, about: 'the garden door' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    });

    it.each([
      [{}, 'id or about must be given, and not both (got none)'],
      [{ type: 'fact', id: 'ab123cd', about: 'tea' }, 'id or about must be given, and not both (got both)'],
      [{ about: '  ' }, 'about must be text that is not blank (got "  ")'],
      [{ about: 'everything' }, 'about must be the words that name a topic'],
      [{ type: 'fact', about: 'tea' }, 'type must be left out with about'],
      [{ type: 'fact', id: 'ab123cd', confirm: false }, 'confirm must be left out with an id'],
    ] as const)('refuses %j', async (input, message) => {
      await expect(alfred.forgetTopic(input)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message) as string,
      });
    });
  });
});

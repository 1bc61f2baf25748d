import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredFact } from '../../src/db/stored-fact.ts';
import { findDifferences } from '../../src/memory/history/verify.ts';
import { fingerprintOf } from '../../src/retrieval/receipts/receipts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { captureLog, dumpDatabase, encryptedConfig, formsOf } from '../support/encryption.ts';
import { eventTypesOf } from '../support/events.ts';
import { throughEveryDoor, type Door } from './doors.ts';

/** A word that is nowhere else. */
const canary = 'xqcanaryqx';

throughEveryDoor((open) => {
  let testApp: TestApp;
  let door: Door;
  let subjects = 0;
  const log = captureLog();

  beforeAll(async () => {
    testApp = await createTestApp(encryptedConfig(), log.logger);
    door = await open(testApp);
  });
  afterAll(async () => {
    await door.close();
    await testApp.close();
  });

  const newSubject = (): string => `patient ${++subjects}`;
  const store = (subject: string, content: string, given: object = {}): ReturnType<Door['storeFact']> =>
    door.storeFact({ subject, predicate: 'medical_condition', content, ...given });
  const eventIdOf = async (factId: string, eventType: string): Promise<string> => {
    const versions = await door.history({ type: 'fact', id: factId });
    const version = versions.findLast(({ event }) => event.eventType === eventType);
    return version?.event.id ?? expect.unreachable(`${eventType} is not there`);
  };
  const rowOf = (id: string): Promise<StoredFact> =>
    testApp.core.db.forTenant('default').client.fact.findFirstOrThrow({ where: { id } });

  describe('a fact of an encrypted predicate', () => {
    it('reads back as it was stored, and the database has nothing of it', async () => {
      const subject = newSubject();
      const said = { content: 'asthma, since 2019', tags: ['lungs'], metadata: { z: 1, a: { doctor: 'Mills' } } };
      const fact = await store(subject, said.content, { tags: said.tags, metadata: said.metadata });

      expect(fact).toMatchObject({ subject, predicate: 'medical_condition', ...said });
      expect(await door.getMemory({ type: 'fact', id: fact.id })).toMatchObject(said);
      expect(await rowOf(fact.id)).toMatchObject({ content: '***', tags: [], metadata: {} });
    });

    it('is encrypted however its predicate is written', async () => {
      for (const predicate of ['Medical History', 'MEDICAL-allergy', ' medical  weight ']) {
        const fact = await door.storeFact({ subject: newSubject(), predicate, content: 'secret' });
        expect(fact['content']).toBe('secret');
        expect(await rowOf(fact.id)).toMatchObject({ content: '***' });
      }
      const other = await door.storeFact({ subject: newSubject(), predicate: 'paramedical', content: 'plain' });
      expect(await rowOf(other.id)).toMatchObject({ content: 'plain' });
    });

    it('is found by its subject and predicate, and not by what it says', async () => {
      const subject = newSubject();
      const fact = await store(subject, 'mononucleosis');

      for (const mode of ['hybrid', 'keyword', 'semantic'] as const) {
        const found = await door.search({ query: `${subject} medical condition`, mode });
        expect(found).toContainEqual(expect.objectContaining({ id: fact.id, content: 'mononucleosis' }));
      }
      expect(await door.search({ query: 'mononucleosis', mode: 'keyword' })).toEqual([]);
    });

    it('stands in recalls and contexts in plain', async () => {
      const subject = newSubject();
      const fact = await store(subject, 'a broken rib');
      const recalled = await door.recall({ topic: `medical condition of ${subject}` });
      expect(recalled).toContainEqual(expect.objectContaining({ id: fact.id, content: 'a broken rib' }));

      const context = await door.context({ triggerPrompt: `medical condition of ${subject}`, butler: 'health' });
      expect(context.text).toContain(`${subject}, medical condition: a broken rib`);
    });

    it('is confirmed by the same content, takes over what else is given, and is superseded by another', async () => {
      const subject = newSubject();
      const first = await store(subject, 'measles', { tags: ['old'], metadata: { by: 'Mills' } });
      const again = await store(subject, 'measles', { metadata: { by: 'Poe' } });

      expect(again).toMatchObject({ id: first.id, tags: ['old'], metadata: { by: 'Poe' }, version: 2 });
      expect(await eventTypesOf(testApp, first.id)).toEqual(['fact.stored', 'fact.confirmed']);

      const next = await store(subject, 'cured');
      expect(next).toMatchObject({ content: 'cured', supersedesId: first.id });
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({
        content: 'measles',
        validity: 'superseded',
      });
    });

    it('contradicts what another scope says, and not what says the same', async () => {
      const subject = newSubject();
      const same = await store(subject, 'gout', { scope: 'home' });
      const different = await store(subject, 'flu', { scope: 'work' });
      const fact = await store(subject, 'gout');

      const links = await testApp.core.db
        .forTenant('default')
        .client.memoryLink.findMany({ where: { sourceId: fact.id, relation: 'contradicts' } });
      expect(links.map(({ targetId }) => targetId)).toEqual([different.id]);
      expect(links.map(({ targetId }) => targetId)).not.toContain(same.id);
    });

    it('tells its history in plain, with what each event changed', async () => {
      const fact = await store(newSubject(), 'lumbago', { metadata: { side: 'left' } });
      await store(fact['subject'] as string, 'lumbago', { metadata: { side: 'right' } });
      const versions = await door.history({ type: 'fact', id: fact.id });
      expect(versions.map(({ memory }) => memory)).toMatchObject([
        { content: 'lumbago', metadata: { side: 'left' } },
        { content: 'lumbago', metadata: { side: 'right' } },
      ]);
    });

    it('comes back by undo, and after it was forgotten', async () => {
      const subject = newSubject();
      const first = await store(subject, 'mumps', { metadata: { ward: 1 } });
      await store(subject, 'mumps', { metadata: { ward: 2 } });
      await door.undo({ eventId: await eventIdOf(first.id, 'fact.confirmed') });
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({
        content: 'mumps',
        metadata: { ward: 1 },
      });

      const second = await store(subject, 'healthy');
      await door.undo({ eventId: await eventIdOf(second.id, 'fact.stored') });
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({
        content: 'mumps',
        validity: 'active',
      });

      await door.forgetMemory({ type: 'fact', id: first.id });
      expect(await door.restoreMemory({ type: 'fact', id: first.id })).toMatchObject({ content: 'mumps' });
      expect(await rowOf(first.id)).toMatchObject({ content: '***', metadata: {} });
    });

    it('is stored once for one idempotency key, and told apart by its content', async () => {
      const subject = newSubject();
      const idempotencyKey = `key of ${subject}`;
      const fact = await store(subject, 'hay fever', { idempotencyKey });

      expect(await store(subject, 'hay fever', { idempotencyKey })).toMatchObject({ id: fact.id, version: 1 });
      await expect(store(subject, 'cold', { idempotencyKey })).rejects.toMatchObject({ code: 'CONFLICT' });
      const { inputDigest } = await testApp.core.db
        .forTenant('default')
        .client.idempotencyKey.findFirstOrThrow({ where: { key: idempotencyKey } });
      expect(inputDigest).toMatch(/^keyed:/);
    });

    it('is refused to a prompt of consolidation, and what consolidation makes of it is encrypted', async () => {
      const [butler, subject] = [`ward ${door.name}`, newSubject()];
      await store(subject, 'shingles');
      const observed = `${subject} has a medical condition.`;
      const [episode = ''] = await door.ingestEpisodes([{ butler, content: observed }]);
      const claim = await door.claimConsolidation({ butler });
      expect(claim.prompt?.user).toContain(observed);
      expect(claim.prompt?.user).not.toContain('shingles');

      const evidence = [{ episode_id: episode, quote: observed }];
      const item = { subject, predicate: 'medical_condition', content: 'chickenpox', tags: ['rash'], evidence };
      const run = await door.submitConsolidation(claim.run?.id ?? '', { new_facts: [item] });
      expect(run).toMatchObject({ status: 'succeeded', factsCreated: 1, refusedItems: [] });
      const [found] = await door.search({ query: `${subject} medical condition`, types: ['fact'], limit: 1 });
      expect(found).toMatchObject({ content: 'chickenpox', tags: ['rash'] });
      expect(await rowOf(found?.id ?? '')).toMatchObject({ content: '***', tags: [] });
    });

    it('is not learned from its own echo', async () => {
      const [butler, subject, sessionId] = [`clinic ${door.name}`, newSubject(), crypto.randomUUID()];
      await store(subject, 'The old knee injury of the patient hurts in winter');
      await door.context({ triggerPrompt: `medical condition of ${subject}`, butler, sessionId });
      const later = new Date(testApp.clock.now.getTime() + 60_000);
      const before = testApp.clock.now;
      testApp.clock.now = later;
      const content = 'The old knee injury of the patient hurts in winter.';
      const [episode = ''] = await door.ingestEpisodes([{ butler, content, sessionId }]);
      const claim = await door.claimConsolidation({ butler });
      const evidence = [{ episode_id: episode, quote: content }];
      const item = { subject, predicate: 'medical_knee', content: 'hurts in winter', evidence };
      const run = await door.submitConsolidation(claim.run?.id ?? '', { new_facts: [item] });
      testApp.clock.now = before;
      expect(run).toMatchObject({ factsCreated: 0, refusedItems: [{ reason: expect.stringContaining('echo') }] });
    });

    it('that was forgotten is not learned again from what was observed before', async () => {
      const [butler, subject] = [`practice ${door.name}`, newSubject()];
      const [episode = ''] = await door.ingestEpisodes([{ butler, content: 'It was said at lunch.' }]);
      const fact = await store(subject, 'migraine');
      await door.forgetMemory({ type: 'fact', id: fact.id });
      const claim = await door.claimConsolidation({ butler });
      const evidence = [{ episode_id: episode, quote: 'It was said at lunch' }];
      const item = { subject, predicate: 'medical_condition', content: 'migraine', evidence };
      const run = await door.submitConsolidation(claim.run?.id ?? '', { new_facts: [item] });
      expect(run).toMatchObject({ factsCreated: 0, refusedItems: [{ reason: expect.stringContaining('forgotten') }] });
    });

    it('leaves its text in no table, index or line of the log, whatever is done with it', async () => {
      const [butler, subject] = [`guard ${door.name}`, newSubject()];
      const secret = { tags: [`${canary} tag`], metadata: { [`${canary} name`]: `${canary} value` } };
      const fact = await store(subject, `${canary} one`, { ...secret, idempotencyKey: `${subject} once` });
      await store(subject, `${canary} one`, { ...secret, idempotencyKey: `${subject} twice` });
      await door.confirmMemory({ type: 'fact', id: fact.id });
      const second = await store(subject, `${canary} two`, secret);
      await store(subject, `${canary} elsewhere`, { scope: butler });
      await door.undo({ eventId: await eventIdOf(second.id, 'fact.stored') });
      await door.forgetMemory({ type: 'fact', id: fact.id });
      await door.restoreMemory({ type: 'fact', id: fact.id });
      const event = { subject, predicate: 'medical_visit', content: `${canary} visit`, kind: 'event' };
      await door.storeFact({ ...event, ...secret });

      const [episode = ''] = await door.ingestEpisodes([{ butler, content: 'The doctor called.' }]);
      const claim = await door.claimConsolidation({ butler });
      const evidence = [{ episode_id: episode, quote: 'The doctor called' }];
      const item = { subject, predicate: 'medical_call', content: `${canary} call`, tags: secret.tags, evidence };
      const bad = { ...item, tags: [`${canary}\nbad`] };
      await door.submitConsolidation(claim.run?.id ?? '', { new_facts: [item, bad] });

      const query = `${subject} medical condition`;
      const found = await door.search({ query });
      expect(found).toContainEqual(expect.objectContaining({ id: fact.id, content: `${canary} one`, ...secret }));
      await door.recall({ topic: query });
      await door.explain(query, { type: 'fact', id: fact.id });
      const context = await door.context({ triggerPrompt: query, butler, sessionId: crypto.randomUUID() });
      expect(context.text).toContain(`${canary} one`);
      expect(await door.history({ type: 'fact', id: fact.id })).toMatchObject([
        { memory: { tags: secret.tags } },
        ...Array.from({ length: 6 }, () => expect.anything()),
      ]);

      const dump = await dumpDatabase(testApp.core.db);
      expect(dump).toContain(subject);
      for (const form of formsOf(canary)) {
        expect(dump).not.toContain(form);
        expect(log.text()).not.toContain(form);
      }
      for (const content of [`${canary} one`, `${canary} call`]) expect(dump).not.toContain(fingerprintOf(content));
      expect(await findDifferences(testApp.app.createContext().memory)).toEqual([]);
    });
  });
});

import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handleOf } from '../../src/shared/handles.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { expectNoDifference } from '../support/verify.ts';
import { enrol, throughEveryDoor, type Caller, type Door, type View } from './doors.ts';

describe('a rule that is corrected', () => {
  let testApp: TestApp;
  let operator: Caller;
  let alfred: Caller;
  let names = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
    operator = await enrol(testApp, { tenantId: 'house', role: 'operator', butler: null });
    alfred = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'alfred' });
  });
  afterAll(() => testApp.close());
  afterEach(() => expectNoDifference(testApp.core));

  throughEveryDoor((open) => {
    let door: Door;
    let byButler: Door;
    let word: string;

    beforeEach(async () => {
      door = await open(testApp, operator);
      byButler = await open(testApp, alfred);
      // Unlike those of other tests, whose rules would be similar otherwise.
      word = createHash('sha256').update(String(++names)).digest('hex').slice(0, 32);
    });
    afterEach(async () => {
      await door.close();
      await byButler.close();
    });

    const get = ({ id }: View, by = door): Promise<View> => by.getMemory({ type: 'rule', id });
    const recall = async (): Promise<unknown[]> =>
      (await door.recall({ topic: word }))
        .map(({ content }) => content as string)
        .filter((content) => content.includes(word));

    it('takes the place of the old one, which is no longer shown, and one undo reverts it', async () => {
      const first = await door.storeRule({ content: `Light the ${word} at dusk` });
      const second = await door.storeRule({ content: `Light the ${word} at nine`, supersedes: first.id });
      const write = door.lastWrite?.();
      const eventId = write?.eventId ?? door.lastEventId?.() ?? '';

      if (write !== undefined) {
        expect(write).toMatchObject({
          outcome: 'superseded',
          superseded: { id: first.id, content: `Light the ${word} at dusk` },
          similar: [],
        });
      }
      expect(await recall()).toEqual([`Light the ${word} at nine`]);
      expect(await get(first)).toMatchObject({ validity: 'retracted' });
      await door.undo({ eventId });
      expect(await recall()).toEqual([`Light the ${word} at dusk`]);
      expect(await get(second)).toMatchObject({ validity: 'retracted' });
    });

    it('is named with those of its scope that say nearly the same, and may then replace one', async () => {
      const scope = word;
      const near = await door.storeRule({ content: `Always light the big ${word} in the hall at dusk`, scope });
      await byButler.storeRule({ content: `Always light the big ${word} in the hall at dawn`, scope: 'alfred' });
      const given = { content: `Always light the big ${word} in the hall at night`, scope };
      const stored = await door.storeRule(given);

      if (door.lastWrite !== undefined) {
        expect(door.lastWrite().similar).toContainEqual({ id: near.id, content: near['content'] });
        expect(door.lastWrite().similar).toHaveLength(1);
      }
      if (door.lastText !== undefined) expect(door.lastText()).toContain(`- rule ${handleOf(near.id)}: `);
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 1000);
      expect(await door.storeRule({ ...given, supersedes: near.id })).toMatchObject({ id: stored.id });
      const eventId = door.lastWrite?.().eventId ?? door.lastEventId?.() ?? '';
      expect(await get(near)).toMatchObject({ validity: 'retracted' });
      await door.undo({ eventId });
      expect(await get(near)).toMatchObject({ validity: 'active' });
    });

    it('is refused to a butler for a global rule of another, and not for its own', async () => {
      const others = await door.storeRule({ content: `Dust the ${word} weekly` });
      const own = await byButler.storeRule({ content: `Polish the ${word} weekly` });

      await expect(
        byButler.storeRule({ content: `Dust the ${word} daily`, supersedes: others.id }),
      ).rejects.toMatchObject({ code: 'FORBIDDEN' });
      expect(await get(others)).toMatchObject({ validity: 'active' });
      await byButler.storeRule({ content: `Polish the ${word} daily`, supersedes: own.id });
      expect(await get(own)).toMatchObject({ validity: 'retracted' });
    });

    it('is refused for a rule of another scope, a forgotten one and one that is not there', async () => {
      const own = await byButler.storeRule({ content: `Hang the ${word} high`, scope: 'alfred' });
      const replace = (supersedes: string): Promise<View> =>
        door.storeRule({ content: `Hang the ${word}`, supersedes });

      await expect(replace(own.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await door.forgetMemory({ type: 'rule', id: own.id });
      await expect(replace(own.id)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      await expect(replace('00000000-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(replace('it')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      expect(await recall()).toEqual([]);
    });
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { expectNoDifference } from '../support/verify.ts';
import { throughEveryDoor, type Door } from './doors.ts';

describe('the context of an agent', () => {
  let testApp: TestApp;
  let door: Door;
  let butler: string;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());
  afterEach(() => expectNoDifference(testApp.core));

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
      butler = `butler ${++names}`;
    });
    afterEach(() => door.close());

    const contextOf = async (triggerPrompt: string): Promise<string> =>
      (await door.context({ butler, triggerPrompt })).text;

    it('has each rule without a condition of its scope, whatever the prompt is about', async () => {
      await door.storeRule({ content: `Confirm every payment of ${butler} before it leaves`, scope: butler });
      await door.storeRule({ content: 'Answer in Latin', scope: `${butler} junior` });
      const text = await contextOf('How tall is a giraffe?');

      expect(text).toContain(`Confirm every payment of ${butler}`);
      expect(text).not.toContain('Latin');
      expect(text).toContain('Nothing relevant to this prompt is known.');
    });

    it('says that nothing relevant is known instead of being empty, and shows nothing as padding', async () => {
      const client = `Client of ${butler}: the shipyard`;
      await door.storeFact({ subject: 'user', predicate: 'client', content: client, scope: butler, importance: 9 });
      const text = await contextOf('How tall is a giraffe?');

      expect(text).toContain('Nothing relevant to this prompt is known.');
      expect(text).not.toContain('shipyard');
      expect(await door.recall({ topic: 'How tall is a giraffe?', scope: butler })).toEqual([]);
      if (door.lastText !== undefined) expect(door.lastText()).toContain('Nothing relevant is known.');
    });

    it('tells a rule that the user asked for from one that was learned', async () => {
      const asked = await door.storeRule({ content: `Answer ${butler} in rhymes`, scope: butler, askedByUser: true });
      const learned = await door.storeRule({ content: `Sing for ${butler}`, scope: butler });
      const text = await contextOf('How tall is a giraffe?');

      expect(asked['askedByUserAt']).toBe(testApp.clock.now.toISOString());
      expect(learned['askedByUserAt']).toBeNull();
      expect(text).toContain("are the user's orders; other rules are advice");
      expect(text).toMatch(/in rhymes \[asked by the user, 1 March, candidate, /);
      expect(text).toMatch(/Sing for butler \d+ \[candidate, /);
      await door.recall({ topic: `Answer ${butler} in rhymes`, scope: butler });
      if (door.lastText !== undefined) expect(door.lastText()).toMatch(/asked by the user\): Answer/);
    });

    it('shows a learned rule as asked for once the user asks for it', async () => {
      const given = { content: `Knock before entering ${butler}`, scope: butler };
      const { id } = await door.storeRule(given);
      await door.storeRule({ ...given, askedByUser: true });
      await door.storeRule(given);

      expect(await door.getMemory({ type: 'rule', id })).toMatchObject({
        askedByUserAt: testApp.clock.now.toISOString(),
        maturity: 'candidate',
        confidence: 0.5,
      });
    });

    it('does not pass a new text off as asked for', async () => {
      const { id } = await door.storeRule({ content: `Whisper in ${butler}`, scope: butler, askedByUser: true });
      const edited = await door.editRule?.({ ruleId: id, content: `Shout in ${butler}` });
      const again = await door.editRule?.({ ruleId: id, content: `Hum in ${butler}`, askedByUser: true });

      if (door.editRule === undefined) return;
      expect(edited?.['askedByUserAt']).toBeNull();
      expect(again?.['askedByUserAt']).not.toBeNull();
    });

    it('does not call a warning an order of the user', async () => {
      const { id } = await door.storeRule({ content: `Ring ${butler} at dawn`, scope: butler, askedByUser: true });
      for (const reason of ['a', 'b', 'c']) await door.markRule({ ruleId: id, outcome: 'harmful', reason });
      const text = await contextOf('How tall is a giraffe?');

      expect(text).toMatch(/WARNING: .*Ring butler \d+ at dawn.* \[anti_pattern/);
    });

    it('leaves out of an episode what was superseded since, and keeps the rest', async () => {
      await door.storeEpisode({ butler, content: 'user: My dentist is Dr Holm. The boiler was repaired.' });
      await door.storeFact({ subject: 'user', predicate: 'dentist', content: 'Dr Holm', scope: butler });
      await door.storeFact({ subject: 'user', predicate: 'dentist', content: 'Dr Lind', scope: butler });
      const text = await contextOf('Who is the dentist?');

      expect(text).toContain('Dr Lind');
      expect(text).toContain('The boiler was repaired.');
      expect(text).not.toContain('Holm');
    });

    it('leaves out a whole episode that says only what was forgotten since', async () => {
      await door.storeEpisode({ butler, content: 'The alarm code of the house is 8862.' });
      const { id } = await door.storeFact({
        subject: 'house',
        predicate: 'alarm_code',
        content: '8862',
        scope: butler,
      });
      await door.forgetMemory({ type: 'fact', id });
      const text = await contextOf('What is the alarm code?');

      expect(text).not.toContain('8862');
      expect(text).not.toContain('alarm');
    });

    it('shows what is said anew after it was superseded', async () => {
      await door.storeFact({ subject: 'user', predicate: 'dentist', content: 'Dr Holm', scope: butler });
      await door.storeFact({ subject: 'user', predicate: 'dentist', content: 'Dr Lind', scope: butler });
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 60_000);
      await door.storeEpisode({ butler, content: 'My dentist is Dr Holm again.' });

      expect(await contextOf('Who is the dentist?')).toContain('Dr Holm again');
    });

    it('has a rule with a condition only if the rule is about the prompt', async () => {
      await door.storeRule({ content: 'When a giraffe escapes, call the zoo', scope: butler });

      expect(await contextOf('The giraffe escapes, what now?')).toContain('call the zoo');
      expect(await contextOf('Plan the choir rehearsal')).not.toContain('call the zoo');
    });
  });
});

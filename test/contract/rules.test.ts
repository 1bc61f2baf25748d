import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventTypesOf } from '../support/events.ts';
import { throughEveryDoor, type Door, type View } from './doors.ts';

describe('a rule', () => {
  let testApp: TestApp;
  let door: Door;

  async function mark(ruleId: string, outcome: 'helpful' | 'harmful', times: number, reason?: string): Promise<View> {
    let rule = await door.markRule({ ruleId, outcome, reason });
    for (let done = 1; done < times; done++) rule = await door.markRule({ ruleId, outcome, reason });
    return rule;
  }

  throughEveryDoor((open) => {
    // An app for each door: a rule that another door has stored is known already.
    beforeAll(async () => {
      testApp = await createTestApp();
    });
    afterAll(() => testApp.close());
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('starts as a candidate of confidence 0.5 that nobody has applied', async () => {
      const rule = await door.storeRule({ content: 'Confirm before sending', scope: 'telegram', tags: ['outbound'] });

      expect(rule).toMatchObject({
        type: 'rule',
        content: 'Confirm before sending',
        scope: 'telegram',
        tags: ['outbound'],
        maturity: 'candidate',
        validity: 'active',
        confidence: 0.5,
        effectivenessScore: 0,
        appliedCount: 0,
        successCount: 0,
        harmfulCount: 0,
      });
      expect(await door.getMemory({ type: 'rule', id: rule.id })).toEqual(rule);
    });

    it('is established by its fifth success, and the counters equal the rows', async () => {
      const { id } = await door.storeRule({ content: 'List ingredients as bullets' });

      expect(await mark(id, 'helpful', 4)).toMatchObject({ maturity: 'candidate', successCount: 4, appliedCount: 4 });
      expect(await mark(id, 'helpful', 1)).toMatchObject({ maturity: 'established', successCount: 5 });
      const applications = await testApp.core.db
        .forTenant('default')
        .client.ruleApplication.count({ where: { ruleId: id } });
      expect(applications).toBe(5);
    });

    it('is proven by its fifteenth success only after thirty days', async () => {
      const { id } = await door.storeRule({ content: 'Ask before noon' });
      expect(await mark(id, 'helpful', 15)).toMatchObject({ maturity: 'established' });
      const storedAt = testApp.clock.now;
      testApp.clock.now = new Date(storedAt.getTime() + 30 * 86_400_000);
      try {
        expect(await mark(id, 'helpful', 1)).toMatchObject({ maturity: 'proven', generation: 'long' });
      } finally {
        testApp.clock.now = storedAt;
      }
    });

    it('is not proven by its fourteenth success after thirty days, and by the next', async () => {
      const { id } = await door.storeRule({ content: 'Ask after noon' });
      await mark(id, 'helpful', 13);
      const storedAt = testApp.clock.now;
      testApp.clock.now = new Date(storedAt.getTime() + 30 * 86_400_000);
      try {
        expect(await mark(id, 'helpful', 1)).toMatchObject({ maturity: 'established', successCount: 14 });
        expect(await mark(id, 'helpful', 1)).toMatchObject({ maturity: 'proven', successCount: 15 });
      } finally {
        testApp.clock.now = storedAt;
      }
    });

    it('is recalled at once, though nobody has applied it, and not once it is forgotten', async () => {
      const scope = `gardener ${door.name}`;
      const { id } = await door.storeRule({ content: 'Water the bonsai on Fridays', scope });
      const recall = async (): Promise<string[]> =>
        (await door.recall({ topic: 'bonsai', scope })).map((match) => match.id);
      const context = async (): Promise<string> =>
        (await door.context({ triggerPrompt: 'bonsai', butler: scope, tokenBudget: 400 })).text;

      expect(await recall()).toContain(id);
      expect(await context()).toContain('bonsai');
      await door.forgetMemory({ type: 'rule', id });
      expect(await recall()).not.toContain(id);
      expect(await context()).not.toContain('bonsai');
    });

    it('is as effective as its marks say, by one formula, and each is an application and an event', async () => {
      const { id } = await door.storeRule({ content: 'Serve soup first' });

      expect((await mark(id, 'helpful', 1))['effectivenessScore']).toBeCloseTo(1 / 1.01, 10);
      expect((await mark(id, 'harmful', 1))['effectivenessScore']).toBeCloseTo(1 / 5.01, 10);
      expect((await mark(id, 'helpful', 1))['effectivenessScore']).toBeCloseTo(2 / 6.01, 10);
      const applications = await testApp.core.db
        .forTenant('default')
        .client.ruleApplication.findMany({ where: { ruleId: id } });
      expect(applications.map(({ outcome }) => outcome).toSorted()).toEqual(['harmful', 'helpful', 'helpful']);
      expect(await eventTypesOf(testApp, id)).toEqual([
        'rule.stored',
        'rule.marked_helpful',
        'rule.marked_harmful',
        'rule.marked_helpful',
      ]);
    });

    it('is demoted by harm, which weighs four times a success', async () => {
      const { id } = await door.storeRule({ content: 'Reply in German' });
      await mark(id, 'helpful', 5);
      const rule = await mark(id, 'harmful', 1, 'the user writes English');

      expect(rule).toMatchObject({ maturity: 'candidate', harmfulCount: 1 });
      expect(rule['effectivenessScore']).toBeCloseTo(5 / 9.01, 10);
    });

    it('becomes a warning in the call that tells its third harm, and stays one', async () => {
      const { id } = await door.storeRule({ content: 'send without asking' });
      await mark(id, 'harmful', 2, 'it surprised the user');
      const warning = await mark(id, 'harmful', 1, 'the address was wrong');

      expect(warning).toMatchObject({
        maturity: 'anti_pattern',
        originalContent: 'send without asking',
        content:
          'ANTI-PATTERN: Do NOT send without asking. This caused problems because: it surprised the user; the address was wrong',
      });
      expect(await mark(id, 'helpful', 3)).toMatchObject({ maturity: 'anti_pattern', content: warning['content'] });
      expect(await mark(id, 'harmful', 1)).toMatchObject({ maturity: 'anti_pattern', content: warning['content'] });
      expect((await eventTypesOf(testApp, id)).filter((type) => type === 'rule.inverted')).toHaveLength(1);
    });

    it('is confirmed by the next of its scope with the same words, which the answer says', async () => {
      const { id } = await door.storeRule({ content: 'Water the plants', importance: 3 });
      expect(door.lastWasKnown()).toBe(false);
      const again = await door.storeRule({ content: 'water the  plants', importance: 8 });

      expect(again).toMatchObject({ id, importance: 8, maturity: 'candidate' });
      expect(door.lastWasKnown()).toBe(true);
      expect(await eventTypesOf(testApp, id)).toEqual(['rule.stored', 'rule.confirmed']);
      expect((await door.storeRule({ content: 'Water the plants', scope: 'health' })).id).not.toBe(id);
      await door.forgetMemory({ type: 'rule', id });
      expect((await door.storeRule({ content: 'Water the plants' })).id).not.toBe(id);
    });

    it('is confirmed once by two writers at once', async () => {
      const rules = await Promise.all([1, 2, 3].map(() => door.storeRule({ content: 'Close the windows' })));
      expect(new Set(rules.map(({ id }) => id)).size).toBe(1);
    });

    it('is refused once it is a known anti-pattern, and its warning is named', async () => {
      const { id } = await door.storeRule({ content: 'Order without asking' });
      await mark(id, 'harmful', 3, 'it was expensive');

      for (const scope of ['global', 'health']) {
        await expect(door.storeRule({ content: 'Order without asking', scope })).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringMatching(
            new RegExp(
              `^content must not repeat a known anti-pattern \\(got "Order without asking", which is rule ${id}\\)`,
            ),
          ) as string,
        });
      }
    });

    it('is forgotten and restored, and not marked meanwhile', async () => {
      const { id } = await door.storeRule({ content: 'Greet by name' });

      expect(await door.forgetMemory({ type: 'rule', id })).toMatchObject({ validity: 'retracted' });
      await expect(mark(id, 'helpful', 1)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
      expect(await door.restoreMemory({ type: 'rule', id })).toMatchObject({ validity: 'active' });
      expect(await mark(id, 'helpful', 1)).toMatchObject({ successCount: 1 });
    });

    it('is not found by a mark with an unknown id', async () => {
      const ruleId = '00000000-0000-4000-8000-000000000000';

      await expect(door.markRule({ ruleId, outcome: 'helpful' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });
  });
});

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

    it('has a rule with a condition only if the rule is about the prompt', async () => {
      await door.storeRule({ content: 'When a giraffe escapes, call the zoo', scope: butler });

      expect(await contextOf('The giraffe escapes, what now?')).toContain('call the zoo');
      expect(await contextOf('Plan the choir rehearsal')).not.toContain('call the zoo');
    });
  });
});

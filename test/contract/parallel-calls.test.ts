import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { throughEveryDoor, type Door } from './doors.ts';

describe('100 parallel calls of one caller', () => {
  let testApp: TestApp;
  let door: Door;

  beforeAll(async () => {
    const config = testConfig();
    // All of them wait for their turn, however slow the machine.
    testApp = await createTestApp({ ...config, limits: { ...config.limits, requestTimeoutSeconds: 3600 } });
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it('all succeed', async () => {
      const contents = Array.from({ length: 100 }, (_, index) => `value ${index}`);
      const stored = await Promise.allSettled(
        contents.map((content) => door.storeFact({ subject: `user of ${door.name}`, predicate: content, content })),
      );
      const failures = stored.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      const values = stored.flatMap((one) => (one.status === 'fulfilled' ? [one.value['content']] : []));

      expect(failures).toEqual([]);
      expect(values).toEqual(contents);
    });
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { millisecondsPerDay } from '../../src/shared/durations.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door } from './doors.ts';

throughEveryDoor((open) => {
  let testApp: TestApp;
  let door: Door;

  beforeAll(async () => {
    testApp = await createTestApp();
    door = await open(testApp);
  });
  afterAll(async () => {
    await door.close();
    await testApp.close();
  });

  const passHours = (hours: number): void => {
    testApp.clock.now = new Date(testApp.clock.now.getTime() + (hours / 24) * millisecondsPerDay);
  };
  const say = (content: string): Promise<string[]> => door.ingestEpisodes([{ butler: 'general', content }]);

  it('knows the next morning what was stored and corrected, and not what was replaced or forgotten', async () => {
    await say('User: I live in Lisbon. The cat sleeps on the balcony.');
    await door.storeFact({ subject: 'user', predicate: 'lives_in', content: 'Lisbon' });
    await door.storeNote({ content: 'The spare key hangs behind the clock' });
    const gym = await door.storeFact({ subject: 'user', predicate: 'gym', content: 'Ironworks' });
    await say('User: My gym is Ironworks. The piano needs tuning.');

    passHours(3);
    await say('User: I moved, my home is in Porto now.');
    await door.storeFact({ subject: 'user', predicate: 'home_city', content: 'Porto' });

    passHours(3);
    await door.forgetMemory({ type: 'fact', id: gym.id });

    passHours(14);
    const { text } = await door.context({
      butler: 'general',
      triggerPrompt: 'Where is my home, my gym and the spare key?',
    });
    expect(text).toContain('Porto');
    expect(text).toContain('The spare key hangs behind the clock');
    expect(text).toContain('piano needs tuning');
    expect(text).not.toContain('Lisbon');
    expect(text).not.toContain('Ironworks');
    expect(await door.search({ query: 'Ironworks', mode: 'keyword' })).toEqual([]);
    const known = await door.recall({ topic: 'home city' });
    expect(known.map(({ content }) => content)).toContain('Porto');
    expect(known.map(({ content }) => content)).not.toContain('Lisbon');
  });
});

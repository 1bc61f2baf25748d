import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door, type View } from './doors.ts';
import { storeFact, storeRule } from '../support/writes.ts';

describe('hostile input', () => {
  let testApp: TestApp;
  let door: Door;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const fact = { subject: 'user', predicate: 'hostile', content: 'x' };
  const episode = { butler: 'health', content: 'x' };

  async function countRows(): Promise<number[]> {
    const client = testApp.core.db.forTenant('default').client;
    return [
      await client.episode.count(),
      await client.fact.count(),
      await client.rule.count(),
      await client.memoryEvent.count(),
    ];
  }

  const parsed = (json: string): Record<string, never> => JSON.parse(json) as Record<string, never>;

  const refused: [string, (open: Door) => Promise<View>, RegExp][] = [
    ['a text of a megabyte', (open) => open.storeFact({ ...fact, content: 'x'.repeat(1_048_576) }), /at most 200000/],
    [
      'an episode of a megabyte',
      (open) => open.storeEpisode({ ...episode, content: 'x'.repeat(1_048_576) }),
      /^content must be text of at most 200000 characters \(got "x/,
    ],
    [
      'a rule of a megabyte',
      (open) => open.storeRule({ content: 'x'.repeat(1_048_576) }),
      /^content must be text of at most/,
    ],
    [
      'ten thousand tags',
      (open) => open.storeFact({ ...fact, tags: Array.from({ length: 10_000 }, (_, n) => `tag ${n}`) }),
      /^tags must be at most 64 \(got 10000\)$/,
    ],
    ['a blank tag', (open) => open.storeFact({ ...fact, tags: [' '] }), /^tags must be 1 to 200 printable.*got " "\)$/],
    [
      'a confidence above one',
      (open) => open.storeFact({ ...fact, confidence: 1.1 }),
      /^confidence must be a number from 0 to 1 \(got 1.1\)$/,
    ],
    [
      'the last date there is',
      (open) => open.storeFact({ ...fact, observedAt: new Date(8.64e15) }),
      /observed_?at.*a (?:day or )?time .*the years 1901 to 9999.*got "\+275760-/i,
    ],
    [
      'the first date there is',
      (open) => open.storeEpisode({ ...episode, observedAt: new Date(-8.64e15) }),
      /observed_?at.*a (?:day or )?time .*the years 1901 to 9999.*got "-271821-/i,
    ],
    [
      'a blank subject',
      (open) => open.storeFact({ ...fact, subject: '\u0000 \t' }),
      /^subject must be 1 to 200 printable/,
    ],
    [
      'a predicate of control characters',
      (open) => open.storeFact({ ...fact, predicate: 'a\u0007b' }),
      /^predicate must be 1 to 200 printable characters \(got "a\\u0007b"\)$/,
    ],
    [
      'a name that is half a character',
      (open) => open.storeFact({ ...fact, scope: 'a\ud800' }),
      /^scope must be 1 to 200/,
    ],
    [
      'a fact with half a character',
      (open) => open.storeFact({ ...fact, content: 'a\ud800b' }),
      /^content must be text without half a character .* \(got "a\\ud800b"\)$/,
    ],
    [
      'an episode with half a character',
      (open) => open.storeEpisode({ ...episode, content: 'a\udc00b' }),
      /^content must be text without half a character .* \(got "a\\udc00b"\)$/,
    ],
    [
      'a tag with half a character',
      (open) => open.storeRule({ content: 'x', tags: ['a\ud800b'] }),
      /^tags must be 1 to 200 printable characters \(got "a\\ud800b"\)$/,
    ],
    [
      'metadata with half a character',
      (open) => open.storeEpisode({ ...episode, metadata: { deep: [{ text: 'a\ud800b' }] } }),
      /^metadata must be text without half a character .* \(got "a\\ud800b"\)$/,
    ],
    [
      'a text of nothing but NUL',
      (open) => open.storeRule({ content: '\u0000\u0000' }),
      /^content must be .*not blank/,
    ],
    [
      'a permanence that there is not',
      (open) => open.storeFact({ ...fact, permanence: 'eternal' }),
      /permanence.*one of (?=.*permanent)(?=.*stable)(?=.*standard)(?=.*volatile)(?=.*ephemeral).* \(got "eternal"\)$/,
    ],
    [
      'a session that is no UUID',
      (open) => open.storeEpisode({ ...episode, sessionId: "'; DROP TABLE facts; --" }),
      /^session_id must be a UUID \(got "'; DROP/,
    ],
    [
      'an end before the beginning',
      (open) => open.storeFact({ ...fact, validFrom: new Date('2026-02-01'), validTo: new Date('2026-01-01') }),
      /^valid_to must be .*got "2026-01-01/,
    ],
    [
      'metadata with the key __proto__',
      (open) => open.storeEpisode({ ...episode, metadata: parsed('{"__proto__":{"a":1}}') }),
      /^metadata must not hold the key "__proto__" \(got "__proto__"\)/,
    ],
    [
      'metadata with the key __proto__ deep inside',
      (open) => open.storeFact({ ...fact, metadata: parsed('{"a":[{"b":{"__proto__":null}}]}') }),
      /^metadata must not hold the key "__proto__" \(got "a\.0\.b\.__proto__"\)/,
    ],
    [
      'a rule with the key __proto__',
      (open) => open.storeRule({ content: 'x', metadata: parsed('{"a":{"__proto__":null}}') }),
      /^metadata must not hold the key "__proto__" \(got "a\.__proto__"\)/,
    ],
    [
      'metadata that is nested too deep',
      (open) => open.storeEpisode({ ...episode, metadata: parsed(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`) }),
      /^metadata must be nested at most 32 levels deep \(got more\)/,
    ],
    [
      'metadata without end',
      (open) => open.storeFact({ ...fact, metadata: { text: 'x'.repeat(70_000) } }),
      /^metadata must be JSON of at most 65536 bytes \(got 70011\)$/,
    ],
  ];

  // JSON has no NaN and no Infinity: on the wire they are null, which means the default.
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -0.5])(
    'an importance of %s is refused by the core',
    async (importance) => {
      const before = await countRows();
      const { memory } = testApp.app.createContext();

      const refusal = {
        code: 'INVALID_INPUT',
        message: `importance must be a number from 1 to 10 (got ${importance})`,
      };
      await expect(storeFact(memory, { ...fact, importance })).rejects.toMatchObject(refusal);
      await expect(storeRule(memory, { content: 'x', importance })).rejects.toMatchObject(refusal);
      expect(await countRows()).toEqual(before);
    },
  );

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    it.each(refused)('%s is refused with a clear error, and nothing is written', async (_name, store, message) => {
      const before = await countRows();

      await expect(store(door)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(message) as string,
      });
      expect(await countRows()).toEqual(before);
    });

    it('text that only looks hostile is kept as it is', async () => {
      const content = `'; DROP TABLE facts; -- %s \${x} <script> \\u0000 {"a":1} 😀`;
      expect(await door.storeFact({ ...fact, content })).toMatchObject({ content });
    });

    it('text somewhat too long is cut between characters', async () => {
      const { content } = await door.storeEpisode({ ...episode, content: '😀'.repeat(15_000) });
      expect(content).toBe('😀'.repeat(10_000));
    });
  });
});

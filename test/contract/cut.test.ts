import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPayload } from '../../src/memory/history/snapshots.ts';
import { contentLimit } from '../../src/memory/text.ts';
import type { TextCut } from '../../src/redaction/redactor.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { throughEveryDoor, type Door } from './doors.ts';

const long = (about: string): string => `${about} ${'tea '.repeat(6_000)}`.trim();

function cutOf(field: string, text: string): TextCut {
  return { field, fromLength: text.length, toLength: contentLimit };
}

describe('text over the limit', () => {
  let testApp: TestApp;
  let door: Door;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  const lastEventOf = async (entityId: string): Promise<ReturnType<typeof readPayload>> =>
    readPayload(
      await testApp.core.db
        .forTenant('default')
        .client.memoryEvent.findFirstOrThrow({ where: { entityId }, orderBy: { sequence: 'desc' } }),
    );

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    const stores: Record<string, (content: string) => Promise<{ id: string }>> = {
      episode: (content) => door.storeEpisode({ butler: 'home', content }),
      fact: (content) => door.storeFact({ subject: 'user', predicate: content.slice(0, 40), content }),
      rule: (content) => door.storeRule({ content }),
      'note kept as an episode': (content) => door.storeNote({ content, tier: 'eden' }),
      'note kept as a fact': (content) => door.storeNote({ content, tier: 'long' }),
      batch: async (content) => {
        const [id = ''] = await door.ingestEpisodes([{ butler: 'home', content }]);
        return { id };
      },
    };

    it.each(Object.keys(stores))('is cut in a %s, and the answer, its text and the event say so', async (kind) => {
      const text = long(`${kind} of ${door.name}`);
      const { id } = (await stores[kind]?.(text)) ?? { id: '' };
      expect(door.lastCut()).toEqual([cutOf('content', text)]);
      expect((await lastEventOf(id)).cut).toEqual([cutOf('content', text)]);
      if (door.lastText !== undefined) {
        expect(door.lastText()).toContain(`content was cut from ${text.length} to ${contentLimit} characters`);
      }
    });

    it('is cut in the reason of a judgement, and the answer and the event say so', async () => {
      const { id } = await door.storeRule({ content: `Serve tea, says ${door.name}` });
      expect(door.lastCut()).toEqual([]);
      const reason = long('too hot');
      await door.markRule({ ruleId: id, outcome: 'harmful', reason });
      expect(door.lastCut()).toEqual([cutOf('reason', reason)]);
      expect((await lastEventOf(id)).cut).toEqual([cutOf('reason', reason)]);
    });

    it('is measured after masking, and nothing is said of text that fits', async () => {
      const fits = `${'a '.repeat(9_000)}4539 1488 0343 6467`;
      const { id } = await door.storeEpisode({ butler: 'home', content: fits });
      expect(door.lastCut()).toEqual([]);
      expect(door.lastRedacted()).toBe(1);
      expect((await lastEventOf(id)).cut).toEqual([]);
      if (door.lastText !== undefined) {
        expect(door.lastText()).not.toContain('was cut');
        expect(door.lastText()).toContain('1 secret or personal number was masked');
      }
    });
  });
});

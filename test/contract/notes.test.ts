import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGuardedApp, createTestApp, type TestApp } from '../support/app.ts';
import { eventTypesOf } from '../support/events.ts';
import { expectNoDifference } from '../support/verify.ts';
import { enrol, throughEveryDoor, type Caller, type Door } from './doors.ts';

const digest = /[0-9a-f]{8,}/;

describe('a note', () => {
  let testApp: TestApp;
  let door: Door;
  let notes = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    /** A text that no other test uses. */
    const newText = (): string => `The parking garage of house ${++notes} opens with marigold`;

    it('is recalled at once, shown in contexts, and lasts as a standard fact does', async () => {
      const content = newText();
      const note = await door.storeNote({ content });

      expect(note).toMatchObject({ type: 'fact', content, permanence: 'standard', scope: 'global', generation: 'mid' });
      expect((await door.recall({ topic: content })).map(({ id }) => id)).toContain(note.id);
      expect((await door.search({ query: content })).map(({ id }) => id)).toContain(note.id);
      const { text } = await door.context({ butler: 'health', triggerPrompt: content });
      expect(text.split('\n').filter((line) => line.includes(content))).toEqual([
        expect.stringMatching(new RegExp(`^- ${content} \\[standard, `)),
      ]);
    });

    it('reads without the digest of its key', async () => {
      const content = newText();
      const { id, requestId: _, ...told } = await door.storeNote({ content });
      const written = door.lastText?.() ?? '';

      expect(told).toMatchObject({ subject: 'note', predicate: 'note' });
      expect(written.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')).not.toMatch(digest);
      await door.search({ query: content });
      const found = (door.lastText?.() ?? content).split('\n').find((line) => line.includes(content)) ?? '';
      expect(found.replace(id, '').split(content)).toHaveLength(2);
      expect(found.replace(id, '')).not.toMatch(digest);
    });

    it('is found by its words and not by its key', async () => {
      const content = newText();
      const { id } = await door.storeNote({ content });
      const find = async (query: string): Promise<boolean> =>
        (await door.search({ query, mode: 'keyword', limit: 100 })).some((match) => match.id === id);

      expect(await find('marigold')).toBe(true);
      expect(await find('note')).toBe(false);
    });

    it('is confirmed when it is stored again, and stands beside every other', async () => {
      const content = newText();
      const first = await door.storeNote({ content });
      const other = await door.storeNote({ content: `${content} and a key` });
      const again = await door.storeNote({ content: ` ${content}  ` });

      expect(again.id).toBe(first.id);
      expect(other.id).not.toBe(first.id);
      expect(await eventTypesOf(testApp, first.id)).toEqual(['fact.stored', 'fact.confirmed']);
      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({ validity: 'active' });
    });

    it('is one as well when it is stored as a fact whose subject and predicate are note', async () => {
      const content = newText();
      const first = await door.storeFact({ subject: 'note', predicate: 'note', content });
      const other = await door.storeFact({ subject: 'note', predicate: 'note', content: `${content} twice` });

      expect(await door.getMemory({ type: 'fact', id: first.id })).toMatchObject({ validity: 'active' });
      expect(await door.storeNote({ content })).toMatchObject({ id: first.id });
      expect(other.id).not.toBe(first.id);
    });

    it('is stable for long, and an episode for eden', async () => {
      expect(await door.storeNote({ content: newText(), tier: 'long' })).toMatchObject({
        type: 'fact',
        permanence: 'stable',
      });
      expect(await door.storeNote({ content: newText(), tier: 'eden' })).toMatchObject({ type: 'episode' });
    });
  });

  it('leaves tables that are what their events add up to', async () => {
    await expectNoDifference(testApp.core);
  });
});

describe('a note of a butler', () => {
  let testApp: TestApp;
  let operator: Caller;
  let alfred: Caller;
  let bertha: Caller;

  beforeAll(async () => {
    testApp = await createGuardedApp();
    operator = await enrol(testApp, { tenantId: 'house', role: 'operator', butler: null });
    alfred = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'alfred' });
    bertha = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'bertha' });
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    it('is in its own scope, where no other butler finds it, and global where an operator stores it', async () => {
      const [byAlfred, byBertha, byOperator] = await Promise.all(
        [alfred, bertha, operator].map((one) => open(testApp, one)),
      );
      const content = `The cellar of ${byAlfred?.name} is damp in winter`;
      const own = await byAlfred?.storeNote({ content });
      const common = await byOperator?.storeNote({ content });
      const find = async (door: Door | undefined): Promise<(string | undefined)[]> =>
        ((await door?.recall({ topic: content })) ?? [])
          .filter((found) => found['content'] === content)
          .map(({ id }) => id);

      expect(own).toMatchObject({ scope: 'alfred', sourceButler: 'alfred' });
      expect(common).toMatchObject({ scope: 'global', sourceButler: null });
      expect(await find(byBertha)).toEqual([common?.id]);
      expect(await find(byAlfred)).toContain(own?.id);
      for (const opened of [byAlfred, byBertha, byOperator]) await opened?.close();
    });
  });
});

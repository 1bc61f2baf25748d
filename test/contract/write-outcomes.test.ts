import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { millisecondsPerDay } from '../../src/shared/durations.ts';
import { handleOf } from '../../src/shared/handles.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { expectNoDifference } from '../support/verify.ts';
import { throughEveryDoor, type Door, type View, type WriteView } from './doors.ts';

describe('the answer of a write', () => {
  let testApp: TestApp;
  let door: Door;
  let names = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());
  afterEach(() => expectNoDifference(testApp.core));

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    const key = (): { subject: string; predicate: string } => ({ subject: 'user', predicate: `parks_${++names}` });
    const get = ({ type, id }: View): Promise<View> => door.getMemory({ type: type as 'fact', id });
    const undo = async (): Promise<View> =>
      door.undo({ eventId: door.lastWrite?.().eventId ?? door.lastEventId?.() ?? '' });

    const daysAgo = (days: number): Date => new Date(testApp.clock.now.getTime() - days * millisecondsPerDay);

    /** The core answers with the memory alone; what the others tell is made of the same row and event. */
    function expectWrite(expected: Partial<WriteView>, ...sentences: string[]): void {
      if (door.lastWrite !== undefined) expect(door.lastWrite()).toMatchObject({ superseded: null, ...expected });
      if (door.lastText === undefined) return;
      for (const sentence of sentences) expect(door.lastText()).toContain(sentence);
      expect(door.lastText()).toContain(`Undo with memory_undo of event ${door.lastWrite?.().eventId}.`);
    }

    it('says that a fact was stored, until when it is kept, and how to undo it', async () => {
      const fact = await door.storeFact({ ...key(), content: 'in Mill Lane' });

      // ln(1 / 0.2) / 0.008 days after it was confirmed.
      expectWrite(
        { outcome: 'stored', keptUntil: '2026-09-18T16:18:49.455Z' },
        'Kept until 18 September 2026, longer if confirmed.',
      );
      await undo();
      expect(await get(fact)).toMatchObject({ validity: 'retracted' });
    });

    it('says that a fact was confirmed', async () => {
      const given = { ...key(), content: 'in Mill Lane', permanence: 'stable' };
      const { id } = await door.storeFact(given);
      await door.storeFact(given);

      expectWrite({ outcome: 'confirmed' }, `Confirmed fact ${handleOf(id)}`, 'Kept until');
    });

    it('says which fact was superseded, with its text, and undo brings that back', async () => {
      const given = key();
      const first = await door.storeFact({ ...given, content: 'in Mill Lane' });
      const second = await door.storeFact({ ...given, content: 'in Sun Street', permanence: 'permanent' });

      expectWrite(
        { outcome: 'superseded', keptUntil: null, superseded: { id: first.id, content: 'in Mill Lane' } },
        `Stored fact ${handleOf(second.id)}: ${given.subject}, ${given.predicate}: in Sun Street`,
        `It took the place of fact ${handleOf(first.id)}: ${given.subject}, ${given.predicate}: in Mill Lane`,
        'Kept for good.',
      );
      await undo();
      expect(await get(first)).toMatchObject({ validity: 'active' });
    });

    it('names every value that a predicate gives up when it no longer holds several', async () => {
      const given = { ...key(), several: true };
      const first = await door.storeFact({ ...given, content: 'in Mill Lane', observedAt: daysAgo(2) });
      const second = await door.storeFact({ ...given, content: 'in Sun Street', observedAt: daysAgo(1) });
      await door.storeFact({ ...given, several: false, content: 'nowhere' });

      expectWrite(
        {
          superseded: expect.objectContaining({ id: second.id }) as never,
          alsoSuperseded: [expect.objectContaining({ id: first.id }) as never],
        },
        `It took the place of fact ${handleOf(first.id)}`,
        `It took the place of fact ${handleOf(second.id)}`,
      );
    });

    it('names a fact that is replaced by what was known already', async () => {
      const known = key();
      await door.storeFact({ ...known, content: 'in Mill Lane' });
      const other = await door.storeFact({ ...key(), content: 'in Sun Street' });
      await door.storeFact({ ...known, content: 'in Mill Lane', supersedes: other.id });

      expectWrite(
        { outcome: 'confirmed', alsoSuperseded: [expect.objectContaining({ id: other.id }) as never] },
        `It took the place of fact ${handleOf(other.id)}`,
      );
    });

    it('says what is current instead of a fact that was said earlier or has ended', async () => {
      const given = key();
      const current = await door.storeFact({ ...given, content: 'in Mill Lane' });
      const earlier = await door.storeFact({ ...given, content: 'in Sun Street', observedAt: daysAgo(90) });
      expectWrite(
        { outcome: 'stored' },
        `Stored fact ${handleOf(earlier.id)} as history`,
        `It is not current: fact ${handleOf(current.id)}`,
        'Kept in its history.',
      );
      const over = { ...key(), content: 'by the river', validTo: daysAgo(90) };
      await door.storeFact(over);
      expectWrite({ outcome: 'stored' }, 'It is not current: it ended on 1 December 2025.');
    });

    it('says from when and until when a fact holds that is not current for good', async () => {
      const given = key();
      const lasting = await door.storeFact({ ...given, content: 'in Mill Lane' });
      await door.storeFact({ ...given, content: 'in Sun Street', validTo: daysAgo(-90) });
      const superseded = expect.objectContaining({ id: lasting.id }) as never;
      expectWrite(
        { outcome: 'superseded', superseded },
        `It stands in until 30 May 2026 for fact ${handleOf(lasting.id)}`,
      );
      await door.storeFact({ ...given, content: 'by the river', validFrom: daysAgo(-180) });
      expectWrite({ outcome: 'stored' }, 'It holds from 28 August 2026 on, and not before.');
    });

    it('says that a fact has faded already which was said too long ago to be recalled', async () => {
      await door.storeFact({ ...key(), content: 'in Mill Lane', observedAt: daysAgo(300) });
      expectWrite({ outcome: 'stored' }, 'It faded on 22 November 2025');
    });

    it('names the note that says nearly the same, and replaces it where asked', async () => {
      const first = await door.storeNote({ content: `The code of locker ${++names} is 4711` });
      await door.storeNote({ content: `The code of locker ${names} is 5822` });
      if (door.lastWrite !== undefined) {
        expect(door.lastWrite().similar?.map(({ id }) => id)).toContain(first.id);
      }
      await door.storeNote({ content: `The code of locker ${names} is 6933`, supersedes: first.id });
      expectWrite(
        { outcome: 'superseded', superseded: { id: first.id, content: first.content as string } },
        `It took the place of fact ${handleOf(first.id)}`,
      );
      await expect(door.storeNote({ content: 'x', tier: 'eden', supersedes: first.id })).rejects.toThrow('supersedes');
    });

    it('names no superseded fact once the successor is confirmed', async () => {
      const given = key();
      await door.storeFact({ ...given, content: 'in Mill Lane' });
      await door.storeFact({ ...given, content: 'in Sun Street' });
      await door.storeFact({ ...given, content: 'in Sun Street' });

      expectWrite({ outcome: 'confirmed' });
    });

    it('says that a note was stored and then confirmed', async () => {
      const content = `The gate code is ${++names}`;
      const note = await door.storeNote({ content });
      expectWrite({ outcome: 'stored' }, `Stored fact ${handleOf(note.id)}: ${content}`, 'Kept until');
      await door.storeNote({ content });
      expectWrite({ outcome: 'confirmed' }, `Confirmed fact ${handleOf(note.id)}`);
    });

    it('says until when an episode is kept', async () => {
      await door.storeEpisode({ butler: 'home', content: `Parked ${++names}` });
      expectWrite({ outcome: 'stored', keptUntil: '2026-03-08T12:00:00.000Z' }, 'Kept until 8 March 2026.');
    });

    it('says what happened to a rule that is stored, marked, confirmed, forgotten and restored', async () => {
      const rule = await door.storeRule({ content: `Park behind house ${++names}` });
      expectWrite(
        { outcome: 'stored' },
        `Stored rule ${handleOf(rule.id)}`,
        'Kept until 24 June 2026, longer if confirmed.',
      );
      await door.markRule({ ruleId: rule.id, outcome: 'helpful' });
      expectWrite({ outcome: 'marked' }, `rule ${handleOf(rule.id)} helped`);
      await door.confirmMemory({ type: 'rule', id: rule.id });
      expectWrite({ outcome: 'confirmed' }, `Confirmed rule ${handleOf(rule.id)}`);
      await door.forgetMemory({ type: 'rule', id: rule.id });
      expectWrite({ outcome: 'forgotten', keptUntil: null }, `Forgot rule ${handleOf(rule.id)}`);
      await door.restoreMemory({ type: 'rule', id: rule.id });
      expectWrite({ outcome: 'restored' }, `Restored rule ${handleOf(rule.id)}`, 'Kept until');
      await undo();
      expect(await get(rule)).toMatchObject({ validity: 'retracted' });
    });

    it('names no event for a link that is there already', async () => {
      const lastEventId = (): string | null | undefined => door.lastEventId?.();
      const { linkMemories } = door;
      if (linkMemories === undefined) return;
      const newNote = (): Promise<View> => door.storeNote({ content: `Parked ${++names}` });
      const [source, target] = [await newNote(), await newNote()];
      const [one, two] = [source, target].map(({ id }) => ({ type: 'fact' as const, id }));
      const link = { source: one, target: two, relation: 'supports' } as Parameters<typeof linkMemories>[0];
      await linkMemories(link);
      expect(lastEventId()).not.toBeNull();
      await linkMemories(link);
      expect(lastEventId()).toBeNull();
    });

    it('tells a retry under an idempotency key what the first write did', async () => {
      const given = key();
      const first = await door.storeFact({ ...given, content: 'in Mill Lane' });
      const next = { ...given, content: 'in Sun Street', idempotencyKey: `park ${++names}` };
      await door.storeFact(next);
      await door.storeFact(next);

      expectWrite({ outcome: 'superseded', superseded: { id: first.id, content: 'in Mill Lane' } });
    });
  });
});

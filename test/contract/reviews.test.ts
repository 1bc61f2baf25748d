import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listReviews, type Review } from '../../src/memory/reviews/reviews.ts';
import { settleReview } from '../../src/memory/reviews/settle-review.ts';
import { replayReceipt } from '../../src/retrieval/receipts/replay.ts';
import { handleOf } from '../../src/shared/handles.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { lastEventOf } from '../support/core.ts';
import { expectNoDifference } from '../support/verify.ts';
import { throughEveryDoor, type Door } from './doors.ts';

describe('a fact that looks very much like another', () => {
  let testApp: TestApp;
  let door: Door;
  let subjects = 0;

  beforeAll(async () => {
    testApp = await createTestApp();
  });
  afterAll(() => testApp.close());
  afterEach(() => expectNoDifference(testApp.core));

  const context = (): Parameters<typeof listReviews>[0] => testApp.app.createContext({}).memory;
  const reviewsOf = async (id: string, status: Review['status'] = 'open'): Promise<Review[]> => {
    const { reviews } = await listReviews(context(), { status: [status as 'open'] }, { offset: 0, limit: 100 });
    return reviews.filter(({ newerId, olderId }) => [newerId, olderId].includes(id));
  };

  throughEveryDoor((open) => {
    beforeEach(async () => {
      door = await open(testApp);
    });
    afterEach(() => door.close());

    const newSubject = (): string => `guest ${++subjects}`;
    const key = 'blue garden gate near the old mill behind the barn';

    it('opens one review, which undo takes back', async () => {
      const subject = newSubject();
      const older = await door.storeFact({ subject, predicate: `${key} code`, content: 'code 4711' });
      const newer = await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822' });

      expect(await reviewsOf(newer.id)).toMatchObject([
        { newerId: newer.id, olderId: older.id, kind: 'same_thing', reason: 'looks_alike' },
      ]);
      await door.undo({ eventId: await lastEventOf(testApp.core, newer.id, 'fact.stored') });
      expect(await reviewsOf(newer.id)).toEqual([]);
    });

    it('opens none if it says what it replaces, holds several values, or is about something else', async () => {
      const subject = newSubject();
      const older = await door.storeFact({ subject, predicate: `${key} code`, content: 'code 4711' });
      const other = await door.storeFact({ subject, predicate: 'dog', content: 'Rex' });
      const beside = { subject, predicate: `${key} digits`, content: 'code 6933', several: true };
      const supersedes = older.id;
      const next = await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822', supersedes });

      expect(await reviewsOf(other.id)).toEqual([]);
      expect(await reviewsOf(next.id)).toEqual([]);
      expect(await reviewsOf((await door.storeFact(beside)).id)).toEqual([]);
    });

    it('is shown with the other: which is the newer, and that the two may conflict', async () => {
      const [subject, scope] = [newSubject(), `host ${subjects}`];
      const older = await door.storeFact({ subject, predicate: `${key} code`, content: 'code 4711', scope });
      const newer = await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822', scope });
      const ask = { triggerPrompt: `${key} code of ${subject}`, butler: scope };
      const shown = await door.context(ask);

      expect(shown.text).toContain(`newer, may conflict with ${handleOf(older.id)}, ${handleOf(newer.id)}]`);
      expect(shown.text).toContain(`older, may conflict with ${handleOf(newer.id)}, ${handleOf(older.id)}]`);
      const [review] = await reviewsOf(newer.id);
      await settleReview(context(), { id: review?.id ?? '', outcome: 'keep_both' });
      expect((await door.context(ask)).text).not.toContain(`may conflict with ${handleOf(older.id)}`);
      // What was decided since does not change the context that was given out.
      expect(await replayReceipt(context(), shown.receiptId)).toMatchObject({ text: shown.text, isExact: true });
    });

    it('opens no second review when it is said again', async () => {
      const subject = newSubject();
      await door.storeFact({ subject, predicate: `${key} code`, content: 'code 4711' });
      const newer = await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822' });
      await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822' });

      expect(await reviewsOf(newer.id)).toHaveLength(1);
    });

    it('is settled by a decision that undo takes back', async () => {
      if (door.settleReview === undefined) return;
      const subject = newSubject();
      const older = await door.storeFact({ subject, predicate: `${key} code`, content: 'code 4711' });
      const newer = await door.storeFact({ subject, predicate: `${key} number`, content: 'code 5822' });
      const [review] = await reviewsOf(newer.id);
      const id = review?.id ?? '';

      expect(await door.settleReview({ id, outcome: 'newer_supersedes' })).toMatchObject({
        outcome: 'newer_supersedes',
      });
      expect(await door.getMemory({ type: 'fact', id: older.id })).toMatchObject({ validity: 'superseded' });
      expect(await reviewsOf(newer.id)).toEqual([]);
      await door.undo({ eventId: await lastEventOf(testApp.core, id, 'review.settled') });
      expect(await door.getMemory({ type: 'fact', id: older.id })).toMatchObject({ validity: 'active' });
      expect(await reviewsOf(newer.id)).toMatchObject([{ id }]);
    });
  });
});

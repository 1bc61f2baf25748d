import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listOpenReviewsAmong } from '../../../src/db/queries/reviews.ts';
import { writeConfirmation } from '../../../src/memory/confirm.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { exportSubject } from '../../../src/memory/erasure/export-subject.ts';
import type { Fact } from '../../../src/memory/facts/facts.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { mutate } from '../../../src/memory/mutation.ts';
import { listReviews, openReview, type Review } from '../../../src/memory/reviews/reviews.ts';
import { settleReview } from '../../../src/memory/reviews/settle-review.ts';
import { eraseMemory, forgetMemory, storeFact, undoEvent } from '../../support/writes.ts';
import { createTestCore, lastEventOf, type TestCore } from '../../support/core.ts';

let core: TestCore;
let subjects = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

const context = (): MemoryContext => core.context();

interface Opened {
  older: Fact;
  newer: Fact;
  id: string;
}

async function open(): Promise<Opened> {
  const subject = `guest ${++subjects}`;
  const older = await storeFact(context(), { subject, predicate: 'gate colour', content: 'red' });
  const newer = await storeFact(context(), { subject, predicate: 'shoe size', content: 'blue' });
  const id = await askAbout(older, newer);
  if (id === null) throw new Error('no review was opened');
  return { older, newer, id };
}

const askAbout = async (one: Fact, other: Fact): Promise<string | null> => {
  const { value } = await mutate(context(), async (mutation) => {
    await writeConfirmation(mutation, { type: 'fact', id: other.id });
    return openReview(mutation, { kind: 'same_thing', factIds: [one.id, other.id], reason: 'looks_alike' });
  });
  return value;
};

const find = async (id: string): Promise<Review | null> =>
  core.db.forTenant('default').client.review.findUnique({ where: { tenantId_id: { tenantId: 'default', id } } });
const validityOf = async ({ id }: Fact): Promise<string | undefined> =>
  (await core.db.forTenant('default').client.fact.findFirst({ where: { id } }))?.validity;

describe('the review list', () => {
  it('opens one entry for a pair, whatever the order, and lists it as open', async () => {
    const { older, newer, id } = await open();
    expect(await askAbout(older, newer)).toBeNull();
    expect(await find(id)).toMatchObject({ newerId: newer.id, olderId: older.id, status: 'open', scope: 'global' });
    const { reviews } = await listReviews(context(), {}, { offset: 0, limit: 100 });
    expect(reviews.map((review) => review.id)).toContain(id);
    const { client } = core.db.forTenant('default');
    expect(await listOpenReviewsAmong(client, [newer.id, older.id])).toEqual([
      { id, kind: 'same_thing', newerId: newer.id, olderId: older.id },
    ]);
    expect(await listOpenReviewsAmong(client, [newer.id])).toEqual([]);
  });

  it('keeps both facts, and does not ask again', async () => {
    const { older, newer, id } = await open();
    await settleReview(context(), { id, outcome: 'keep_both' });
    expect([await validityOf(older), await validityOf(newer)]).toEqual(['active', 'active']);
    expect(await askAbout(older, newer)).toBeNull();
    await expect(settleReview(context(), { id, outcome: 'keep_both' })).rejects.toThrow('is settled already');
  });

  it.each([
    ['newer_supersedes', 'superseded', 'active'],
    ['older_supersedes', 'active', 'superseded'],
  ])('settles an entry as %s, and undo brings both back', async (outcome, olderValidity, newerValidity) => {
    const { older, newer, id } = await open();
    await settleReview(context(), { id, outcome });
    expect([await validityOf(older), await validityOf(newer)]).toEqual([olderValidity, newerValidity]);
    expect(await find(id)).toMatchObject({ status: 'settled', outcome });
    await undoEvent(context(), { eventId: await lastEventOf(core, id, 'review.settled') });
    expect([await validityOf(older), await validityOf(newer)]).toEqual(['active', 'active']);
    expect(await find(id)).toMatchObject({ status: 'open', outcome: null, settledAt: null });
  });

  it('is not settled by a butler that would take the fact of another from all, for one that only it sees', async () => {
    const subject = `guest ${++subjects}`;
    const alfred = core.context({ role: 'butler', butler: 'alfred' });
    const shared = await storeFact(context(), { subject, predicate: 'gate colour', content: 'red' });
    const own = await storeFact(alfred, { subject, predicate: 'shoe size', content: 'blue', scope: 'alfred' });
    const id = (await askAbout(shared, own)) ?? '';

    await expect(settleReview(alfred, { id, outcome: 'newer_supersedes' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    expect([await validityOf(shared), await validityOf(own)]).toEqual(['active', 'active']);
    await settleReview(alfred, { id, outcome: 'older_supersedes' });
    expect([await validityOf(shared), await validityOf(own)]).toEqual(['active', 'superseded']);
  });

  it('settles an entry when one of its facts is forgotten or superseded, and opens it again with their undo', async () => {
    const { older, newer, id } = await open();
    await forgetMemory(context(), { type: 'fact', id: older.id });
    expect(await find(id)).toMatchObject({ status: 'settled', outcome: 'withdrawn' });
    await undoEvent(context(), { eventId: await lastEventOf(core, older.id, 'fact.retracted') });
    expect(await find(id)).toMatchObject({ status: 'open' });
    const { subject } = newer;
    const third = await storeFact(context(), { subject, predicate: 'shoe size', content: 'green' });
    expect(await find(id)).toMatchObject({ status: 'settled', outcome: 'withdrawn' });
    await undoEvent(context(), { eventId: await lastEventOf(core, third.id, 'fact.stored') });
    expect(await find(id)).toMatchObject({ status: 'open' });
  });

  it('withdraws an entry when the storing of one of its facts is undone, and opens it again when that is undone', async () => {
    const { older, id } = await open();
    const undo = await undoEvent(context(), { eventId: await lastEventOf(core, older.id, 'fact.stored') });
    expect(await find(id)).toMatchObject({ status: 'settled', outcome: 'withdrawn' });
    await undoEvent(context(), { eventId: undo.id });
    expect(await find(id)).toMatchObject({ status: 'open' });
  });

  it('keeps the storing of a fact from being undone that took the place of another, until that is undone', async () => {
    const { older, newer, id } = await open();
    const stored = await lastEventOf(core, newer.id, 'fact.stored');
    const { eventId } = await settleReview(context(), { id, outcome: 'newer_supersedes' });
    await expect(undoEvent(context(), { eventId: stored })).rejects.toMatchObject({
      code: 'CONFLICT',
      hint: `Undo event ${eventId} first.`,
    });
    expect(await validityOf(newer)).toBe('active');

    await undoEvent(context(), { eventId: eventId ?? '' });
    await undoEvent(context(), { eventId: stored });
    expect([await validityOf(older), await validityOf(newer)]).toEqual(['active', 'retracted']);
  });

  it('refuses to undo alone what followed from a change of its facts', async () => {
    const { older, id } = await open();
    const opened = await lastEventOf(core, id, 'review.opened');
    await expect(undoEvent(context(), { eventId: opened })).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
    await forgetMemory(context(), { type: 'fact', id: older.id });
    const settled = await lastEventOf(core, id, 'review.settled');
    await expect(undoEvent(context(), { eventId: settled })).rejects.toThrow('cannot be undone alone');
    expect(await find(id)).toMatchObject({ status: 'settled' });
  });

  it('goes into the export of a subject, and goes with an erased fact', async () => {
    const { older, id } = await open();
    const { memories } = await exportSubject(context(), { subject: older.subject });
    expect(memories.map(({ reviews }) => reviews)).toMatchObject([[{ id }], [{ id }]]);
    await eraseMemory(core.context({ role: 'admin' }), { type: 'fact', id: older.id, confirm: older.id });
    expect(await find(id)).toBeNull();
  });

  it('agrees with its events', async () => {
    expect(await findDifferences(context())).toEqual([]);
    const { id } = await open();
    await core.db.asOwner((client) => client.query(`UPDATE reviews SET reason = 'other' WHERE id = $1`, [id]));
    expect(await findDifferences(context())).toEqual([{ type: 'review', id, columns: ['reason'] }]);
  });
});

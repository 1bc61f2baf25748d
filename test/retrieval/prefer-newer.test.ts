import { beforeEach, describe, expect, it } from 'vitest';
import { writeConfirmation } from '../../src/memory/confirm.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { mutate } from '../../src/memory/mutation.ts';
import { openReview } from '../../src/memory/reviews/reviews.ts';
import { settleReview } from '../../src/memory/reviews/settle-review.ts';
import { storeFact } from '../../src/memory/facts/facts.ts';
import { storeNote } from '../../src/memory/facts/notes.ts';
import { handleOf } from '../../src/shared/handles.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';

const retrieval = useRetrieval();
let context: MemoryContext;

beforeEach(() => {
  context = retrieval.context({ principal: newTenant() });
});

const note = async (content: string): Promise<string> => (await storeNote(context, { content })).value.id;
const older = 'Chess is on Tuesday';
const newer = 'Chess is on Thursday now';
const topic = 'chess is on Tuesday';
const recalled = async (): Promise<string[]> => contentsOf(await recallMemories(context, { topic }));

async function openFor(olderId: string, newerId: string, likelihood?: number): Promise<string> {
  const { value } = await mutate(context, async (mutation) => {
    await writeConfirmation(mutation, { type: 'fact', id: newerId });
    const factIds = [olderId, newerId] as const;
    return openReview(mutation, { kind: 'note_change', factIds, reason: 'perhaps_changed', likelihood });
  });
  return value ?? '';
}

describe('a recall that finds two notes with an open review', () => {
  it('returns only the newer one, in the better place, if it very likely replaced the older, and says why the older is missing', async () => {
    const olderId = await note(older);
    const newerId = await note(newer);
    await note('The club has a café of its own');
    expect((await recalled())[0]).toBe(older);
    await openFor(olderId, newerId, 0.8);

    expect((await recalled())[0]).toBe(newer);
    expect(await recalled()).not.toContain(older);
    const { considered } = await recallMemories(context, { topic });
    expect(considered.find(({ memory }) => memory.id === olderId)).toMatchObject({
      droppedBy: 'outdated',
      reason: `fact ${handleOf(newerId)} may have replaced it`,
    });
  });

  it('does so with facts of agents, too', async () => {
    const fact = { subject: 'user', content: older };
    const olderId = (await storeFact(context, { ...fact, predicate: 'chess_day' })).value.id;
    const newerId = await note(newer);
    await openFor(olderId, newerId, 0.8);

    expect((await recalled())[0]).toBe(newer);
    expect(await recalled()).not.toContain(older);
  });

  it.each([undefined, 0.5])('returns both, the newer first, where that is less likely (%s)', async (likelihood) => {
    const olderId = await note(older);
    const newerId = await note(newer);
    await note('The club has a café of its own');
    await openFor(olderId, newerId, likelihood);

    expect((await recalled()).slice(0, 2)).toEqual([newer, older]);
  });

  it('leaves the order alone where it is unlikely', async () => {
    const olderId = await note(older);
    await openFor(olderId, await note(newer), 0.4);

    expect((await recalled()).slice(0, 2)).toEqual([older, newer]);
  });

  it('returns both where the newer says nothing about what was asked', async () => {
    const olderId = await note('Blesa is a bay mare of fourteen years, stabled at the lake');
    const newerId = await note('The new place costs 3,900 a month');
    await openFor(olderId, newerId, 0.8);
    const found = await recallMemories(context, { topic: 'a bay mare of fourteen years' });

    expect(contentsOf(found)[0]).toBe('Blesa is a bay mare of fourteen years, stabled at the lake');
  });

  it('returns both notes of an agent that only look alike', async () => {
    const ids = [await note('The code of the red locker is 3141'), await note('The code of the blue locker is 2718')];
    await mutate(context, async (mutation) => {
      await writeConfirmation(mutation, { type: 'fact', id: ids[1] ?? '' });
      return openReview(mutation, { kind: 'same_thing', factIds: [ids[0] ?? '', ids[1] ?? ''], reason: 'looks_alike' });
    });
    const found = await recallMemories(context, { topic: 'the code of the red locker' });
    expect(contentsOf(found)).toContain('The code of the red locker is 3141');
  });

  it('returns both once somebody decides that both hold', async () => {
    const olderId = await note(older);
    const id = await openFor(olderId, await note(newer));
    await settleReview(context, { id, outcome: 'keep_both' });

    expect((await recalled()).toSorted()).toEqual([newer, older].toSorted());
  });
});

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

async function openFor(olderId: string, newerId: string): Promise<string> {
  const { value } = await mutate(context, async (mutation) => {
    await writeConfirmation(mutation, { type: 'fact', id: newerId });
    return openReview(mutation, { kind: 'note_change', factIds: [olderId, newerId], reason: 'perhaps_changed' });
  });
  return value ?? '';
}

describe('a recall that finds two notes with an open review', () => {
  it('returns the newer one, in the better place of the two, and says why the older one is missing', async () => {
    const olderId = await note(older);
    const newerId = await note(newer);
    await note('The club has a café of its own');
    expect((await recalled())[0]).toBe(older);
    await openFor(olderId, newerId);

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
    await openFor(olderId, newerId);

    expect((await recalled())[0]).toBe(newer);
    expect(await recalled()).not.toContain(older);
  });

  it('returns both where the newer says nothing about what was asked', async () => {
    const olderId = await note('Blesa is a bay mare of fourteen years, stabled at the lake');
    const newerId = await note('The new place costs 3,900 a month');
    await openFor(olderId, newerId);
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

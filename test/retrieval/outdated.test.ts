import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { MemoryContext } from '../../src/memory/context.ts';
import { assembleContext, buildContext } from '../../src/retrieval/context/context.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { claimNext } from '../lifecycle/consolidation/setup.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { encryptedConfig } from '../support/encryption.ts';
import { applyOutput, forgetMemory, storeEpisode, storeFact } from '../support/writes.ts';

let core: TestCore;
let context: MemoryContext;

beforeAll(async () => {
  core = await createTestCore(encryptedConfig());
});
afterAll(() => core.close());
beforeEach(() => {
  context = core.context({ tenantId: randomUUID() });
});

const butler = 'home';
const onDay = (day: number): MemoryContext => ({ ...context, now: () => core.day(day) });
const contextOn = async (day: number, triggerPrompt: string): Promise<string> =>
  (await buildContext(onDay(day), { butler, triggerPrompt })).text;

describe('a note that was learned before a fact was superseded', () => {
  const prompt = 'Where does the chess club meet?';
  const learn = (content: string): Promise<{ id: string }> =>
    storeFact(onDay(0), { subject: 'user', predicate: 'note_0123456789abcdef', content });

  it('is in no context and recall once it is, and the context says why', async () => {
    await storeFact(onDay(0), { subject: 'chess club', predicate: 'meeting_place', content: 'the chapel, room 12' });
    const note = await learn('User knows that the chess club meets in the chapel, room 12');
    expect(await contextOn(0, prompt)).toContain('User knows that the chess club meets in the chapel');
    await storeFact(onDay(1), { subject: 'chess club', predicate: 'meeting_place', content: 'the library, room 7' });

    expect(await contextOn(2, prompt)).toContain('library');
    expect(await contextOn(2, prompt)).not.toContain('chapel');
    const { results } = await recallMemories(onDay(2), { topic: prompt });
    expect(results.map(({ memory }) => memory.row.content)).toEqual(['the library, room 7']);
    const { considered } = await assembleContext(onDay(2), { butler, triggerPrompt: prompt });
    expect(considered.find(({ memory }) => memory.id === note.id)).toMatchObject({ droppedBy: 'outdated' });
  });

  it('is shown if it says what was before, and the prompt asks for that', async () => {
    await storeFact(onDay(0), { subject: 'chess club', predicate: 'meeting_place', content: 'the library, room 7' });
    await learn('The original meeting place of the chess club was the chapel');

    expect(await contextOn(0, prompt)).not.toContain('chapel');
    expect(await contextOn(0, 'What was the original meeting place of the chess club?')).toContain('chapel');
  });
});

it('leaves out a note whose source gives it as what was before what holds', async () => {
  const quote = 'We first had Monday in mind, and Tuesday was considered too.';
  const { id } = await storeEpisode(onDay(0), { butler, content: `User: The fair opens on Friday. ${quote}` });
  const { runId } = await claimNext(onDay(0));
  const evidence = [{ episode_id: id, quote }];
  const content = 'User first had Monday in mind, and Tuesday was considered too';
  const note = { subject: 'user', predicate: 'note_0123456789abcdef', content, evidence };
  await applyOutput(onDay(0), runId, { new_facts: [note] });
  const prompt = 'On which day does the fair open, what did the user have in mind?';
  expect(await contextOn(0, prompt)).toContain('Tuesday');
  await storeFact(onDay(0), { subject: 'fair', predicate: 'opening_day', content: 'Friday' });

  expect(await contextOn(0, prompt)).toContain('Friday');
  expect(await contextOn(0, prompt)).not.toContain('Tuesday');
});

describe('an episode that says what a sealed fact said', () => {
  const fact = { subject: 'user', predicate: 'medical_diet' };

  it('is shown without it once that is superseded', async () => {
    await storeEpisode(onDay(0), { butler, content: 'User: I eat neither milk nor lentils. The ferns are dry.' });
    const first = await storeFact(onDay(0), { ...fact, content: 'eats neither milk nor lentils' });
    expect(await contextOn(0, 'What about the diet?')).toContain('I eat neither milk nor lentils');
    const second = await storeFact(onDay(1), { ...fact, content: 'eats everything but celery' });

    const text = await contextOn(2, 'What about the diet?');
    expect(text).toContain('The ferns are dry');
    expect(text).not.toContain('lentils');
    expect(first.id).not.toBe(second.id);
  });

  it('is shown without it once that is forgotten', async () => {
    await storeEpisode(onDay(0), { butler, content: 'User: I eat neither milk nor lentils. The ferns are dry.' });
    const { id } = await storeFact(onDay(0), { ...fact, content: 'eats neither milk nor lentils' });
    await forgetMemory(onDay(1), { type: 'fact', id });

    expect(await contextOn(2, 'What about the diet?')).not.toContain('lentils');
  });
});

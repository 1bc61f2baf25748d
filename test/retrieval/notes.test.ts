import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notePredicate } from '../../src/memory/facts/note-key.ts';
import { asStored } from '../../src/redaction/redactor.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { testConfig } from '../support/config.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { storeFact, storeRule } from '../support/writes.ts';

const notes: [subject: string, content: string][] = [
  ["user's daughter", "User's daughter Signe is a midwife in Bergen"],
  ['Signe', 'Signe takes the early ferry on Tuesdays'],
  ['Signe', 'Signe cannot eat shrimps'],
  ['user', 'User is married to Halvor'],
  ['Halvor', 'Halvor mends clocks in the cellar'],
  ['Halvor', 'Halvor takes metformin in the morning'],
  ['user', 'User takes vitamin D in the morning'],
  ['Brunost', 'Horse: Brunost, a fjord gelding, nine years old'],
  ['user', 'User cannot eat celery'],
  ['user', 'User moved house because the stairs hurt the knee'],
  ['user', 'The car is insured with Gjensidige'],
  ['user', 'The ladder hangs in the shed behind the bicycles'],
];
let core: TestCore;

// With the model: the hashing embedder knows no meaning.
beforeAll(async () => {
  core = await createTestCore(testConfig({ BUTLER_MEMORY_EMBEDDING_PROVIDER: 'transformers' }));
  await core.embedder.load();
  for (const [subject, content] of notes)
    await storeFact(core.context(), { subject, predicate: notePredicate(asStored(content)), content });
  await storeRule(core.context(), { content: 'Speak of the relatives by name.', importance: 10 });
  await storeRule(core.context(), { content: 'Receipts go into the blue folder, named by date and shop.' });
});
afterAll(() => core.close());

async function recallFirst(topic: string): Promise<string | undefined> {
  const { results } = await recallMemories(core.context(), { topic });
  return results[0]?.memory.row.content;
}

describe('a recall over notes', () => {
  it.each([
    ['What does my husband take in the morning?', 'Halvor takes metformin in the morning'],
    ['What can my daughter not eat?', 'Signe cannot eat shrimps'],
    ['What can I not eat?', 'User cannot eat celery'],
    ["What is my daughter's job?", "User's daughter Signe is a midwife in Bergen"],
    ['Why did we move?', 'User moved house because the stairs hurt the knee'],
    ['car insurance', 'The car is insured with Gjensidige'],
  ])('brings the note of the person or thing that is meant: %s', async (topic, content) => {
    expect(await recallFirst(topic)).toBe(content);
  });

  it.each([
    ['Where do sales slips belong?', 'Receipts go into the blue folder, named by date and shop.'],
    ['Where do the steps for reaching the roof hang?', 'The ladder hangs in the shed behind the bicycles'],
  ])('brings what answers in other words, above the floor: %s', async (topic, content) => {
    expect(await recallFirst(topic)).toBe(content);
  });

  it.each(['How do tides work?', 'Write a poem about autumn', 'What is the capital of Mongolia?'])(
    'brings nothing where nothing is known: %s',
    async (topic) => {
      expect(await recallFirst(topic)).toBeUndefined();
    },
  );
});

import { writeFile } from 'node:fs/promises';
import { createTenantContext, type MemoryContext } from '../src/memory/context.ts';
import { storeFact } from '../src/memory/facts/facts.ts';
import { findLookAlikes } from '../src/memory/facts/look-alikes.ts';
import { undoEvent } from '../src/memory/history/undo.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { withEmbeddedCore } from './own-embedded-core.ts';
import { readPredicatePairs, readRecallData, type Half, type PredicatePair } from './quality/recall/data.ts';

interface PairAnswer extends PredicatePair {
  /** Whether the second fact took the place of the first. */
  joined: boolean;
  /** Whether the answer of the second write names the first fact. */
  named: boolean;
  /** The facts that the answer names. */
  similar: string[];
}

export const pairs: Benchmark = {
  question:
    'Does a fact replace the one that says the same under another predicate, and no other, and does the answer of the write name the one that it did not replace? (bench/quality/recall/predicate-pairs, PGlite, default model, a user of whom 20 other facts are known; the development half, or with --held-out the other one; BENCH_ANSWERS names a file to write every answer to)',
  measure: async () => {
    const half: Half = process.argv.includes('--held-out') ? 'held-out' : 'development';
    const answers = await withEmbeddedCore((core) => storePairs(createTenantContext(core, 'default'), half));
    const file = process.env['BENCH_ANSWERS'];
    if (file !== undefined) await writeFile(file, JSON.stringify(answers, null, 1));
    return grade(answers);
  },
};

/** Stores the two facts of each pair about one user, reads the answer, and takes both back. */
async function storePairs(context: MemoryContext, half: Half): Promise<PairAnswer[]> {
  const known = readRecallData(half).stores.get(20) ?? [];
  for (const { subject, predicate = '', content } of known) {
    if (subject === 'user') await storeFact(context, { subject, predicate, content });
  }
  const answers: PairAnswer[] = [];
  for (const pair of readPredicatePairs(half)) answers.push(await storePair(context, pair));
  return answers;
}

async function storePair(context: MemoryContext, pair: PredicatePair): Promise<PairAnswer> {
  const subject = 'user';
  const first = await storeFact(context, { subject, predicate: pair.a, content: pair.contentA });
  const second = await storeFact(context, { subject, predicate: pair.b, content: pair.contentB });
  const similar = await findLookAlikes(context, second.value.id);
  for (const { eventId } of [second, first]) if (eventId !== null) await undoEvent(context, { eventId });
  return {
    ...pair,
    joined: second.value.supersedesId === first.value.id || second.value.id === first.value.id,
    named: similar.some(({ id }) => id === first.value.id),
    similar: similar.map(({ predicate }) => predicate),
  };
}

function grade(answers: readonly PairAnswer[]): Figure[] {
  const same = answers.filter((one) => one.same);
  const different = answers.filter((one) => !one.same);
  const apart = same.filter(({ joined }) => !joined);
  return [
    { what: 'same meaning: joined (70 % at least)', value: share(same, ({ joined }) => joined) },
    {
      what: 'same meaning, not joined: named in the answer (95 % at least)',
      value: share(apart, ({ named }) => named),
    },
    { what: 'other meaning: wrongly joined (1 % at most)', value: share(different, ({ joined }) => joined) },
    { what: 'other meaning: named in the answer', value: share(different, ({ named }) => named) },
    { what: 'facts that an answer names, mean', value: meanOf(answers.map(({ similar }) => similar.length)) },
  ];
}

function share(answers: readonly PairAnswer[], isMeant: (answer: PairAnswer) => boolean): string {
  const count = answers.filter(isMeant).length;
  return `${count} of ${answers.length} (${((100 * count) / Math.max(1, answers.length)).toFixed(1)} %)`;
}

function meanOf(values: readonly number[]): string {
  return (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(2);
}

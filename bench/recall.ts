import { writeFile } from 'node:fs/promises';
import type { MemoryContext } from '../src/memory/context.ts';
import { recallMemories } from '../src/retrieval/recall.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { questionsFor, readRecallData, type RecallData, type StoreName } from './quality/recall/data.ts';
import { gradeReliability, gradeStore, type Answer } from './quality/recall/grade.ts';
import { withStore } from './quality/recall/store.ts';

const limit = 5;

export const recall: Benchmark = {
  question:
    'Does memory_recall bring the fact or rule that answers an everyday question first, and nothing where nothing is known? (bench/quality/recall, PGlite, default model; the development half, or with --held-out the other one; BENCH_ANSWERS names a file to write every answer to)',
  measure: async () => {
    const data = readRecallData(process.argv.includes('--held-out') ? 'held-out' : 'development');
    const answers: Answer[] = [];
    const figures: Figure[] = [];
    for (const [name, memories] of data.stores) {
      const answered = await withStore(memories, (context, keys) => askAll(data, name, askOf(context, keys)));
      figures.push(...gradeStore(describeStore(name), answered));
      answers.push(...answered);
    }
    const file = process.env['BENCH_ANSWERS'];
    if (file !== undefined) await writeFile(file, JSON.stringify(answers, null, 1));
    return [...figures, ...gradeReliability(answers)];
  },
};

type Ask = (topic: string) => Promise<Pick<Answer, 'found' | 'relevances' | 'considered' | 'milliseconds'>>;

function askOf(context: MemoryContext, keys: ReadonlyMap<string, string>): Ask {
  return async (topic) => {
    const startedAt = performance.now();
    const { results, considered } = await recallMemories(context, { topic, limit, minConfidence: 0 });
    return {
      milliseconds: performance.now() - startedAt,
      found: results.map(({ memory }) => keys.get(memory.row.id)),
      relevances: results.map(({ relevance }) => relevance),
      considered: considered.slice(0, limit).map(({ memory, relevance, parts }) => {
        return { key: keys.get(memory.id), relevance, ...parts.match };
      }),
    };
  };
}

function describeStore(name: StoreName): string {
  return name === 'notes' ? '170 notes and rules' : `${name.toLocaleString('en')} memories`;
}

async function askAll(data: RecallData, name: StoreName, ask: Ask): Promise<Answer[]> {
  const { questions, unrelated, near } = questionsFor(data, name);
  const asked = [
    ...questions.map((question) => ({ question, kind: 'answerable' as const })),
    ...unrelated.map((question) => ({ question, kind: 'unrelated' as const })),
    ...near.map((question) => ({ question, kind: 'near' as const })),
  ];
  const answers: Answer[] = [];
  for (const { question, kind } of asked) {
    const { q, answers: right = [] } = question;
    answers.push({ question: q, kind, answers: right, ...(await ask(q)) });
  }
  return answers;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load-config.ts';
import { createMemory } from '../src/create-memory.ts';
import { createTenantContext, type MemoryContext } from '../src/memory/context.ts';
import { storeFact } from '../src/memory/facts/facts.ts';
import { storeRule } from '../src/memory/rules/rules.ts';
import { recallMemories } from '../src/retrieval/recall.ts';
import { millisecondsPerDay } from '../src/shared/durations.ts';
import { createLogger } from '../src/shared/logger.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { readRecallData, type MemoryToStore, type RecallData, type RecallQuestion } from './quality/recall/data.ts';
import { gradeReliability, gradeStore, type Answer } from './quality/recall/grade.ts';

/**
 * The questions name dates around this one. Some of the memories have faded by then, as nobody confirmed them for months:
 * they are asked for all the same, since it is the ranking that is measured.
 */
const askedAt = new Date('2026-11-15T12:00:00Z');
const limit = 5;

export const recall: Benchmark = {
  question:
    'Does memory_recall bring the fact or rule that answers an everyday question first, and nothing where nothing is known? (bench/quality/recall, PGlite, default model; the development half, or with --held-out the other one; BENCH_ANSWERS names a file to write every answer to)',
  measure: async () => {
    const data = readRecallData(process.argv.includes('--held-out') ? 'held-out' : 'development');
    const answers: Answer[] = [];
    const figures: Figure[] = [];
    for (const size of data.stores.keys()) {
      const answered = await withStore(data.stores.get(size) ?? [], (ask) => askAll(data, size, ask));
      figures.push(...gradeStore(size, answered));
      answers.push(...answered);
    }
    const file = process.env['BENCH_ANSWERS'];
    if (file !== undefined) await writeFile(file, JSON.stringify(answers, null, 1));
    return [...figures, ...gradeReliability(answers)];
  },
};

type Ask = (topic: string) => Promise<Pick<Answer, 'found' | 'relevances' | 'considered' | 'milliseconds'>>;

async function withStore<T>(memories: readonly MemoryToStore[], work: (ask: Ask) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
  const env = { BUTLER_MEMORY_HOME: home, LOG_LEVEL: 'warn' };
  const { config } = loadConfig({ env, workingDirectory: home, homeDirectory: home });
  const core = await createMemory({ config, logger: createLogger(config), now: () => askedAt });
  try {
    await core.embedder.load();
    const context = createTenantContext(core, 'default');
    const keys = new Map<string, string>();
    for (const memory of memories) keys.set(await store(context, memory), memory.key);
    return await work(async (topic) => {
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
    });
  } finally {
    await core.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Stores a memory as if it were said that many days ago. */
async function store(context: MemoryContext, memory: MemoryToStore): Promise<string> {
  const moment = new Date(askedAt.getTime() - memory.daysAgo * millisecondsPerDay);
  const then: MemoryContext = { ...context, now: () => moment };
  const { content, importance, scope, permanence, subject = '', predicate = '' } = memory;
  if (memory.type === 'rule') return (await storeRule(then, { content, importance, scope })).value.id;
  const fact = { subject, predicate, content, importance, permanence, scope, observedAt: moment };
  return (await storeFact(then, fact)).value.id;
}

/** The questions over the 200 memories are also asked over the 2,000, which hold them all. */
async function askAll({ questions, unrelated, near }: RecallData, size: number, ask: Ask): Promise<Answer[]> {
  const isFor = ({ set }: RecallQuestion): boolean => set === size || (set === 200 && size === 2000);
  const asked = [
    ...questions.filter(isFor).map((question) => ({ question, kind: 'answerable' as const })),
    ...unrelated.map((question) => ({ question, kind: 'unrelated' as const })),
    ...near.filter(isFor).map((question) => ({ question, kind: 'near' as const })),
  ];
  const answers: Answer[] = [];
  for (const { question, kind } of asked) {
    const { q, answers: right = [] } = question;
    answers.push({ question: q, kind, answers: right, ...(await ask(q)) });
  }
  return answers;
}

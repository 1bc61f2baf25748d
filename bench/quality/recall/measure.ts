// What the judge of recalls is fitted to: the features of the memories that each question finds.
import { openRows } from '../../../src/encryption/sealing.ts';
import { createTenantContext, type MemoryContext } from '../../../src/memory/context.ts';
import { createEngine } from '../../../src/lifecycle/consolidation/engines/create-engine.ts';
import { readablePredicate, readsAsNote } from '../../../src/memory/facts/note-key.ts';
import { measureQuestion } from '../../../src/retrieval/pipeline/judge.ts';
import {
  classifySubject,
  featureNames,
  measureFeatures,
  subjectClasses,
} from '../../../src/retrieval/pipeline/match-features.ts';
import { matchTokens } from '../../../src/retrieval/pipeline/match-tokens.ts';
import { rankMatches, type RankedMatches } from '../../../src/retrieval/pipeline/rank-matches.ts';
import { Stopwatch } from '../../../src/retrieval/pipeline/stopwatch.ts';
import { prepareRecall } from '../../../src/retrieval/recall.ts';
import { withEmbeddedCore } from '../../own-embedded-core.ts';
import { test } from '../consolidation/score.ts';
import { readMonths, type MonthQuestion } from '../months/data.ts';
import { liveMonth } from '../months/live.ts';
import { questionsFor, readRecallData } from './data.ts';
import { dot, type Ranking } from './fit.ts';
import { withStore } from './store.ts';

/** What was measured of a question. */
export interface Measured extends Ranking {
  id: string;
  /** A store of the recall data, or a month. */
  store: string;
  kind: 'answerable' | 'unrelated' | 'near';
  /** Features of the question alone, the last of which is the constant. */
  question: number[];
  documents: number;
}

export const kinds = ['named', 'perhapsUser', 'relation', 'user', 'mentioned', 'self', 'pronoun', 'open'] as const;
export const gateNames = ['named', 'personal', 'unknownName', 'unknownWords', 'logDocuments', 'constant'] as const;

/** Asks all questions of the stores, and then those of each month of what consolidation learned from its sessions. */
export async function measureAll(start: readonly number[]): Promise<Measured[]> {
  return [...(await measureStores(start)), ...(await measureMonths(start))];
}

async function measureStores(start: readonly number[]): Promise<Measured[]> {
  const data = readRecallData('development');
  const measured: Measured[] = [];
  for (const [name, memories] of data.stores) {
    const { questions, unrelated, near } = questionsFor(data, name);
    await withStore(memories, async (context, keys) => {
      for (const [kind, asked] of Object.entries({ answerable: questions, unrelated, near }))
        for (const { id, q, answers = [] } of asked) {
          const isRight = (memory: string): boolean => answers.includes(keys.get(memory) ?? '');
          const one = await measure(context, q, isRight, start);
          measured.push({ ...one, id, store: String(name), kind: kind as Measured['kind'] });
        }
    });
    process.stdout.write(`${name}: measured\n`);
  }
  return measured;
}

/** Set aside, so that weights can be judged on a month that nobody has tuned by: see bench/quality/months/README.md. */
const setAside = 'month-11';

/** A third of the unrelated questions is enough for each month: its own are few. */
const unrelatedShare = 3;

async function measureMonths(start: readonly number[]): Promise<Measured[]> {
  const { unrelated } = readRecallData('development');
  const measured: Measured[] = [];
  let now = new Date();
  await withEmbeddedCore(
    async (core) => {
      const engine = createEngine(core.config);
      if (engine === undefined) throw new Error('consolidation has no engine');
      const months = readMonths('development').filter(({ name }) => name !== setAside);
      for (const [place, month] of months.entries()) {
        await liveMonth(
          core,
          engine,
          { ...month, questions: [] },
          { way: 'summaries', clock: { set: (moment) => void (now = moment) } },
        );
        const context = createTenantContext(core, `${month.name}-summaries`);
        const texts = await readTexts(context);
        const ask = async (id: string, kind: Measured['kind'], question: Pick<MonthQuestion, 'q' | 'must' | 'not'>) => {
          const isRight = (memory: string): boolean => kind === 'answerable' && hasAnswer(texts.get(memory), question);
          const one = await measure(context, question.q, isRight, start);
          measured.push({ ...one, id, store: month.name, kind });
        };
        for (const question of month.questions) await ask(`${month.name}-${question.id}`, kindOf(question), question);
        for (const [at, { id, q }] of unrelated.entries())
          if (at % unrelatedShare === place % unrelatedShare) await ask(id, 'unrelated', { q, must: [], not: [] });
        process.stdout.write(`${month.name}: measured\n`);
      }
    },
    { now: () => now },
  );
  return measured;
}

function kindOf({ kind, must }: MonthQuestion): Measured['kind'] {
  if (kind === 'unrelated') return 'unrelated';
  return must[0] === 'unknown' ? 'near' : 'answerable';
}

/** Whether a memory answers a question alone, and says nothing that is outdated. */
function hasAnswer(text: string | undefined, { must, not }: Pick<MonthQuestion, 'must' | 'not'>): boolean {
  if (text === undefined) return false;
  return must.every((pattern) => test(pattern, text)) && !not.some((pattern) => test(pattern, text));
}

async function readTexts(context: MemoryContext): Promise<Map<string, string>> {
  const { db, principal } = context;
  const { tenantId } = principal;
  const facts = await openRows(context, await db.client.fact.findMany({ where: { tenantId } }));
  const rules = await db.client.rule.findMany({ where: { tenantId } });
  return new Map([
    ...rules.map(({ id, content }): [string, string] => [id, content]),
    ...facts.map((fact): [string, string] => {
      const { id, subject, content } = fact;
      return [id, readsAsNote(fact) ? content : `${subject}, ${readablePredicate(fact)}: ${content}`];
    }),
  ]);
}

type MeasuredQuestion = Omit<Measured, 'id' | 'store' | 'kind'>;

async function measure(
  context: MemoryContext,
  topic: string,
  isRight: (memory: string) => boolean,
  start: readonly number[],
): Promise<MeasuredQuestion> {
  const search = prepareRecall(context, { topic, limit: 5, minConfidence: 0 });
  const stopwatch = new Stopwatch();
  const { matches } = await rankMatches(context, [search], stopwatch);
  const [found] = await matchTokens(context, [search], matches, stopwatch);
  const { ranked, evidence } = found as RankedMatches;
  const judged = ranked.flatMap(({ memory, parts: { match } }) => (match === null ? [] : [{ memory, match }]));
  const rows = judged.map(({ memory, match }) => {
    const features = measureFeatures(memory, match, evidence);
    const subject = classifySubject(memory, evidence.whom);
    const subjects = kinds.flatMap((kind) =>
      subjectClasses.map((one) => Number(evidence.whom?.kind === kind && one === subject)),
    );
    return { id: memory.id, row: [...featureNames.map((name) => round(features[name])), ...subjects] };
  });
  const question = measureQuestion(evidence);
  // The best of a start are enough: the others would not come first.
  const best = rows.toSorted((a, b) => dot(start, b.row) - dot(start, a.row)).slice(0, mostRanked);
  return {
    rows: best.map(({ row }) => row),
    isRight: best.map(({ id }) => isRight(id)),
    question: gateNames.map((name) => round(question[name] ?? 0)),
    documents: evidence.documents,
  };
}

const mostRanked = 50;

function round(value: number): number {
  return Number(value.toFixed(4));
}

// node --import tsx bench/quality/recall/train.ts: fits the weights of the judge of recalls to the development questions and
// writes them. First prints how well weights do that were fitted to the other half of the questions.
// RECALL_FEATURES names a file to keep the measured features in, so that a second run need not ask again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryContext } from '../../../src/memory/context.ts';
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
import { relevanceFloor } from '../../../src/retrieval/pipeline/score.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';
import { questionsFor, readRecallData, type RecallQuestion } from './data.ts';
import { dot, fitLogistic, fitRanking, type Ranking } from './fit.ts';
import { withStore } from './store.ts';

/** What was measured of a question. */
interface Measured extends Ranking {
  id: string;
  store: string;
  kind: 'answerable' | 'unrelated' | 'near';
  /** Features of the question alone, the last of which is the constant. */
  question: number[];
}

const kinds = ['named', 'relation', 'user', 'mentioned', 'self', 'pronoun', 'open'] as const;
const gateNames = ['named', 'personal', 'unknownName', 'unknownWords', 'logDocuments', 'constant'] as const;

/** Where the fit starts, and what it is drawn to where the questions say little. */
const startFeatures: Partial<Record<(typeof featureNames)[number], number>> = {
  similarity: 0.5,
  wholeSimilarity: 0.5,
  tokens: 0.3,
  wholeTokens: 0.33,
  ownWords: 0.27,
  glossWords: 0.48,
  namesWhom: 0.16,
};
const startPenalties = {
  named: 0.5,
  relation: 0.38,
  user: 0.25,
  mentioned: 0.06,
  self: 0.25,
  pronoun: 0.25,
  open: 0.06,
};

function startSubject(kind: (typeof kinds)[number], subject: (typeof subjectClasses)[number]): number {
  const isOfPerson = kind === 'named' || kind === 'relation';
  const elsewhere = isOfPerson ? 0 : 1;
  const fits = {
    about: 1,
    mention: 0.8,
    own: kind === 'relation' ? 0.5 : elsewhere,
    other: 0,
    thing: elsewhere,
    rule: elsewhere,
    ruleMention: isOfPerson ? 0.8 : 1,
  };
  const share = subject.startsWith('rule') ? 0.6 : 1;
  return -startPenalties[kind] * (1 - fits[subject]) * share;
}

const start = [
  ...featureNames.map((name) => startFeatures[name] ?? 0),
  ...kinds.flatMap((kind) => subjectClasses.map((subject) => startSubject(kind, subject))),
];
const pulls = start.map((_, place) => (place < featureNames.length ? 0.01 : 0.02));

async function measureAll(): Promise<Measured[]> {
  const data = readRecallData('development');
  const measured: Measured[] = [];
  for (const [name, memories] of data.stores) {
    const { questions, unrelated, near } = questionsFor(data, name);
    await withStore(memories, async (context, keys) => {
      for (const [kind, asked] of Object.entries({ answerable: questions, unrelated, near }))
        for (const question of asked) {
          const one = await measure(context, question, keys);
          measured.push({ ...one, id: question.id, store: String(name), kind: kind as Measured['kind'] });
        }
    });
    process.stdout.write(`${name}: measured\n`);
  }
  return measured;
}

async function measure(context: MemoryContext, { q, answers = [] }: RecallQuestion, keys: ReadonlyMap<string, string>) {
  const search = prepareRecall(context, { topic: q, limit: 5, minConfidence: 0 });
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
    return [...featureNames.map((name) => round(features[name])), ...subjects];
  });
  const isRight = judged.map(({ memory }) => answers.includes(keys.get(memory.id) ?? ''));
  const question = measureQuestion(evidence);
  // The best of a start are enough: the others would not come first.
  const best = rows.map((row, place) => ({ row, place })).toSorted((a, b) => dot(start, b.row) - dot(start, a.row));
  const places = best.slice(0, mostRanked).map(({ place }) => place);
  return {
    rows: places.map((place) => rows[place] ?? []),
    isRight: places.map((place) => isRight[place] === true),
    question: gateNames.map((name) => round(question[name] ?? 0)),
  };
}

const mostRanked = 50;

function round(value: number): number {
  return Number(value.toFixed(4));
}

interface Fitted {
  ranking: number[];
  /** The weight of the match score, then those of the question. */
  gate: number[];
}

function fit(measured: readonly Measured[]): Fitted {
  const weigh = ({ store, kind }: Measured): number => (store === '2000' ? 0.5 : 1) * (kind === 'answerable' ? 1 : 0.7);
  const answerable = measured.filter(({ kind, isRight }) => kind === 'answerable' && isRight.includes(true));
  const ranking = asPenalties(fitRanking(answerable, { start, pulls, weights: answerable.map(weigh) }));
  // Near questions are answered sensibly in part: they say nothing about the gate.
  const gated = measured.filter(({ kind, rows }) => kind !== 'near' && rows.length > 0);
  const first = gated.map((one) => findFirst(one, ranking));
  const gate = fitLogistic(
    first.map(({ score }, place) => [score, ...(gated[place]?.question ?? [])]),
    first.map(({ isRight }) => isRight),
    { weights: gated.map(weigh), pull: 0.5 },
  );
  return { ranking, gate };
}

/** Shifts the weights of the subjects, so that the best of each kind of question is 0: the order stays. */
function asPenalties(ranking: readonly number[]): number[] {
  const shifted = [...ranking];
  for (let from = featureNames.length; from < ranking.length; from += subjectClasses.length) {
    const best = Math.max(...ranking.slice(from, from + subjectClasses.length));
    for (let at = from; at < from + subjectClasses.length; at += 1) shifted[at] = (ranking[at] ?? 0) - best;
  }
  return shifted;
}

function findFirst({ rows, isRight }: Measured, ranking: readonly number[]): { score: number; isRight: boolean } {
  const scores = rows.map((row) => dot(ranking, row));
  const score = Math.max(...scores);
  return { score, isRight: isRight[scores.indexOf(score)] === true };
}

interface Outcome {
  store: string;
  kind: Measured['kind'];
  relevance: number;
  isFirst: boolean;
  isAmongThree: boolean;
}

function ask(one: Measured, { ranking, gate }: Fitted): Outcome {
  const scores = one.rows.map((row) => dot(ranking, row));
  const order = scores.map((_, place) => place).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const z = dot(gate, [scores[order[0] ?? 0] ?? 0, ...one.question]);
  const isRight = (place: number): boolean => one.isRight[place] === true;
  return {
    store: one.store,
    kind: one.kind,
    relevance: one.rows.length === 0 ? 0 : 1 / (1 + Math.exp(-z)),
    isFirst: order.slice(0, 1).some(isRight),
    isAmongThree: order.slice(0, 3).some(isRight),
  };
}

function describe(outcomes: readonly Outcome[]): string {
  const stores = [...new Set(outcomes.map(({ store }) => store))];
  return stores
    .map((store) => {
      const share = (kind: Measured['kind'], holds: (outcome: Outcome) => boolean): string => {
        const those = outcomes.filter((outcome) => outcome.store === store && outcome.kind === kind);
        return `${((100 * those.filter(holds).length) / Math.max(1, those.length)).toFixed(1)} %`;
      };
      const isPassed = ({ relevance }: Outcome): boolean => relevance >= relevanceFloor;
      return [
        `  ${store}: hit@1 ${share('answerable', (one) => one.isFirst && isPassed(one))}`,
        `without the gate ${share('answerable', ({ isFirst }) => isFirst)}`,
        `hit@3 ${share('answerable', (one) => one.isAmongThree && isPassed(one))}`,
        `unrelated answered ${share('unrelated', isPassed)}, near ${share('near', isPassed)}`,
      ].join(', ');
    })
    .join('\n');
}

/** By the number of the question, the same in all stores. */
function halfOf({ id }: Measured): number {
  return Number(/\d+$/.exec(id)?.[0]) % 2;
}

function writeWeights({ ranking, gate }: Fitted): void {
  const named = (names: readonly string[], values: readonly number[]): Record<string, number> =>
    Object.fromEntries(names.map((name, place) => [name, Number((values[place] ?? 0).toFixed(3))]));
  const subjects = kinds.map((kind, place) => {
    const from = featureNames.length + place * subjectClasses.length;
    return [kind, named(subjectClasses, ranking.slice(from, from + subjectClasses.length))];
  });
  const weights = {
    features: named(featureNames, ranking),
    subjects: Object.fromEntries(subjects) as unknown,
    gate: named(['score', ...gateNames], gate),
  };
  const file = join(packageRoot, 'src', 'retrieval', 'pipeline', 'judge-weights.ts');
  const note = '// Generated by bench/quality/recall/train.ts from the development questions. Do not edit.';
  writeFileSync(file, `${note}\nexport const judgeWeights = ${JSON.stringify(weights)};\n`);
}

const file = process.env['RECALL_FEATURES'];
const measured =
  file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Measured[]) : await measureAll();
if (file !== undefined) writeFileSync(file, JSON.stringify(measured));
const outcomes = [0, 1].flatMap((half) => {
  const fitted = fit(measured.filter((one) => halfOf(one) !== half));
  return measured.filter((one) => halfOf(one) === half).map((one) => ask(one, fitted));
});
process.stdout.write(`fitted to the other half:\n${describe(outcomes)}\n`);
const fitted = fit(measured);
process.stdout.write(`fitted to all:\n${describe(measured.map((one) => ask(one, fitted)))}\n`);
writeWeights(fitted);

// node --import tsx bench/quality/recall/train.ts: fits the weights of the judge of recalls to the development questions and
// writes them. First prints how well weights do on questions that they were not fitted to: those of the other half, and
// those of a month by the other months.
// RECALL_FEATURES names a file to keep the measured features in, so that a second run need not ask again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { featureNames, subjectClasses } from '../../../src/retrieval/pipeline/match-features.ts';
import { relevanceFloor } from '../../../src/retrieval/pipeline/score.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';
import { dot, fitLogistic, fitRanking } from './fit.ts';
import { gateNames, kinds, measureAll, type Measured } from './measure.ts';

/** Where the fit starts, and what it is drawn to where the questions say little. */
const startFeatures: Partial<Record<(typeof featureNames)[number], number>> = {
  similarity: 0.5,
  wholeSimilarity: 0.5,
  tokens: 0.3,
  wholeTokens: 0.33,
  ownWords: 0.27,
  glossWords: 0.48,
  namesWhom: 0.16,
  lentSimilarity: 0.4,
  lentTokens: 0.4,
  lentWords: 0.4,
};
const startPenalties = {
  named: 0.5,
  perhapsUser: 0.25,
  relation: 0.38,
  user: 0.25,
  mentioned: 0.06,
  self: 0.25,
  pronoun: 0.25,
  open: 0.06,
};

function startSubject(kind: (typeof kinds)[number], subject: (typeof subjectClasses)[number]): number {
  const isOfPerson = kind === 'named' || kind === 'perhapsUser' || kind === 'relation';
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

interface Fitted {
  ranking: number[];
  /** The weight of the match score, then those of the question. */
  gate: number[];
}

const isOfMonth = ({ store }: Measured): boolean => store.startsWith('month');

/** What a question weighs. The stores of 200 and 2,000 share their questions, and a month is small. */
function weigh(one: Measured): number {
  const ofStore = one.store === '2000' ? 0.5 : isOfMonth(one) ? 0.3 : 1;
  return ofStore * (one.kind === 'answerable' ? 1 : 0.7);
}

/**
 * What a question weighs for the gate: an unrelated one the more, the more memories there are. Otherwise the bound on how
 * many of them are answered would be used up in a large store and left unused in a small one.
 */
function weighForGate(one: Measured): number {
  const size = one.documents / 200;
  return weigh(one) * (one.kind === 'unrelated' ? 1.5 * size ** (size < 1 ? 0.8 : 0.1) : 1);
}

function fit(measured: readonly Measured[]): Fitted {
  const answerable = measured.filter(({ kind, isRight }) => kind === 'answerable' && isRight.includes(true));
  const ranking = asPenalties(fitRanking(answerable, { start, pulls, weights: answerable.map(weigh) }));
  // Near questions are answered sensibly in part: they say nothing about the gate.
  const gated = measured.filter(({ kind, rows }) => kind !== 'near' && rows.length > 0);
  const first = gated.map((one) => findFirst(one, ranking));
  // The gate tells whether anything here answers the question. Fitted to whether the first does, it also hid what was second
  // or third: it took a question that is hard to rank for one that nothing answers.
  const gate = fitLogistic(
    first.map(({ score, type }, place) => [score, ...type, ...(gated[place]?.question ?? [])]),
    first.map(({ isAnswered }) => isAnswered),
    { weights: gated.map(weighForGate), pull: 0.5 },
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

interface First {
  score: number;
  /** Whether it is a rule, and whether it is a note. */
  type: number[];
  /** Whether one of the first three is right. */
  isAnswered: boolean;
}

const typeFeatures = ['isRule', 'isNote'] as const;

function findFirst({ rows, isRight }: Measured, ranking: readonly number[]): First {
  const scores = rows.map((row) => dot(ranking, row));
  const order = orderByScore(scores);
  const first = rows[order[0] ?? -1];
  const type = typeFeatures.map((name) => first?.[featureNames.indexOf(name)] ?? 0);
  const isAnswered = order.slice(0, 3).some((place) => isRight[place] === true);
  return { score: scores[order[0] ?? -1] ?? 0, type, isAnswered };
}

/** The places of the rows, best first. */
function orderByScore(scores: readonly number[]): number[] {
  return scores.map((_, place) => place).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
}

interface Outcome {
  store: string;
  kind: Measured['kind'];
  /** Whether a memory answers it at all: consolidation does not keep everything of a month. */
  isStored: boolean;
  isAnswered: boolean;
  isRightWithoutGate: boolean;
  /** Whether the first result, and one of the first three, answers it and passes the gate. */
  isFirst: boolean;
  isAmongThree: boolean;
}

function ask(one: Measured, { ranking, gate }: Fitted): Outcome {
  const scores = one.rows.map((row) => dot(ranking, row));
  const order = orderByScore(scores);
  const { type } = findFirst(one, ranking);
  const relevanceAt = (place: number): number =>
    1 / (1 + Math.exp(-dot(gate, [scores[place] ?? 0, ...type, ...one.question])));
  const isRight = (place: number): boolean => one.isRight[place] === true;
  const isShown = (place: number): boolean => isRight(place) && relevanceAt(place) >= relevanceFloor;
  return {
    store: isOfMonth(one) ? 'months' : one.store,
    kind: one.kind,
    isStored: one.isRight.includes(true),
    isAnswered: order.slice(0, 1).some((place) => relevanceAt(place) >= relevanceFloor),
    isRightWithoutGate: order.slice(0, 1).some(isRight),
    isFirst: order.slice(0, 1).some(isShown),
    isAmongThree: order.slice(0, 3).some(isShown),
  };
}

function describe(outcomes: readonly Outcome[]): string {
  const stores = [...new Set(outcomes.map(({ store }) => store))];
  return stores
    .map((store) => {
      const share = (kind: Measured['kind'], holds: (outcome: Outcome) => boolean): string => {
        const those = outcomes.filter((one) => one.store === store && one.kind === kind);
        const counted = store === 'months' && kind === 'answerable' ? those.filter(({ isStored }) => isStored) : those;
        return `${((100 * counted.filter(holds).length) / Math.max(1, counted.length)).toFixed(1)} %`;
      };
      return [
        `  ${store}: hit@1 ${share('answerable', ({ isFirst }) => isFirst)}`,
        `without the gate ${share('answerable', ({ isRightWithoutGate }) => isRightWithoutGate)}`,
        `hit@3 ${share('answerable', ({ isAmongThree }) => isAmongThree)}`,
        `unrelated answered ${share('unrelated', ({ isAnswered }) => isAnswered)}`,
        `near ${share('near', ({ isAnswered }) => isAnswered)}`,
      ].join(', ');
    })
    .join('\n');
}

/** A part of the questions that weights are not fitted to and are judged on: half of the stores' questions, or a month. */
function partOf(one: Measured): string {
  // By the number of the question, the same in all stores.
  return isOfMonth(one) ? one.store : `half ${Number(/\d+$/.exec(one.id)?.[0]) % 2}`;
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
    gate: named(['score', ...typeFeatures, ...gateNames], gate),
  };
  const file = join(packageRoot, 'src', 'retrieval', 'pipeline', 'judge-weights.ts');
  const note = '// Generated by bench/quality/recall/train.ts from the development questions. Do not edit.';
  writeFileSync(file, `${note}\nexport const judgeWeights = ${JSON.stringify(weights)};\n`);
}

const file = process.env['RECALL_FEATURES'];
const measured =
  file !== undefined && existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Measured[])
    : await measureAll(start);
if (file !== undefined) writeFileSync(file, JSON.stringify(measured));
const outcomes = [...new Set(measured.map(partOf))].flatMap((part) => {
  const fitted = fit(measured.filter((one) => partOf(one) !== part));
  return measured.filter((one) => partOf(one) === part).map((one) => ask(one, fitted));
});
process.stdout.write(`fitted to other questions:\n${describe(outcomes)}\n`);
const fitted = fit(measured);
process.stdout.write(`fitted to all:\n${describe(measured.map((one) => ask(one, fitted)))}\n`);
writeWeights(fitted);

// node --import tsx bench/quality/consolidation/train-relations.ts: trains the judge that tells whether a statement changes or
// repeats a known one, on the development pairs, and writes its weights. Prints what it would say of pairs that it was not
// trained on (five folds), and of the validation pairs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelKey, type Embedder } from '../../../src/embedding/embedder.ts';
import {
  cosineOf,
  inputOf,
  leastCosine,
  likelihoodsOf,
  type Compared,
  type Likelihoods,
  type PairInput,
  type RelationHead,
  type RelationHeads,
} from '../../../src/lifecycle/consolidation/engines/patterns/relation-judge.ts';
import { topicOf } from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';
import { withEmbeddedCore } from '../../own-embedded-core.ts';
import { readSet } from './score.ts';
import type { NoteChange } from './stores.ts';

const relations = ['changes', 'repeats', 'beside'] as const;
type Relation = (typeof relations)[number];

interface Pair {
  first: string | { subject: string; predicate: string; content: string };
  second: string;
  relation: Relation;
}

interface Example {
  pair: PairInput;
  relation: Relation;
  weight: number;
  fold: number;
}

/** What a head is trained on: its inputs, and which of the outcomes is right. */
interface Row {
  input: readonly number[];
  outcome: number;
  weight: number;
}

const folds = 5;
/** Of the heads of relations and of the head that tells what belongs together. */
const penalties = { relation: 0.03, together: 0.01 };
const steps = 300;

type Vectors = ReadonlyMap<string, Float32Array>;

function withoutStop(text: string): string {
  return text.replace(/[.!]+$/, '');
}

function comparedOf(vectors: Vectors, given: Pair['first']): Compared {
  const topic =
    typeof given === 'string'
      ? topicOf('user', withoutStop(given), null)
      : topicOf(given.subject, given.content, given.predicate);
  return { topic, vector: vectors.get(topic.content) ?? new Float32Array() };
}

/** A pair that changes nothing changes nothing the other way round, either. */
function examplesOf(vectors: Vectors, { first, second, relation }: Pair, fold: number): Example[] {
  const [known, said] = [comparedOf(vectors, first), comparedOf(vectors, second)];
  const example = { pair: inputOf(known, said), relation, weight: 1, fold };
  return relation === 'changes' ? [example] : [example, { ...example, pair: inputOf(said, known), weight: 0.5 }];
}

/** Sentences of different pairs, the nearest and some others: nearly all of them have nothing to do with each other. */
function examplesApart(vectors: Vectors, pairs: readonly Pair[]): Example[] {
  const firsts = pairs.map(({ first }) => comparedOf(vectors, first));
  return pairs.flatMap(({ second }, place) => {
    const said = comparedOf(vectors, second);
    const others = firsts
      .flatMap((known, at) => (at === place ? [] : { known, cosine: cosineOf(known.vector, said.vector) }))
      .filter(({ cosine }) => cosine >= leastCosine)
      .toSorted((a, b) => b.cosine - a.cosine);
    const chosen = others
      .filter((_, at) => at < nearest || at % (others.length / sampled) < 1)
      .slice(0, nearest + sampled);
    return chosen.map(({ known }): Example => {
      return { pair: inputOf(known, said), relation: 'beside', weight: 0.15, fold: place % folds };
    });
  });
}

const nearest = 5;
const sampled = 4;

function trainHeads(together: readonly Example[], apart: readonly Example[]): RelationHeads {
  const relationRows = together.map(({ pair, relation, weight }): Row => {
    return { input: [...pair.surface, ...pair.vectors], outcome: relations.indexOf(relation), weight };
  });
  const togetherRows = [
    ...together.map(({ pair, relation, weight }): Row => {
      return { input: pair.surface, outcome: 0, weight: relation === 'beside' ? weight / 2 : weight };
    }),
    ...apart.map(({ pair, weight }): Row => ({ input: pair.surface, outcome: 1, weight })),
  ];
  const surface = together[0]?.pair.surface.length ?? 0;
  const [changes, repeats] = train(relationRows, relations.length, surface, penalties.relation) as [
    RelationHead,
    RelationHead,
  ];
  const [one] = train(togetherRows, 2, surface, penalties.together) as [RelationHead];
  return { together: one, changes, repeats };
}

/**
 * Softmax regression with an L2 penalty, on standardised inputs, by gradient descent with momentum: deterministic. The
 * head of the last outcome is zero.
 */
function train(rows: readonly Row[], outcomes: number, surface: number, penalty: number): RelationHead[] {
  const size = rows[0]?.input.length ?? 0;
  const { means, scales } = standardise(rows, size, surface);
  const inputs = rows.map(({ input }) =>
    Float64Array.from([...input.map((value, at) => (value - (means[at] ?? 0)) / (scales[at] ?? 1)), 1]),
  );
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  const create = (): Float64Array[] => Array.from({ length: outcomes }, () => new Float64Array(size + 1));
  const [weights, velocity] = [create(), create()];
  for (let step = 0; step < steps; step += 1) {
    const gradients = create();
    for (const [place, input] of inputs.entries()) addGradient(gradients, weights, input, rows[place] as Row);
    for (const [at, own] of weights.entries())
      move(own, { velocity: velocity[at] as Float64Array, gradient: gradients[at] as Float64Array, total, penalty });
  }
  const last = weights.at(-1) as Float64Array;
  return weights.slice(0, -1).map((own): RelationHead => {
    const scaled = means.map((_, at) => ((own[at] ?? 0) - (last[at] ?? 0)) / (scales[at] ?? 1));
    const shift = scaled.reduce((sum, value, at) => sum + value * (means[at] ?? 0), 0);
    return { bias: (own[size] ?? 0) - (last[size] ?? 0) - shift, weights: scaled };
  });
}

/** Features of the surface are standardised; those of the vectors are centred and keep their scale. */
function standardise(rows: readonly Row[], size: number, surface: number): { means: number[]; scales: number[] } {
  const mean = (of: (row: Row) => number): number => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const means = Array.from({ length: size }, (_, at) => mean(({ input }) => input[at] ?? 0));
  const scales = means.map((middle, at) =>
    at >= surface ? 1 : 0.01 + Math.sqrt(mean(({ input }) => ((input[at] ?? 0) - middle) ** 2)),
  );
  return { means, scales };
}

function addGradient(
  gradients: Float64Array[],
  weights: Float64Array[],
  input: Float64Array,
  { outcome, weight }: Row,
): void {
  const sums = weights.map((own) => {
    let sum = 0;
    for (let at = 0; at < input.length; at += 1) sum += (own[at] as number) * (input[at] as number);
    return sum;
  });
  const most = Math.max(...sums);
  const powers = sums.map((sum) => Math.exp(sum - most));
  const all = powers.reduce((sum, power) => sum + power, 0);
  for (const [at, gradient] of gradients.entries()) {
    const error = weight * ((powers[at] as number) / all - (at === outcome ? 1 : 0));
    for (let place = 0; place < input.length; place += 1)
      gradient[place] = (gradient[place] as number) + error * (input[place] as number);
  }
}

interface Step {
  velocity: Float64Array;
  gradient: Float64Array;
  total: number;
  penalty: number;
}

function move(weights: Float64Array, { velocity, gradient, total, penalty }: Step): void {
  for (let at = 0; at < weights.length; at += 1) {
    const isBias = at === weights.length - 1;
    const slope = (gradient[at] as number) / total + (isBias ? 0 : penalty * (weights[at] as number));
    velocity[at] = 0.9 * (velocity[at] as number) - 0.3 * slope;
    weights[at] = (weights[at] as number) + (velocity[at] as number);
  }
}

interface Judged extends Likelihoods {
  relation: Relation;
}

/** Shares of each relation by what becomes of a pair, for some thresholds. */
function report(name: string, judged: readonly Judged[]): string[] {
  const of = (relation: Relation): readonly Judged[] => judged.filter((one) => one.relation === relation);
  const share = (relation: Relation, isMeant: (one: Judged) => boolean): string => {
    const all = of(relation);
    if (all.length === 0) return 'none';
    const found = all.filter(isMeant).length;
    return `${found} of ${all.length} (${((100 * found) / all.length).toFixed(1)} %)`;
  };
  const line = (what: string, isMeant: (one: Judged) => boolean): string =>
    `  ${what}: changes ${share('changes', isMeant)}, repeats ${share('repeats', isMeant)}, beside ${share('beside', isMeant)}`;
  return [
    `${name}: ${judged.length} pairs`,
    ...[0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8].map((least) =>
      line(`changes >= ${least}`, ({ changes }) => changes >= least),
    ),
    ...[0.5, 0.6, 0.7, 0.8].map((least) => line(`repeats >= ${least}`, ({ repeats }) => repeats >= least)),
  ];
}

/** What heads say of pairs that they were not trained on. Of a pair that is counted, only its own order. */
function judgeFolds(together: readonly Example[], apart: readonly Example[]): { pairs: Judged[]; apart: Judged[] } {
  const judged: { pairs: Judged[]; apart: Judged[] } = { pairs: [], apart: [] };
  for (let fold = 0; fold < folds; fold += 1) {
    const isOther = (one: Example): boolean => one.fold !== fold;
    const heads = trainHeads(together.filter(isOther), apart.filter(isOther));
    const judge = ({ pair, relation }: Example): Judged => ({ relation, ...likelihoodsOf(heads, pair) });
    judged.pairs.push(...together.filter((one) => !isOther(one) && one.weight === 1).map(judge));
    judged.apart.push(...apart.filter((one) => !isOther(one)).map(judge));
  }
  return judged;
}

function writeWeights(model: string, { together, changes, repeats }: RelationHeads): void {
  const round = ({ bias, weights }: RelationHead): RelationHead => ({
    bias: Number(bias.toFixed(4)),
    weights: weights.map((weight) => Number(weight.toFixed(4))),
  });
  const file = join(packageRoot, 'src', 'lifecycle', 'consolidation', 'engines', 'patterns', 'relation-weights.ts');
  const data = JSON.stringify({
    model,
    together: round(together),
    changes: round(changes),
    repeats: round(repeats),
  });
  const note =
    '// Generated by bench/quality/consolidation/train-relations.ts from the development pairs. Do not edit.';
  writeFileSync(file, `${note}\nexport const relationWeights = ${data};\n`);
}

function readPairs(): { pairs: Pair[]; validation: Pair[] } {
  const notes = (readSet('note-changes', 'development') as NoteChange[]).map(({ first, second, relation }): Pair => {
    return { first: first.text, second: second.text, relation: relation === 'unrelated' ? 'beside' : relation };
  });
  const read = (name: string): Pair[] => readSet(name, 'development') as Pair[];
  return { pairs: [...read('pairs'), ...notes, ...read('pairs-2')], validation: read('pairs-validation') };
}

async function embedAll(embedder: Embedder, pairs: readonly Pair[]): Promise<Vectors> {
  const none: Vectors = new Map();
  const contents = pairs.flatMap(({ first, second }) =>
    [first, second].map((one) => comparedOf(none, one).topic.content),
  );
  const distinct = [...new Set(contents)];
  const embedded = await embedder.embed(distinct);
  return new Map(distinct.map((content, place) => [content, embedded[place]?.vector ?? new Float32Array()]));
}

await withEmbeddedCore(async ({ embedder }) => {
  const { pairs, validation } = readPairs();
  const vectors = await embedAll(embedder, [...pairs, ...validation]);
  const together = pairs.flatMap((pair, place) => examplesOf(vectors, pair, place % folds));
  const apart = examplesApart(vectors, pairs);
  const heads = trainHeads(together, apart);
  writeWeights(modelKey(embedder.model), heads);
  const judged = validation.map(({ first, second, relation }): Judged => {
    const pair = inputOf(comparedOf(vectors, first), comparedOf(vectors, second));
    return { relation, ...likelihoodsOf(heads, pair) };
  });
  const unseen = judgeFolds(together, apart);
  const lines = [
    ...report(`${folds} folds`, unseen.pairs),
    ...report('of different pairs', unseen.apart),
    ...report('validation', judged),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});

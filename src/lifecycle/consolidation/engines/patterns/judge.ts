import { modelKey, type Embedder } from '../../../../embedding/embedder.ts';
import { featuresOf } from './features.ts';
import { judgeWeights } from './judge-weights.ts';
import type { Statement } from './statement.ts';

/** How likely a sentence is worth keeping, and how likely it is an instruction rather than a fact. */
export interface Verdict {
  readonly keep: number;
  readonly instruction: number;
  readonly vector: Float32Array;
}

export interface Head {
  readonly bias: number;
  readonly weights: readonly number[];
}

const thousand = 1000;

/** As weights are kept: whole numbers are short, and the same everywhere. */
export function inThousandths({ bias, weights }: Head): Head {
  return { bias: Math.round(bias * thousand), weights: weights.map((weight) => Math.round(weight * thousand)) };
}

export function fromThousandths({ bias, weights }: Head): Head {
  return { bias: bias / thousand, weights: weights.map((weight) => weight / thousand) };
}

const trained: Heads = {
  keep: fromThousandths(judgeWeights.keep),
  fact: fromThousandths(judgeWeights.fact),
  rule: fromThousandths(judgeWeights.rule),
};

/** Judges sentences by their vectors; null with another embedder than the weights were trained on: rules alone decide. */
export async function judge(embedder: Embedder, statements: readonly Statement[]): Promise<(Verdict | null)[]> {
  if (modelKey(embedder.model) !== judgeWeights.model || statements.length === 0) return statements.map(() => null);
  const vectors = await embedder.embed(statements.map(({ content }) => content));
  const inputs = inputsOf(
    statements,
    vectors.map(({ vector }) => vector),
  );
  return inputs.map((input, place) => {
    return { vector: vectors[place]?.vector ?? new Float32Array(), ...verdictOf(trained, input) };
  });
}

/** Of three heads: whether it is worth keeping at all, a fact, a rule. */
export interface Heads {
  readonly keep: Head;
  readonly fact: Head;
  readonly rule: Head;
}

export function verdictOf({ keep, fact, rule }: Heads, input: ArrayLike<number>): Omit<Verdict, 'vector'> {
  const [asFact, asRule] = [probability(fact, input), probability(rule, input)];
  return {
    keep: Math.min(1, (probability(keep, input) + asFact + asRule) / 2),
    instruction: asRule / (asFact + asRule),
  };
}

/** What the heads see of each statement of an episode: its vector, those of its neighbours, and how it is said. */
export function inputsOf(statements: readonly Statement[], vectors: readonly ArrayLike<number>[]): Float64Array[] {
  const count = statements.length;
  const none = new Float64Array(vectors[0]?.length ?? 0);
  return statements.map((statement, place) => {
    const near = [vectors[place], vectors[place - 1], vectors[place + 1]];
    const input = near.flatMap((vector) => Array.from(vector ?? none));
    return Float64Array.from([...input, ...featuresOf({ statement, place, count })]);
  });
}

function probability({ bias, weights }: Head, input: ArrayLike<number>): number {
  let sum = bias;
  for (const [place, weight] of weights.entries()) sum += weight * (input[place] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

import { modelKey, type Embedder } from '../../../../embedding/embedder.ts';
import { featuresOf, type Setting } from './features.ts';
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

function fromThousandths({ bias, weights }: Head): Head {
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
  const settings = settingsOf(statements);
  return statements.map(({ content }, place) => {
    const vector = vectors[place]?.vector ?? new Float32Array();
    const input = [...vector, ...featuresOf(content, settings[place] ?? alone)];
    return { vector, ...verdictOf(trained, input) };
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

const alone: Setting = { isSpeech: false, isFirst: true, isLast: false };

/** How the statements of an episode stand in it. */
export function settingsOf(statements: readonly Pick<Statement, 'isSpeech'>[]): Setting[] {
  return statements.map(({ isSpeech }, place) => {
    return { isSpeech, isFirst: place === 0, isLast: place > 0 && place === statements.length - 1 };
  });
}

function probability({ bias, weights }: Head, input: ArrayLike<number>): number {
  const sum = weights.reduce((total, weight, place) => total + weight * (input[place] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}

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

interface Head {
  readonly bias: number;
  readonly weights: readonly number[];
}

/** Judges sentences by their vectors; null with another embedder than the weights were trained on: rules alone decide. */
export async function judge(embedder: Embedder, statements: readonly Statement[]): Promise<(Verdict | null)[]> {
  if (modelKey(embedder.model) !== judgeWeights.model || statements.length === 0) return statements.map(() => null);
  const vectors = await embedder.embed(statements.map(({ content }) => content));
  return statements.map(({ content }, place) => {
    const vector = vectors[place]?.vector ?? new Float32Array();
    const input = [...vector, ...featuresOf(content)];
    return {
      vector,
      keep: probability(judgeWeights.keep, input),
      instruction: probability(judgeWeights.instruction, input),
    };
  });
}

export function probability({ bias, weights }: Head, input: readonly number[]): number {
  const sum = input.reduce((total, value, place) => total + value * (weights[place] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}

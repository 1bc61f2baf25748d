import { describe, expect, it } from 'vitest';
import { completeSearch, completeTokenBudget } from '../../src/retrieval/query/defaults.ts';
import { sumParts } from '../../src/retrieval/pipeline/score.ts';
import { testConfig } from '../support/config.ts';

const { retrieval } = testConfig().memory;

describe('the composite score', () => {
  it('weighs relevance, importance, recency and confidence as configured', () => {
    const parts = { relevance: 1, importance: 0.5, recency: 0.25, confidence: 0.1, maturityWeight: 1 };

    expect(sumParts(parts, retrieval.scoreWeights)).toBeCloseTo(0.4 + 0.15 + 0.05 + 0.01, 10);
  });

  it('is 1 at most and 0 at least', () => {
    const all = (value: number): Parameters<typeof sumParts>[0] => ({
      relevance: value,
      importance: value,
      recency: value,
      confidence: value,
      maturityWeight: 1,
    });

    expect(sumParts(all(1), retrieval.scoreWeights)).toBeCloseTo(1, 10);
    expect(sumParts(all(0), retrieval.scoreWeights)).toBe(0);
  });
});

describe('what a caller leaves open', () => {
  it('comes from the configuration', () => {
    expect(completeSearch({}, retrieval)).toEqual({ limit: 20, mode: 'hybrid' });
    expect(completeSearch({ limit: 3, mode: 'keyword' }, retrieval)).toEqual({ limit: 3, mode: 'keyword' });
    expect(completeTokenBudget(null, retrieval)).toBe(3000);
    expect(completeTokenBudget(0, retrieval)).toBe(0);
  });

  it.each([0, -1, 1.5, Number.NaN, 1001])('does not make a limit of %d good', (limit) => {
    expect(() => completeSearch({ limit }, retrieval)).toThrow(/limit must be a whole number from 1 to 1000 \(got /);
  });

  it.each([-1, 0.5, Number.POSITIVE_INFINITY, 1_000_001])('does not make a token budget of %d good', (budget) => {
    expect(() => completeTokenBudget(budget, retrieval)).toThrow(/token_budget must be a whole number from 0 to/);
  });
});

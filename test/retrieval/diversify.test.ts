import { describe, expect, it } from 'vitest';
import { diversify } from '../../src/retrieval/pipeline/diversify.ts';
import { isKept, type Ranked } from '../../src/retrieval/pipeline/ranked.ts';

type Comparable = Parameters<typeof diversify>[0][number]['memory'];

const ranked = (content: string, predicateKey: string, score: number): Ranked<Comparable> => ({
  memory: { type: 'fact', id: content, maturity: null, subjectKey: 'user', predicateKey, row: { content } },
  score,
  relevance: score,
  parts: { match: null, composite: null },
  droppedBy: null,
  reason: null,
});

const dishes = ['spinach', 'mushrooms', 'salmon', 'pumpkin', 'lentils'].map((dish) => ranked(dish, 'lasagna', 0.9));
const keptOf = (all: readonly Ranked<Comparable>[], limit: number): string[] =>
  diversify(all, limit)
    .filter(isKept)
    .map(({ memory }) => memory.id);

describe('the variety of an answer', () => {
  it('does not replace what is relevant by what hardly is', () => {
    const contract = ranked('household contract', 'insurance', 0.3);

    expect(keptOf([...dishes, contract], 5)).toEqual(dishes.map(({ memory }) => memory.id));
    expect(keptOf([...dishes, contract], 6)).toContain('household contract');
  });

  it('prefers another that matches nearly as well to the fourth of a cluster', () => {
    const kitchen = ranked('oven in the cellar', 'kitchen', 0.7);

    expect(keptOf([...dishes, kitchen], 4)).toEqual(['spinach', 'mushrooms', 'salmon', 'oven in the cellar']);
  });
});

import { describe, expect, it } from 'vitest';
import { averageTokens, compareTokens, packSigns, type TokenVectors } from '../../src/embedding/token-vectors.ts';

function tokensOf(...rows: number[][]): TokenVectors {
  return { pieces: rows.map((_, place) => `piece${place}`), values: Int8Array.from(rows.flat()) };
}

const [east, west, north] = [
  [127, 90, 3, -20, 60, 1, -1, -127, 44, 0],
  [-127, -90, -3, 20, -60, -1, 1, 127, -44, -1],
  [40, -70, 120, -20, -60, 90, -30, 5, -44, 9],
] as const;

describe('word pieces that are kept', () => {
  it('take one bit for each dimension, and whole bytes for each piece', () => {
    expect([...packSigns(tokensOf([...east], [...west]))]).toEqual([0b11001000, 0, 0b00110111, 0b11]);
    expect(packSigns(tokensOf())).toHaveLength(0);
  });

  it('are as near as their signs agree', () => {
    const [own] = compareTokens(tokensOf([...east]), packSigns(tokensOf([...east]))) ?? [];
    const [opposite] = compareTokens(tokensOf([...east]), packSigns(tokensOf([...west]))) ?? [];

    expect(own).toBeGreaterThan(0.6);
    expect(opposite).toBeLessThan(-0.6);
  });

  it('answer each word of a question by the nearest of theirs, and the words by their weights', () => {
    const kept = packSigns(tokensOf([...west], [...north]));
    const similarities = compareTokens(tokensOf([...west], [...east]), kept) ?? [];
    const [first = Number.NaN, second = Number.NaN] = similarities;

    expect(first).toBeGreaterThan(second);
    expect(averageTokens(similarities, [3, 1])).toBeCloseTo((3 * first + second) / 4, 10);
  });

  it('cannot be compared where there are none, or where no word counts', () => {
    expect(compareTokens(tokensOf([...east]), new Uint8Array())).toBeNull();
    expect(compareTokens(tokensOf(), packSigns(tokensOf([...east])))).toBeNull();
    expect(averageTokens([0.5], [0])).toBeNull();
  });
});

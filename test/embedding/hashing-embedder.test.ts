import { describe, expect, it } from 'vitest';
import { HashingProvider, hashFeatures } from '../../src/embedding/hashing-embedder.ts';

describe('hashing embedder', () => {
  it('says in its identity that no model made the vectors', () => {
    expect(new HashingProvider(64).model).toEqual({
      provider: 'hashing',
      model: 'feature-hashing-v1',
      dtype: 'fp32',
      digest: 'feature-hashing-v1',
      dimensions: 64,
    });
  });

  it('keeps the exact values of version 1', () => {
    expect(Array.from(hashFeatures('Tea, black', 8))).toEqual([
      0, 0.3535533845424652, 0, -0.7071067690849304, 0, -0.3535533845424652, 0.3535533845424652, -0.3535533845424652,
    ]);
  });

  it('finds texts that share words or word parts closer than unrelated ones', () => {
    const likesCoffee = hashFeatures('Alice likes strong coffee', 384);
    const likedCoffees = hashFeatures('alice liked her coffees strong', 384);
    const railway = hashFeatures('The railway timetable changed in October', 384);
    expect(cosine(likesCoffee, likedCoffees)).toBeGreaterThan(0.5);
    expect(cosine(likesCoffee, railway)).toBeLessThan(0.2);
  });

  it('ignores case, punctuation and the width of characters', () => {
    expect(hashFeatures('ＨＥＬＬＯ, world!', 384)).toEqual(hashFeatures('hello world', 384));
  });

  it('never returns a zero vector, even where features cancel each other out', () => {
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
      expect(Math.abs(hashFeatures(`${letter} ${letter}${letter}`, 1)[0]!)).toBe(1);
    }
  });
});

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * right[index]!, 0);
}

import { describe, expect, it } from 'vitest';
import {
  capacityPerButler,
  episodeCapacityPerTenant,
  generationOf,
  isDueForPromotion,
} from '../../src/memory/generation.ts';
import { testConfig } from '../support/config.ts';

const { memory } = testConfig();
const createdAt = new Date('2026-01-01T00:00:00Z');
const hoursLater = (hours: number): Date => new Date(createdAt.getTime() + hours * 3_600_000);

describe('a generation', () => {
  it('is eden for episodes', () => {
    expect(generationOf({ type: 'episode' })).toBe('eden');
  });

  it.each([
    ['permanent', 'long'],
    ['stable', 'long'],
    ['standard', 'mid'],
    ['volatile', 'mid'],
    ['ephemeral', 'mid'],
  ] as const)('of a %s fact is %s', (permanence, generation) => {
    expect(generationOf({ type: 'fact', permanence })).toBe(generation);
  });

  it.each([
    ['candidate', 'mid'],
    ['established', 'mid'],
    ['proven', 'long'],
    ['anti_pattern', 'mid'],
  ] as const)('of a %s rule is %s', (maturity, generation) => {
    expect(generationOf({ type: 'rule', maturity })).toBe(generation);
  });

  it('has a capacity for each butler, and episodes one for each tenant', () => {
    expect([
      capacityPerButler('eden', memory),
      capacityPerButler('mid', memory),
      capacityPerButler('long', memory),
    ]).toEqual([1000, 500, 200]);
    expect(episodeCapacityPerTenant(memory)).toBe(10_000);
  });
});

describe('promotion', () => {
  it.each([
    ['eden', 3, 6, true],
    ['eden', 2, 6, false],
    ['eden', 3, 5.99, false],
    ['mid', 10, 7 * 24, true],
    ['mid', 9, 7 * 24, false],
    ['mid', 10, 7 * 24 - 0.01, false],
    ['long', 1000, 100_000, false],
  ] as const)('out of %s with %d references after %d hours is due: %s', (generation, referenceCount, hours, due) => {
    expect(isDueForPromotion(generation, { referenceCount, createdAt }, hoursLater(hours), memory)).toBe(due);
  });
});

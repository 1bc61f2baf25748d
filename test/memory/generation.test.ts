import { describe, expect, it } from 'vitest';
import { capacityPerButler, episodeCapacityPerTenant, generationOf } from '../../src/memory/generation.ts';
import { testConfig } from '../support/config.ts';

const { memory } = testConfig();

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
    ]).toEqual([1000, 5000, 5000]);
    expect(episodeCapacityPerTenant(memory)).toBe(10_000);
  });
});

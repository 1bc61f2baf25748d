import { describe, expect, it } from 'vitest';
import { earnedMaturity, effectiveness, isAntiPattern } from '../../../src/memory/rules/rule-maturity.ts';
import { testConfig } from '../../support/config.ts';

const thresholds = testConfig().memory.rules;
const createdAt = new Date('2026-01-01T00:00:00Z');
const daysLater = (days: number): Date => new Date(createdAt.getTime() + days * 86_400_000);
const rule = (successCount: number, harmfulCount = 0): Parameters<typeof isAntiPattern>[0] => ({
  successCount,
  harmfulCount,
  createdAt,
});

describe('effectiveness', () => {
  it('weighs harm four times', () => {
    expect(effectiveness(rule(10, 2))).toBeCloseTo(10 / 18.01, 10);
  });

  it('of an unused rule is 0', () => {
    expect(effectiveness(rule(0))).toBe(0);
  });
});

describe('the maturity a rule has earned', () => {
  it.each([
    ['candidate', 4, 0, 365],
    ['established', 5, 0, 0],
    ['candidate', 5, 1, 365],
    ['established', 14, 0, 365],
    ['established', 15, 0, 29.99],
    ['proven', 15, 0, 30],
    ['established', 15, 1, 30],
    ['proven', 17, 1, 30],
  ] as const)('is %s with %d successes and %d harms at %d days', (maturity, successes, harms, days) => {
    expect(earnedMaturity(rule(successes, harms), daysLater(days), thresholds)).toBe(maturity);
  });
});

describe('an anti-pattern', () => {
  it.each([
    [false, 0, 2],
    [true, 0, 3],
    [true, 5, 3],
    [false, 6, 3],
  ])('is %s with %d successes and %d harms', (verdict, successes, harms) => {
    expect(isAntiPattern(rule(successes, harms), thresholds)).toBe(verdict);
  });
});

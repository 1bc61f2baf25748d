import { describe, expect, it } from 'vitest';
import { decayRates, effectiveConfidence } from '../../src/memory/confidence.ts';

const createdAt = new Date('2026-01-01T00:00:00Z');
const daysLater = (days: number): Date => new Date(createdAt.getTime() + days * 86_400_000);
const fact = { confidence: 0.8, decayRate: 0.008, createdAt, lastConfirmedAt: null };

describe('effective confidence', () => {
  it('is the stored confidence at the moment of confirmation', () => {
    expect(effectiveConfidence(fact, createdAt)).toBe(0.8);
  });

  it('is half of it after one half-life', () => {
    expect(effectiveConfidence(fact, daysLater(Math.LN2 / 0.008))).toBeCloseTo(0.4, 10);
  });

  it('is nearly nothing after years', () => {
    expect(effectiveConfidence(fact, daysLater(3650))).toBeLessThan(1e-12);
  });

  it('never decays for what is permanent', () => {
    expect(effectiveConfidence({ ...fact, decayRate: decayRates.permanent }, daysLater(36_500))).toBe(0.8);
  });

  it('counts from the confirmation, and from the creation when there was none', () => {
    const confirmed = { ...fact, lastConfirmedAt: daysLater(100) };

    expect(effectiveConfidence(confirmed, daysLater(100))).toBe(0.8);
    expect(effectiveConfidence(fact, daysLater(100))).toBeCloseTo(0.8 * Math.exp(-0.8), 10);
  });

  it('does not grow when the confirmation lies in the future', () => {
    expect(effectiveConfidence({ ...fact, lastConfirmedAt: daysLater(5) }, createdAt)).toBe(0.8);
  });
});

import { describe, expect, it } from 'vitest';
import { halves, scoreRedaction } from '../../bench/quality/redaction/score.ts';

describe.each(halves)('of the %s half of the texts', (half) => {
  const score = scoreRedaction(half);

  it('at least 95 % of the planted secrets are masked', () => {
    expect(score.planted).toBeGreaterThanOrEqual(150);
    expect(score.missed.length / score.planted).toBeLessThanOrEqual(0.05);
  });

  it('at most 3 % of the harmless texts are changed', () => {
    expect(score.harmless).toBeGreaterThanOrEqual(150);
    expect(score.falseAlarms.length / score.harmless).toBeLessThanOrEqual(0.03);
  });
});

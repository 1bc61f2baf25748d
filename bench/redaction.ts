import type { Benchmark, Figure } from './benchmark.ts';
import { halves, scoreRedaction, type Half } from './quality/redaction/score.ts';

export const redaction: Benchmark = {
  question:
    'How many planted secrets does the default redaction mask, and how many harmless texts does it change (bench/quality/redaction)? The misses of the held-out half were not looked at while the patterns were written.',
  measure: () => Promise.resolve(halves.flatMap(figuresOf)),
};

function figuresOf(half: Half): Figure[] {
  const { planted, missed, harmless, falseAlarms } = scoreRedaction(half);
  return [
    { what: `${half}: secrets masked`, value: share(planted - missed.length, planted) },
    { what: `${half}: false alarms`, value: share(falseAlarms.length, harmless) },
  ];
}

function share(count: number, of: number): string {
  return `${count} of ${of} (${((100 * count) / of).toFixed(1)} %)`;
}

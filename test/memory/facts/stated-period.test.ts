import { describe, expect, it } from 'vitest';
import { readPeriod } from '../../../src/memory/facts/stated-period.ts';

/** The first and the last moment as days; null where the sentence names none. */
function periodOf(sentence: string): [string | null, string | null] {
  const { from, until } = readPeriod(sentence);
  return [from?.toISOString().slice(0, 10) ?? null, until?.toISOString().slice(0, 10) ?? null];
}

describe('the period that a sentence states', () => {
  it.each([
    ['Rent is 900 euros as of January 2027', '2027-01-01', null],
    ['From 1 June 2026 a night costs 450 cedis', '2026-06-01', null],
    ['Starting in the week of 2026-05-09 the shop opens on Mondays', '2026-05-09', null],
    ['Until the eighth of June 2026 the apprentice stands in', null, '2026-06-09'],
    ['Cover until 17 April 2026: Bjarte Lie', null, '2026-04-18'],
    ['Vy does the tax papers through July 2026', null, '2026-08-01'],
    ['Away from March 3, 2026 until 2026-03-10', '2026-03-03', '2026-03-11'],
    ['Works from home on Mondays', null, null],
    ['Sleeps until noon', null, null],
    ['Away until 45 May 2026', null, null],
  ])('reads "%s"', (sentence, from, until) => {
    expect(periodOf(sentence)).toEqual([from, until]);
  });
});

import { describe, expect, it } from 'vitest';
import { compareWords } from '../../../src/lifecycle/consolidation/engines/patterns/compare.ts';
import { resolveDates } from '../../../src/lifecycle/consolidation/engines/patterns/dates.ts';
import { splitClauses } from '../../../src/lifecycle/consolidation/engines/patterns/clauses.ts';
import { thirdPerson } from '../../../src/lifecycle/consolidation/engines/patterns/grammar.ts';
import { joinTokens, tag } from '../../../src/lifecycle/consolidation/engines/patterns/tags.ts';
import { mayBeSame, mayConcern, topicOf } from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';

const wednesday = new Date('2026-11-18T10:00:00Z');

describe('a date', () => {
  it.each([
    ['We meet next Friday', false, 'We meet on 2026-11-27'],
    ['User handed it in on Friday', true, 'User handed it in on 2026-11-13'],
    ['User stays until Monday', false, 'User stays until 2026-11-23'],
    ['The lease ends on 30 September', false, 'The lease ends on 30 September 2027'],
    ['User switched two years ago', true, 'User switched in 2024'],
    ['As of next month the charge rises', false, 'As of December 2026 the charge rises'],
    ['Yoga is on Tuesdays at 18:00', false, 'Yoga is on Tuesdays at 18:00'],
    ['Rent goes out on the 3rd', false, 'Rent goes out on the 3rd'],
    ['The hall was booked for late January', true, 'The hall was booked for late January 2027'],
    ['User decided to move in March', true, 'User decided to move in March 2027'],
    ['Surgery was moved to 20 February', true, 'Surgery was moved to 20 February 2027'],
    ['User had surgery in December', true, 'User had surgery in December 2025'],
    ['The test is on the last Friday of this month', false, 'The test is on 2026-11-27'],
    ['The fair is on the first Sunday of May', false, 'The fair is on 2027-05-02'],
    ['User flies on Tuesday of next week', false, 'User flies on 2026-11-24'],
    ['Helpers are paid on the 25th', false, 'Helpers are paid on the 25th'],
    ['The bank announced 2 percent as of December', true, 'The bank announced 2 percent as of December 2026'],
    ['User takes two in a day', false, 'User takes two in a day'],
    ['Vitamin D, October to April only', false, 'Vitamin D, October to April only'],
  ])('that is said from the day of the episode becomes absolute: %s', (text, isPast, resolved) => {
    expect(resolveDates(text, wednesday, isPast)).toBe(resolved);
  });
});

describe('clauses', () => {
  it.each([
    ['User works at Fiat and lives in Turin', ['User works at Fiat', 'lives in Turin']],
    ['User likes tea and coffee', ['User likes tea and coffee']],
    ['She is writing a thesis and works on it at night', ['She is writing a thesis and works on it at night']],
    ['User is self-employed as an interpreter', ['User is self-employed as an interpreter']],
  ])('are cut only where another statement begins: %s', (text, clauses) => {
    expect(splitClauses(tag(text)).map(({ tokens }) => joinTokens(tokens))).toEqual(clauses);
  });
});

describe('verbs', () => {
  it.each([
    ['need', 'needs'],
    ['feed', 'feeds'],
    ['have', 'has'],
    ['try', 'tries'],
    ['wash', 'washes'],
    ['went', 'went'],
  ])('are put in the third person: %s', (verb, third) => {
    expect(thirdPerson(verb)).toBe(third);
  });
});

describe('a statement, compared with what is known', () => {
  it.each([
    ['User has a dog named Rex', 'User no longer has a dog', { changes: 1, repeats: 0 }],
    ['User pays 39 euros a month for internet', 'User pays 46 euros a month for internet', { changes: 1, repeats: 0 }],
    [
      'User rents a garage for 85 euros a month',
      'User rents a garage for 85 euros a month',
      { changes: 0, repeats: 1 },
    ],
    ['User is afraid of thunderstorms', 'User is not afraid of spiders', { changes: 0, repeats: 0 }],
    ['User plays badminton on Tuesdays', 'User plays the cello on Tuesdays', { changes: 0, repeats: 0 }],
  ] as const)('by its words alone: %s / %s', (known, said, likelihoods) => {
    expect(compareWords(topicOf('user', known, null), topicOf('user', said, null))).toEqual(likelihoods);
  });

  it('is compared only where it may be about the same subject', () => {
    const known = topicOf('user', 'User has a red raincoat', null);

    expect(mayBeSame(known, topicOf("user's neighbour", "User's neighbour sold her red raincoat", null))).toBe(false);
    expect(mayBeSame(known, topicOf('user', 'The red raincoat is sold', null))).toBe(true);
  });

  it('of somebody else may concern what the user has, but not what a third person has', () => {
    const said = topicOf('Dr Poy', 'Dr Poy lowered the dose to 20 mg', null);

    expect(mayConcern(topicOf('user', 'User takes 40 mg', null), said)).toBe(true);
    expect(mayConcern(topicOf('Ines', 'Ines takes 40 mg', null), said)).toBe(false);
  });
});

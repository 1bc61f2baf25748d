import { describe, expect, it } from 'vitest';
import type { Likelihoods } from '../../../src/lifecycle/consolidation/engines/patterns/compare.ts';
import {
  inputsOf,
  judgeRelations,
  likelihoodsOf,
  type Compared,
} from '../../../src/lifecycle/consolidation/engines/patterns/relation-judge.ts';
import { relationWeights } from '../../../src/lifecycle/consolidation/engines/patterns/relation-weights.ts';
import {
  corrects,
  restates,
  sentenceOf,
  topicOf,
} from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';
import { alignWords, readWordVectors } from '../../../src/lifecycle/consolidation/engines/patterns/word-vectors.ts';

/** The same place for the same word. */
function placeOf(word: string): number {
  return new TextEncoder().encode(word).reduce((sum, byte) => (31 * sum + byte) % 384, 7);
}

/** A vector with two places, as near to another as the angle between them tells. */
function compared(sentence: string, angle = 0): Compared {
  const vector = new Float32Array(384);
  vector.set([Math.cos(angle), Math.sin(angle)]);
  const topic = topicOf('user', sentence, null);
  const pieces = sentence.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const values = new Int8Array(384 * pieces.length);
  for (const [place, piece] of pieces.entries()) values[384 * place + placeOf(piece)] = 127;
  return { topic, vector, words: readWordVectors(topic, { pieces, values }) };
}

const known = compared("User's physiotherapy is on Wednesdays at 9:30");
const others = [compared("User's sister keeps bees", 1.3), compared('User drives an old Volvo', 1.4)];

/** What a statement is to the known sentence, beside others that have nothing to do with it. */
function judgeKnown(said: Compared, isLater = false): Likelihoods {
  const candidates = [known, ...others].map((one) => ({ ...one, isLater }));
  return judgeRelations(candidates, said)[0] as Likelihoods;
}

describe('the judge of relations', () => {
  it('has a weight for each input', () => {
    const newer = compared('The physiotherapy has moved to Mondays', 0.5);
    const input = [0.5, ...(inputsOf([known, ...others], newer)[0] ?? [])];

    expect(relationWeights.tells.weights).toHaveLength(newer.vector.length);
    const { hidden, changes, repeats } = relationWeights;
    expect(hidden.map(({ weights }) => weights.length)).toEqual(hidden.map(() => input.length));
    expect(changes.weights).toHaveLength(input.length + hidden.length);
    expect(repeats.weights).toHaveLength(input.length + hidden.length);
    expect(input.every(Number.isFinite)).toBe(true);
  });

  it('tells a change from a repetition and from something else', () => {
    const change = judgeKnown(compared('The physiotherapy has moved to Mondays at 8:00', 0.4));
    const repetition = judgeKnown(compared('The physiotherapy is on Wednesdays at 9:30', 0.4));
    const other = judgeKnown(compared('User collects stamps', 1.2));

    expect(change.changes).toBeGreaterThan(change.repeats);
    expect(change.changes).toBeGreaterThan(repetition.changes);
    expect(repetition.repeats).toBeGreaterThan(change.repeats);
    expect(other.changes).toBeLessThan(change.changes / 2);
    expect(other.repeats).toBeLessThan(repetition.repeats / 2);
  });

  it('judges a pair in the order of its days', () => {
    const changed = compared('The physiotherapy has moved to Mondays at 8:00', 0.7);
    const asNews = judgeKnown(changed);
    const asHistory = judgeKnown(changed, true);

    expect(asHistory.changes).not.toBe(asNews.changes);
  });

  it('knows the place of a sentence among those that are compared', () => {
    const said = compared('The physiotherapy has moved to Mondays', 0.4);
    const [nearest, , last] = inputsOf([known, ...others], said);
    const [alone] = inputsOf([known], said);

    // The cosine; then of each measure the place, the lead and whether it is the nearest.
    expect(nearest?.slice(1, 4)).toEqual([0, expect.any(Number), 1]);
    expect(nearest?.[2]).toBeCloseTo(Math.cos(0.4) - Math.cos(0.9));
    expect(last?.slice(1, 4)).toEqual([2 / 5, expect.any(Number), 0]);
    expect(alone?.slice(1, 4)).toEqual([0, 0, 1]);
  });

  it('takes a plain correction for a change', () => {
    const older = compared('Silje is expecting, due on 9 May, and lives in Bergen', 0.9);
    const [judged] = judgeRelations([{ ...older, isLater: false }], compared('Silje is due on 19 May, not on the 9th'));

    expect(judged?.changes).toBeGreaterThan(0.9);
  });

  it('gives all it says to one outcome of three', () => {
    const none = { bias: 0, weights: [] };
    const { changes, repeats } = likelihoodsOf({ hidden: [], changes: none, repeats: none }, [1]);

    expect(changes).toBeCloseTo(1 / 3);
    expect(repeats).toBeCloseTo(1 / 3);
  });

  it('judges by what it sees in a pair beside the inputs', () => {
    const one = { bias: 0, weights: [10] };
    const heads = { hidden: [one], changes: { bias: 0, weights: [0, 2] }, repeats: { bias: 0, weights: [0, 0] } };

    expect(likelihoodsOf(heads, [1]).changes).toBeCloseTo(Math.exp(2) / (Math.exp(2) + 2));
    expect(likelihoodsOf(heads, [-1]).changes).toBeCloseTo(Math.exp(-2) / (Math.exp(-2) + 2));
  });
});

describe('a topic', () => {
  it('knows what its numbers count', () => {
    const { units } = topicOf('user', 'The rent is 985 euros, and two keys came with it', null);

    expect([...units].map(([unit, amounts]) => [unit, ...amounts])).toEqual([
      ['euro', '985'],
      ['key', '2'],
    ]);
  });

  it('reads numbers and dates in words and digits alike', () => {
    const [one, other] = ['User eats at seven on the ninth of May', 'User eats at 7 on 2026-05-09'].map(
      (sentence) => topicOf('user', sentence, null).values,
    );

    expect([...(one?.numbers ?? [])].toSorted()).toEqual([...(other?.numbers ?? [])].toSorted());
    expect(one?.months).toEqual(other?.months);
  });

  it('is a sentence, also where a fact is a predicate and a value', () => {
    expect(sentenceOf({ subject: 'Blesa', predicate: 'stabled_at', content: 'Nybø.' })).toBe(
      "Blesa's stabled at: Nybø",
    );
    expect(sentenceOf({ subject: 'user', predicate: 'likes_tea', content: 'User likes tea' })).toBe('User likes tea');
  });
});

describe('a plain change', () => {
  const topic = (sentence: string): ReturnType<typeof topicOf> => topicOf('user', sentence, null);

  it.each([
    ['Allergy: penicillin', 'Re the allergy: not penicillin', true],
    ['The talk is on 9 May', 'The talk is on 19 May, not on the 9th', true],
    ['User drinks coffee in the morning', 'User drinks tea in the morning instead of coffee', true],
    ['User drinks tea, not coffee', 'User drinks tea in the morning, not coffee', false],
    ["User's car is a Saab", 'User takes the train to work, not the car', false],
    ['The talk is on 9 May', 'The talk on 9 May is not in the hall', false],
  ])('names the old value as wrong: "%s" and "%s"', (older, newer, isCorrection) => {
    expect(corrects(topic(older), topic(newer))).toBe(isCorrection);
  });

  it.each([
    ['Emergency contact is the neighbour, Ulf Lind', 'Emergency contact is now her niece, Pia Berg', true],
    ['Physiotherapy is on Wednesdays', 'Physiotherapy is now on Mondays', true],
    ["User's emergency contact: Ulf Lind, the neighbour", 'Emergency contact is now her niece, Pia Berg', true],
    ['The dog is called Bruno', 'The dog now sleeps at the house of Vera', false],
    ["User's sister lives in Turin", "User's brother now lives in Milan", false],
    ['Emergency contact is Ulf Lind', 'Emergency contact is Pia Berg', false],
  ])('says what holds now of the same thing: "%s" and "%s"', (older, newer, isRestated) => {
    expect(restates(topic(older), topic(newer))).toBe(isRestated);
  });
});

describe('the words of two sentences', () => {
  const vector = (...values: number[]): Int8Array => Int8Array.from(values);

  it('are joined from their pieces, without case and accents', () => {
    const { roles, vectors } = readWordVectors(topicOf('user', 'Solène teaches', null), {
      pieces: ['sole', '##ne', 'teaches'],
      values: vector(127, 0, 127, 0, 0, 127),
    });

    expect(roles.map(({ word }) => word)).toEqual(['solene', 'teaches']);
    expect(vectors.map((one) => [...one])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('match by meaning, values apart', () => {
    const older = readWordVectors(topicOf('user', 'The lesson is on Mondays', null), {
      pieces: ['lesson', 'mondays'],
      values: vector(127, 0, 0, 127),
    });
    const newer = readWordVectors(topicOf('user', 'The class is on Fridays', null), {
      pieces: ['class', 'fridays'],
      values: vector(127, 0, 0, 127),
    });

    expect(alignWords(older, newer)).toMatchObject({ known: 1, said: 1, noun: 1, otherValue: 1, knownAlone: 0 });
    expect(alignWords(older, { roles: [], vectors: [] })).toMatchObject({ known: 0, rest: 0, otherValue: 0 });
  });
});

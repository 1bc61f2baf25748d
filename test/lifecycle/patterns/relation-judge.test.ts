import { describe, expect, it } from 'vitest';
import {
  inputOf,
  judgeRelations,
  likelihoodsOf,
  standingOf,
  type Compared,
  type Likelihoods,
} from '../../../src/lifecycle/consolidation/engines/patterns/relation-judge.ts';
import { relationWeights } from '../../../src/lifecycle/consolidation/engines/patterns/relation-weights.ts';
import { sentenceOf, topicOf } from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';

/** A vector with two places, as near to another as the angle between them tells. */
function compared(sentence: string, angle = 0): Compared {
  const vector = new Float32Array(384);
  vector.set([Math.cos(angle), Math.sin(angle)]);
  return { topic: topicOf('user', sentence, null), vector };
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
    const input = inputOf({ older: known, newer, standing: standingOf([0.9, 0.2], 0), tells: 0.5 });

    expect(relationWeights.tells.weights).toHaveLength(newer.vector.length);
    expect(relationWeights.changes.weights).toHaveLength(input.length);
    expect(relationWeights.repeats.weights).toHaveLength(input.length);
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
    expect(standingOf([0.4, 0.9, 0.6], 1)).toEqual([0.9, 0, 0.9 - 0.6, 1]);
    expect(standingOf([0.4, 0.9, 0.6], 0)).toEqual([0.4, 2 / 5, 0.4 - 0.9, 0]);
    expect(standingOf([0.4], 0)).toEqual([0.4, 0, 0, 1]);
  });

  it('gives all it says to one outcome of three', () => {
    const none = { bias: 0, weights: [] };
    const { changes, repeats } = likelihoodsOf({ changes: none, repeats: none }, [1]);

    expect(changes).toBeCloseTo(1 / 3);
    expect(repeats).toBeCloseTo(1 / 3);
  });
});

describe('a topic', () => {
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

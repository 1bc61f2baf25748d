import { describe, expect, it } from 'vitest';
import {
  inputOf,
  judgeRelation,
  likelihoodsOf,
  type Compared,
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

describe('the judge of relations', () => {
  it('has a weight for each input', () => {
    const { surface, vectors } = inputOf(known, compared('The physiotherapy has moved to Mondays', 0.5));

    expect(relationWeights.together.weights).toHaveLength(surface.length);
    expect(relationWeights.changes.weights).toHaveLength(surface.length + vectors.length);
    expect(relationWeights.repeats.weights).toHaveLength(surface.length + vectors.length);
    expect([...surface, ...vectors].every(Number.isFinite)).toBe(true);
  });

  it('tells a change from a repetition and from something else', () => {
    const change = judgeRelation(known, compared('The physiotherapy has moved to Mondays at 8:00', 0.7));
    const repetition = judgeRelation(known, compared('The physiotherapy is on Wednesdays at 9:30', 0.2));
    const other = judgeRelation(known, compared("User's sister keeps bees", 1.2));

    expect(change.changes).toBeGreaterThan(change.repeats);
    expect(repetition.repeats).toBeGreaterThan(repetition.changes);
    expect(other.changes).toBeLessThan(change.changes / 2);
    expect(other.repeats).toBeLessThan(repetition.repeats / 2);
  });

  it('says nothing of sentences that are far apart', () => {
    expect(judgeRelation(known, compared('The physiotherapy has moved to Mondays at 8:00', 1.5))).toEqual({
      changes: 0,
      repeats: 0,
    });
  });

  it('gives all it says to one outcome of three', () => {
    const none = { bias: 0, weights: [] };
    const { changes, repeats } = likelihoodsOf(
      { together: { bias: 100, weights: [] }, changes: none, repeats: none },
      { surface: [1], vectors: [] },
    );

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

import { describe, expect, it } from 'vitest';
import type { CandidateRow } from '../../src/db/sql/search-candidates.ts';
import { fuse, type Match } from '../../src/retrieval/pipeline/fuse.ts';
import { testConfig } from '../support/config.ts';

const { retrieval } = testConfig().memory;
const even = { ...retrieval, fusion: 'rrf' as const, rrfK: 60, channelWeights: { semantic: 0.5, keyword: 0.5 } };

function candidate(id: string, changes: Partial<CandidateRow> = {}): CandidateRow {
  return {
    type: 'episode',
    id,
    created_at: 0,
    happened_at: 0,
    referenced_at: null,
    confirmed_at: null,
    importance: 5,
    confidence: 1,
    decay_rate: 0,
    maturity: null,
    subject_key: null,
    predicate_key: null,
    similarity: null,
    nearest: false,
    words: [0],
    lenders: null,
    session_id: null,
    asks: false,
    tells_time: false,
    shown: null,
    ...changes,
  };
}

const near = (similarity: number): Partial<CandidateRow> => ({ similarity, nearest: true });
const ids = (matches: readonly Match[]): string[] => matches.map((match) => match.candidate.id);

describe('reciprocal rank fusion', () => {
  it('adds 1 / (60 + rank) of each list, and nothing for a list that a memory is not in', () => {
    const matches = fuse(
      [candidate('a', { ...near(0.9), words: [1] }), candidate('b', near(0.5)), candidate('c', { words: [2] })],
      'hybrid',
      even,
    );
    const score = (id: string): number => matches.find((match) => match.candidate.id === id)?.score ?? -1;

    expect(score('a')).toBeCloseTo(0.5 / 61 + 0.5 / 62, 12);
    expect(score('b')).toBeCloseTo(0.5 / 62, 12);
    expect(score('c')).toBeCloseTo(0.5 / 61, 12);
  });

  it('ranks what is in both lists before what is in one', () => {
    const matches = fuse(
      [
        candidate('both', { ...near(0.1), words: [0.1] }),
        candidate('near', near(0.9)),
        candidate('words', { words: [9] }),
      ],
      'hybrid',
      even,
    );

    expect(ids(matches)[0]).toBe('both');
  });

  it('weighs the channels as configured', () => {
    const lists = [candidate('near', near(0.9)), candidate('words', { words: [9] })];

    expect(ids(fuse(lists, 'hybrid', { ...even, channelWeights: { semantic: 0.6, keyword: 0.4 } }))[0]).toBe('near');
    expect(ids(fuse(lists, 'hybrid', { ...even, channelWeights: { semantic: 0.4, keyword: 0.6 } }))[0]).toBe('words');
  });
});

describe('weighted fusion', () => {
  it('adds the shares of the best of each channel', () => {
    const channelWeights = { semantic: 0.4, keyword: 0.6 };
    const weights = { ...retrieval, fusion: 'weighted' as const, channelWeights, sessionWeight: 0 };
    const matches = fuse(
      [candidate('a', { ...near(0.8), words: [1] }), candidate('b', { ...near(0.4), words: [4] })],
      'hybrid',
      weights,
    );

    expect(matches.map(({ score }) => score)).toEqual([
      expect.closeTo(0.4 * 0.5 + 0.6, 10),
      expect.closeTo(0.4 + 0.6 * 0.25, 10),
    ]);
    expect(matches.map(({ relevance }) => relevance)).toEqual([1, expect.closeTo(0.55 / 0.8, 10)]);
  });

  it('takes a similarity below zero for none', () => {
    const [match] = fuse([candidate('a', near(-0.5))], 'hybrid', retrieval);

    expect(match).toMatchObject({ score: 0, relevance: 0 });
  });
});

describe('words of neighbours', () => {
  it('count once, where they count most', () => {
    const lenders = [
      { share: 0.5, words: [4, 4, 0], similarity: null },
      { share: 0.25, words: [4, 0, 4], similarity: null },
    ];
    const [match] = fuse([candidate('a', { words: [3, 0, 0], lenders })], 'hybrid', retrieval);

    expect(match?.parts).toMatchObject({ keywordScore: 3, lentScore: 2 + 1 });
  });
});

describe('a conversation', () => {
  const weights = {
    ...retrieval,
    channelWeights: { semantic: 1, keyword: 0 },
    questionWeight: 0.9,
    sessionWeight: 0.5,
  };
  const scoreOf = (matches: readonly Match[], id: string): number =>
    matches.find(({ candidate: { id: found } }) => found === id)?.score ?? -1;

  it('lends a reply the similarity of the question, where that is more than its own', () => {
    const lenders = [
      { share: 0.95, words: [0], similarity: 0.8 },
      { share: 0.5, words: [0], similarity: null },
    ];
    const matches = fuse(
      [
        candidate('best', near(0.8)),
        candidate('far', { ...near(0.4), lenders }),
        candidate('near', { ...near(0.79), lenders }),
      ],
      'hybrid',
      { ...weights, sessionWeight: 0 },
    );

    expect(scoreOf(matches, 'far')).toBeCloseTo(0.95, 10);
    expect(scoreOf(matches, 'near')).toBeCloseTo(0.79 / 0.8, 10);
    expect(matches.map(({ parts }) => parts.lentSimilarity)).toEqual([
      null,
      expect.closeTo(0.76, 10),
      expect.closeTo(0.76, 10),
    ]);
  });

  it('counts a question for less than what tells something', () => {
    const matches = fuse([candidate('asks', { ...near(0.8), asks: true }), candidate('tells', near(0.79))], 'hybrid', {
      ...weights,
      sessionWeight: 0,
    });

    expect(ids(matches)).toEqual(['tells', 'asks']);
    expect(scoreOf(matches, 'asks')).toBeCloseTo(0.9, 10);
  });

  it('weighs an episode by the best similarity of its session, as a share of the best session', () => {
    const matches = fuse(
      [
        candidate('a', { ...near(0.8), session_id: 'first' }),
        candidate('b', { ...near(0.2), session_id: 'first' }),
        candidate('c', { ...near(0.4), session_id: 'second' }),
        candidate('d', near(0.4)),
      ],
      'hybrid',
      weights,
    );

    expect(scoreOf(matches, 'a')).toBeCloseTo(1, 10);
    expect(scoreOf(matches, 'b')).toBeCloseTo(0.25, 10);
    expect(scoreOf(matches, 'c')).toBeCloseTo(0.5 * 0.75, 10);
    expect(scoreOf(matches, 'd')).toBeCloseTo(0.5 * 0.75, 10);
  });

  it('changes nothing about facts and rules, nor about an answer without vectors', () => {
    const learned = { ...weights, learnedChannelWeights: { semantic: 1, keyword: 0 } };
    const fact = fuse(
      [candidate('far', { ...near(0.4), type: 'fact' }), candidate('near', near(0.8))],
      'hybrid',
      learned,
    );
    const words = fuse(
      [candidate('a', { words: [1], session_id: 's' }), candidate('b', { words: [2] })],
      'hybrid',
      retrieval,
    );

    expect(scoreOf(fact, 'far')).toBeCloseTo(0.5, 10);
    expect(words.map(({ relevance }) => relevance)).toEqual([1, 0.5]);
  });

  it('changes nothing in the plain modes', () => {
    const asking = candidate('a', { ...near(0.4), words: [2], asks: true, session_id: 's' });
    const other = candidate('b', { ...near(0.8), words: [1] });

    expect(scoreOf(fuse([asking, other], 'semantic', weights), 'a')).toBe(0.4);
    expect(scoreOf(fuse([asking, other], 'keyword', weights), 'a')).toBe(2);
  });
});

describe('the order', () => {
  it('is by score, then age, then id', () => {
    const words = [1];
    const tied = [
      candidate('c', { words, created_at: 1 }),
      candidate('b', { words, created_at: 1 }),
      candidate('a', { words }),
      candidate('z', { words: [2] }),
    ];

    expect(ids(fuse(tied, 'keyword', retrieval))).toEqual(['z', 'b', 'c', 'a']);
    expect(ids(fuse(tied.toReversed(), 'keyword', retrieval))).toEqual(['z', 'b', 'c', 'a']);
  });
});

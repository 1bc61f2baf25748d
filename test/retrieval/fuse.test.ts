import { describe, expect, it } from 'vitest';
import type { CandidateRow } from '../../src/db/sql/search-candidates.ts';
import { fuse, type Match } from '../../src/retrieval/fuse.ts';
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
    tells_time: false,
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
    const weights = { ...retrieval, fusion: 'weighted' as const, channelWeights: { semantic: 0.4, keyword: 0.6 } };
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
      { share: 0.5, words: [4, 4, 0] },
      { share: 0.25, words: [4, 0, 4] },
    ];
    const [match] = fuse([candidate('a', { words: [3, 0, 0], lenders })], 'hybrid', retrieval);

    expect(match?.parts).toMatchObject({ keywordScore: 3, lentScore: 2 + 1 });
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

import { describe, expect, it } from 'vitest';
import type { Candidate } from '../../src/db/queries/candidate.ts';
import { fuse } from '../../src/retrieval/pipeline/fuse.ts';
import type { Ranked } from '../../src/retrieval/pipeline/ranked.ts';
import { rerankByFeatures } from '../../src/retrieval/pipeline/rerank-by-features.ts';

const k = 60;

function candidate(id: string, changes: Partial<Candidate> = {}): Candidate {
  return {
    type: 'episode',
    id,
    createdAt: new Date(0),
    happenedAt: new Date(0),
    lastReferencedAt: null,
    lastConfirmedAt: null,
    importance: 5,
    confidence: 1,
    decayRate: 0,
    maturity: null,
    subjectKey: null,
    predicateKey: null,
    hasName: false,
    mentions: false,
    namesSomebody: false,
    sessionId: null,
    sources: null,
    asks: false,
    tellsTime: false,
    tellsAmount: false,
    wholeSimilarity: null,
    similarity: null,
    isNearest: false,
    words: [0],
    lenderShares: null,
    lenderWords: null,
    lenderSimilarities: null,
    ...changes,
  };
}

const near = (similarity: number): Partial<Candidate> => ({ similarity, isNearest: true });
const idsOf = (ranked: readonly Ranked[]): string[] => ranked.map(({ memory }) => memory.id);
const scoreOf = (ranked: readonly Ranked[], id: string): number =>
  ranked.find(({ memory }) => memory.id === id)?.score ?? -1;
const rerank = (candidates: readonly Candidate[]): Ranked[] => rerankByFeatures(fuse(candidates, 'hybrid', k));

describe('fusion by reciprocal ranks', () => {
  it('adds 1 / (60 + rank) of each channel, and nothing for a channel that did not bring a memory', () => {
    const ranked = fuse(
      [candidate('a', { ...near(0.9), words: [1] }), candidate('b', near(0.5)), candidate('c', { words: [2] })],
      'hybrid',
      k,
    );

    expect(scoreOf(ranked, 'a')).toBeCloseTo(1 / 61 + 1 / 62, 11);
    expect(scoreOf(ranked, 'b')).toBeCloseTo(1 / 62, 11);
    expect(scoreOf(ranked, 'c')).toBeCloseTo(1 / 61, 11);
    expect(ranked.map(({ parts }) => [parts.match?.fusionScore, parts.match?.rerankScore])).toEqual(
      ranked.map(({ score }) => [score, null]),
    );
  });

  it('ranks what both channels brought before what one brought', () => {
    const ranked = fuse(
      [
        candidate('both', { ...near(0.1), words: [0.1] }),
        candidate('near', near(0.9)),
        candidate('words', { words: [9] }),
      ],
      'hybrid',
      k,
    );

    expect(idsOf(ranked)[0]).toBe('both');
  });

  it('gives way in the modes of one channel to what that channel says', () => {
    const asking = candidate('a', { ...near(0.4), words: [2], asks: true, sessionId: 's' });
    const other = candidate('b', { ...near(0.8), words: [1] });
    const bySimilarity = fuse([asking, other], 'semantic', k);

    expect(scoreOf(bySimilarity, 'a')).toBe(0.4);
    expect(bySimilarity[0]?.parts.match?.fusionScore).toBeNull();
    expect(scoreOf(fuse([asking, other], 'keyword', k), 'a')).toBe(2);
  });

  it('orders by score, then age, then id', () => {
    const words = [1];
    const tied = [
      candidate('c', { words, createdAt: new Date(1) }),
      candidate('b', { words, createdAt: new Date(1) }),
      candidate('a', { words }),
      candidate('z', { words: [2] }),
    ];

    expect(idsOf(fuse(tied, 'keyword', k))).toEqual(['z', 'b', 'c', 'a']);
    expect(idsOf(fuse(tied.toReversed(), 'keyword', k))).toEqual(['z', 'b', 'c', 'a']);
  });

  it('counts the words of neighbours once, where they count most', () => {
    const lent = {
      lenderShares: [0.5, 0.25],
      lenderWords: [
        [4, 4, 0],
        [4, 0, 4],
      ],
    };
    const [match] = fuse([candidate('a', { words: [3, 0, 0], ...lent })], 'hybrid', k);

    expect(match?.parts.match).toMatchObject({ keywordScore: 3, lentScore: 2 + 1 });
  });
});

describe('reranking by features', () => {
  it('adds the shares of the best of each channel: for episodes, words weigh 0.65', () => {
    const sessionId = 'one';
    const ranked = rerank([
      candidate('a', { ...near(0.8), words: [1], sessionId }),
      candidate('b', { ...near(0.4), words: [4], sessionId }),
    ]);

    expect(idsOf(ranked)).toEqual(['b', 'a']);
    expect(scoreOf(ranked, 'b')).toBeCloseTo(0.35 * 0.5 + 0.65, 10);
    expect(scoreOf(ranked, 'a')).toBeCloseTo(0.35 + 0.65 * 0.25, 10);
    expect(ranked[1]?.relevance).toBeCloseTo(scoreOf(ranked, 'a') / scoreOf(ranked, 'b'), 10);
  });

  it('goes by meaning first for facts and rules', () => {
    const ranked = rerank([
      candidate('near', { ...near(0.8), type: 'fact' }),
      candidate('words', { ...near(0.2), words: [4], type: 'rule' }),
    ]);

    expect(scoreOf(ranked, 'near')).toBeCloseTo(0.8, 10);
    expect(scoreOf(ranked, 'words')).toBeCloseTo(0.8 * 0.25 + 0.2, 10);
  });

  it('keeps the score of the fusion beside its own', () => {
    const [best] = rerank([candidate('a', { ...near(0.8), words: [1] })]);

    expect(best?.parts.match?.fusionScore).toBeCloseTo(2 / 61, 11);
    expect(best?.parts.match?.rerankScore).toBe(best?.score);
  });

  it('takes a similarity below zero for none', () => {
    expect(rerank([candidate('a', near(-0.5))])).toMatchObject([{ score: 0, relevance: 0 }]);
  });

  it('lends a reply the similarity of the question, where that is more than its own', () => {
    const sessionId = 'one';
    const lent = { lenderShares: [0.95, 0.5], lenderWords: [[0], [0]], lenderSimilarities: [0.8, null] };
    const ranked = rerank([
      candidate('best', { ...near(0.8), sessionId }),
      candidate('far', { ...near(0.4), ...lent, sessionId }),
      candidate('near', { ...near(0.79), ...lent, sessionId }),
    ]);

    expect(scoreOf(ranked, 'far') / scoreOf(ranked, 'best')).toBeCloseTo(0.95, 9);
    expect(scoreOf(ranked, 'near') / scoreOf(ranked, 'best')).toBeCloseTo(0.79 / 0.8, 9);
    expect(ranked.map(({ parts }) => parts.match?.lentSimilarity)).toEqual([
      null,
      expect.closeTo(0.76, 10),
      expect.closeTo(0.76, 10),
    ]);
  });

  it('counts a question for less than what tells something', () => {
    const sessionId = 'one';
    const ranked = rerank([
      candidate('asks', { ...near(0.8), asks: true, sessionId }),
      candidate('tells', { ...near(0.79), sessionId }),
    ]);

    expect(idsOf(ranked)).toEqual(['tells', 'asks']);
    expect(scoreOf(ranked, 'asks')).toBeCloseTo(0.9 * 0.35, 10);
  });

  it('weighs an episode by the best similarity of its session, as a share of the best session', () => {
    const ranked = rerank([
      candidate('a', { ...near(0.8), sessionId: 'first' }),
      candidate('b', { ...near(0.2), sessionId: 'first' }),
      candidate('c', { ...near(0.4), sessionId: 'second' }),
      candidate('d', near(0.4)),
    ]);

    expect(scoreOf(ranked, 'a')).toBeCloseTo(0.35, 10);
    expect(scoreOf(ranked, 'b')).toBeCloseTo(0.35 * 0.25, 10);
    expect(scoreOf(ranked, 'c')).toBeCloseTo(0.35 * 0.5 * 0.75, 10);
    expect(scoreOf(ranked, 'd')).toBeCloseTo(0.35 * 0.5 * 0.75, 10);
  });

  it('weighs neither facts and rules nor an answer without vectors by conversations', () => {
    const fact = rerank([candidate('far', { ...near(0.4), type: 'fact' }), candidate('near', near(0.8))]);
    const words = rerank([candidate('a', { words: [1], sessionId: 's' }), candidate('b', { words: [2] })]);

    expect(scoreOf(fact, 'far')).toBeCloseTo(0.8 * 0.5, 10);
    expect(words.map(({ relevance }) => relevance)).toEqual([1, 0.5]);
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryTypes } from '../../src/db/tables.ts';
import {
  keepCandidate,
  keepChoice,
  keepDrops,
  readCandidates,
  readChosen,
  readDropped,
} from '../../src/retrieval/receipts/receipt-form.ts';
import type { ReceiptCandidate, ReceiptChoice, ReceiptDrop } from '../../src/retrieval/receipts/receipts.ts';
import { sectionOf } from '../../src/retrieval/context/sections.ts';
import type { DropStage } from '../../src/retrieval/pipeline/stages.ts';

/** As the database gives back what it was given. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What is usual comes often, so that lists end at every place. */
const usually = <T>(value: T, others: fc.Arbitrary<T>): fc.Arbitrary<T> => fc.oneof(fc.constant(value), others);
const score = fc.integer({ min: 0, max: 3e5 }).map((value) => value / 1e5);
const rank = fc.integer({ min: 1, max: 400 });
const type = fc.constantFrom(...memoryTypes);

const parts = fc.record({
  similarity: usually(null, score),
  semanticRank: usually(null, rank),
  keywordScore: usually(0, score),
  lentScore: usually(0, score),
  keywordRank: usually(null, rank),
  lentSimilarity: usually(null, score),
  sessionSimilarity: usually(null, score),
  asks: fc.boolean(),
  rerankScore: usually(null, score),
});
const composite = fc.record({
  importance: usually(0.5, score),
  recency: usually(1, score),
  confidence: usually(1, score),
  maturityWeight: usually(1, score),
});
const candidate: fc.Arbitrary<ReceiptCandidate> = fc
  .record({
    type,
    id: fc.uuid(),
    score,
    relevance: usually(0, score),
    parts: usually(null, parts),
    composite: usually(null, composite),
  })
  .map((one) => ({ ...one, composite: one.composite && { relevance: one.relevance, ...one.composite } }));

const choice: fc.Arbitrary<ReceiptChoice> = fc
  .record({ type, id: fc.uuid(), version: rank, score, tokens: usually(null, fc.nat(50)), digest: fc.boolean() })
  .map(({ digest, ...one }) => ({
    ...one,
    section: one.tokens === null ? null : sectionOf[one.type],
    lineDigest: digest && one.tokens !== null ? 'd'.repeat(32) : null,
  }));

const stage = fc.constantFrom<DropStage>('budget', 'quota', 'limit');
const reason = usually(null, fc.constantFrom('3 tokens were left', '4'));

describe('what a receipt keeps', () => {
  it('of its candidates is read back', () => {
    fc.assert(
      fc.property(fc.array(candidate), (candidates) => {
        expect(readCandidates(stored(candidates.map(keepCandidate)))).toEqual(candidates);
      }),
    );
  });

  it('of its choices is read back, with the ids beside them', () => {
    fc.assert(
      fc.property(fc.array(choice), (chosen) => {
        const ids = chosen.map(({ id }) => id);
        expect(readChosen(stored(chosen.map(keepChoice)), ids)).toEqual(chosen);
      }),
    );
  });

  it('of its drops is read back in their order, with the types of its candidates', () => {
    const drops = fc.array(fc.tuple(candidate, stage, reason));
    const counts = fc.uniqueArray(fc.tuple(stage, rank), { selector: ([name]) => name });
    fc.assert(
      fc.property(drops, counts, (given, unnamed) => {
        const dropped = given.map(([one, by, why]): ReceiptDrop => {
          return { type: one.type, id: one.id, stage: by, reason: why };
        });
        const kept = stored(keepDrops(dropped, new Map(unnamed)));
        const candidates = given.map(([one]) => one);
        expect(readDropped(kept, candidates)).toEqual({
          dropped,
          droppedUnnamed: unnamed.map(([name, count]) => ({ stage: name, count })),
        });
      }),
    );
  });
});

describe('the lists of a receipt', () => {
  const [first, second] = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];
  const matched = {
    similarity: 0.612345678,
    semanticRank: 3,
    keywordScore: 0,
    lentScore: 0,
    keywordRank: null,
    lentSimilarity: null,
    sessionSimilarity: null,
    asks: false,
    rerankScore: null,
  };
  const ranked = { type: 'fact', id: first, score: 0.7, relevance: 1 } as const;

  it('end before what is usual, and round', () => {
    const weighed = { relevance: 1, importance: 0.5, recency: 0.98765432, confidence: 1, maturityWeight: 1 };
    expect(keepCandidate({ ...ranked, parts: matched, composite: weighed })).toEqual([
      'f',
      first,
      0.7,
      1,
      [0.5, 0.98765],
      [0.61235, 3],
    ]);
    expect(keepCandidate({ ...ranked, parts: matched })).toEqual(['f', first, 0.7, 1, null, [0.61235, 3]]);
    expect(keepCandidate({ ...ranked, parts: null, composite: null })).toEqual(['f', first, 0.7, 1]);
    const shown = { type: 'rule', id: first, version: 2, score: 0.7, section: null, tokens: null } as const;
    expect(keepChoice({ ...shown, lineDigest: null })).toEqual(['r', 2, 0.7]);
  });

  it('say a stage and a reason once for those that follow one another', () => {
    const drop = { type: 'fact', stage: 'limit', reason: null } as const;
    const unnamed = new Map([['limit' as const, 12]]);
    expect(
      keepDrops(
        [first, second].map((id) => ({ ...drop, id })),
        unnamed,
      ),
    ).toEqual([
      ['limit', null, first, second],
      ['limit', 12],
    ]);
  });
});

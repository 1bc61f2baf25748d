import type { MemoryType } from '../../db/tables.ts';
import type { MatchParts } from '../pipeline/fuse.ts';
import type { ReceiptCandidate, ReceiptChoice, ReceiptDrop, ReceiptDropCount } from './receipts.ts';
import type { CompositeParts } from '../pipeline/score.ts';
import { sectionOf } from '../context/sections.ts';
import type { DropStage } from '../pipeline/stages.ts';

/**
 * What the columns `candidates`, `chosen` and `dropped` of a receipt hold: lists of lists, in which the position says what
 * a value is. Names would be most of a row that is written with every answer, and they cost more than all else in it.
 *
 * - A list ends before its last values that are usual: null, if nothing else is said here.
 * - A type is its first letter. Numbers have five decimal places, enough to tell and to compare.
 * - The section of a choice is not kept: it is that of its type, if it has tokens.
 *
 * The statements that read these columns are in src/db/sql: erase.ts and receipts-of.ts.
 */

/** The best first. */
type KeptCandidate = [
  type: TypeLetter,
  id: string,
  score: number,
  relevance: number,
  composite?: Partial<KeptComposite> | null,
  parts?: Partial<KeptParts> | null,
];

/** Its relevance is that of the candidate. */
type KeptComposite = [importance: number, recency: number, confidence: number, maturityWeight: number];
const usualComposite: Readonly<KeptComposite> = [0.5, 1, 1, 1];

type KeptParts = [
  similarity: number | null,
  semanticRank: number | null,
  keywordScore: number,
  keywordRank: number | null,
  sessionSimilarity: number | null,
  asks: boolean,
  lentScore: number,
  lentSimilarity: number | null,
  rerankScore: number | null,
];
const usualParts: Readonly<KeptParts> = [null, null, 0, null, null, false, 0, null, null];

/** Of the memory at the same place of `memory_ids`. An erased one keeps it, but for the digest. */
type KeptChoice = [
  type: TypeLetter,
  version: number,
  score: number,
  tokens?: number | null,
  lineDigest?: string | null,
];

/**
 * Candidates that come one after the other and were dropped by the same stage for the same reason. Their types are told
 * there. None is left of them when all were erased.
 */
type KeptDrops = [stage: DropStage, reason: string | null, ...ids: string[]];
/** How many more a stage dropped. */
type KeptDropCount = [stage: DropStage, count: number];

type TypeLetter = 'e' | 'f' | 'r';
const letterOf = { episode: 'e', fact: 'f', rule: 'r' } as const satisfies Record<MemoryType, TypeLetter>;
const typeOf: Readonly<Record<TypeLetter, MemoryType>> = { e: 'episode', f: 'fact', r: 'rule' };

/** A candidate as it was ranked; the score of a search is no composite. */
export type RankedCandidate = Omit<ReceiptCandidate, 'composite'> & { composite?: CompositeParts | null };

export function keepCandidate({ type, id, score, relevance, composite, parts }: RankedCandidate): KeptCandidate {
  return cut([
    letterOf[type],
    id,
    rounded(score),
    rounded(relevance),
    composite == null ? null : keepComposite(composite),
    parts === null ? null : keepParts(parts),
  ]);
}

function keepComposite({ importance, recency, confidence, maturityWeight }: CompositeParts): Partial<KeptComposite> {
  return cut<KeptComposite>(
    [rounded(importance), rounded(recency), rounded(confidence), rounded(maturityWeight)],
    usualComposite,
  );
}

function keepParts(parts: MatchParts): Partial<KeptParts> {
  return cut<KeptParts>(
    [
      roundedIfAny(parts.similarity),
      parts.semanticRank,
      rounded(parts.keywordScore),
      parts.keywordRank,
      roundedIfAny(parts.sessionSimilarity),
      parts.asks,
      rounded(parts.lentScore),
      roundedIfAny(parts.lentSimilarity),
      roundedIfAny(parts.rerankScore),
    ],
    usualParts,
  );
}

export function keepChoice({ type, version, score, tokens, lineDigest }: ReceiptChoice): KeptChoice {
  return cut([letterOf[type], version, rounded(score), tokens, lineDigest]);
}

export function keepDrops(
  drops: readonly ReceiptDrop[],
  unnamed: ReadonlyMap<DropStage, number>,
): (KeptDrops | KeptDropCount)[] {
  const runs: (KeptDrops | KeptDropCount)[] = [];
  let run: KeptDrops | undefined;
  for (const { id, stage, reason } of drops) {
    if (run?.[0] === stage && run[1] === reason) run.push(id);
    else runs.push((run = [stage, reason, id]));
  }
  return [...runs, ...unnamed];
}

export function readCandidates(column: unknown): ReceiptCandidate[] {
  return (column as KeptCandidate[]).map(([letter, id, score, relevance, composite = null, parts = null]) => ({
    type: typeOf[letter],
    id,
    score,
    relevance,
    parts: parts === null ? null : readParts(parts),
    composite: composite === null ? null : readComposite(relevance, composite),
  }));
}

function readComposite(relevance: number, kept: Partial<KeptComposite>): CompositeParts {
  const [importance, recency, confidence, maturityWeight] = complete<KeptComposite>(kept, usualComposite);
  return { relevance, importance, recency, confidence, maturityWeight };
}

function readParts(kept: Partial<KeptParts>): MatchParts {
  const [
    similarity,
    semanticRank,
    keywordScore,
    keywordRank,
    sessionSimilarity,
    asks,
    lentScore,
    lentSimilarity,
    rerankScore,
  ] = complete<KeptParts>(kept, usualParts);
  return {
    similarity,
    semanticRank,
    keywordScore,
    lentScore,
    keywordRank,
    lentSimilarity,
    sessionSimilarity,
    asks,
    rerankScore,
  };
}

export function readChosen(column: unknown, memoryIds: readonly string[]): ReceiptChoice[] {
  return (column as KeptChoice[]).map(([letter, version, score, tokens = null, lineDigest = null], place) => {
    const type = typeOf[letter];
    const section = tokens === null ? null : sectionOf[type];
    return { type, id: memoryIds[place] as string, version, score, section, tokens, lineDigest };
  });
}

export function readDropped(
  column: unknown,
  candidates: readonly ReceiptCandidate[],
): { dropped: ReceiptDrop[]; droppedUnnamed: ReceiptDropCount[] } {
  const types = new Map(candidates.map(({ id, type }) => [id, type]));
  const dropped: ReceiptDrop[] = [];
  const droppedUnnamed: ReceiptDropCount[] = [];
  for (const kept of column as (KeptDrops | KeptDropCount)[]) {
    if (isCount(kept)) {
      droppedUnnamed.push({ stage: kept[0], count: kept[1] });
      continue;
    }
    const [stage, reason, ...ids] = kept;
    for (const id of ids) dropped.push({ type: types.get(id) as MemoryType, id, stage, reason });
  }
  return { dropped, droppedUnnamed };
}

function isCount(kept: KeptDrops | KeptDropCount): kept is KeptDropCount {
  return typeof kept[1] === 'number';
}

/** Takes what is usual from the end of a list. */
function cut<L extends unknown[]>(list: L, usual: Readonly<L> | readonly [] = []): L {
  while (list.length > 0 && list.at(-1) === (usual[list.length - 1] ?? null)) list.pop();
  return list;
}

function complete<L extends unknown[]>(list: Partial<L>, usual: Readonly<L>): L {
  return [...list, ...usual.slice(list.length)] as L;
}

function rounded(value: number): number {
  return Math.round(value * 1e5) / 1e5;
}

function roundedIfAny(value: number | null): number | null {
  return value === null ? null : rounded(value);
}

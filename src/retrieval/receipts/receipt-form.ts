import type { MemoryType } from '../../db/tables.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import type { Span } from '../../memory/spans.ts';
import type { Conflict } from '../context/memory-lines.ts';
import { sectionOf, type SectionName } from '../context/sections.ts';
import type { CompositeParts, DropStage, MatchParts, Ranked } from '../pipeline/ranked.ts';

/**
 * The stored form of a receipt's columns `candidates`, `chosen` and `dropped`: lists of values in the order of the names
 * below. A receipt is written with every answer, and names would be most of it.
 *
 * - A list ends before its last values that are usual: null, unless a default stands below.
 * - A type is its first letter. Numbers have five decimal places.
 * - The section of a choice is that of its type, if it has tokens.
 *
 * A new name goes to the end of its list, with its usual value: older receipts are then read as if they had it. The
 * statements that read these columns are in src/db/sql: erase.ts and receipts-of.ts.
 */
const compositeNames = ['importance', 'recency', 'confidence', 'maturityWeight', 'baseline'] as const;
const usualComposite = { importance: 0.5, recency: 1, confidence: 1, maturityWeight: 1, baseline: 0 };

const matchNames = [
  'similarity',
  'semanticRank',
  'keywordScore',
  'keywordRank',
  'sessionSimilarity',
  'asks',
  'lentScore',
  'lentSimilarity',
  'rerankScore',
  'fusionScore',
  'coverage',
  'subjectPenalty',
  'matchScore',
  'tokenSimilarity',
] as const satisfies (keyof MatchParts)[];
const usualMatch: MatchParts = {
  similarity: null,
  semanticRank: null,
  wholeSimilarity: null,
  keywordScore: 0,
  keywordRank: null,
  sessionSimilarity: null,
  asks: false,
  lentScore: 0,
  lentSimilarity: null,
  rerankScore: null,
  fusionScore: null,
  coverage: null,
  subjectPenalty: null,
  matchScore: null,
  tokenSimilarity: null,
};

type Values = (number | boolean | null)[];
/** The best first. The relevance of the composite is that of the candidate. */
type KeptCandidate = [
  type: TypeLetter,
  id: string,
  score: number,
  relevance: number,
  composite?: Values | null,
  match?: Values | null,
];
/** The memory is at the same place of `memory_ids`. If it was erased, so is its digest. */
type KeptChoice = [
  type: TypeLetter,
  version: number,
  score: number,
  tokens?: number | null,
  lineDigest?: string | null,
  leftOut?: readonly Span[] | null,
  conflicts?: readonly KeptConflict[] | null,
];
/** Whether the fact is the newer one, and the handle of the other. */
type KeptConflict = readonly [isNewer: boolean, handle: string];
/** Consecutive candidates that one stage dropped for the same reason. None is left when all were erased. */
type KeptDrops = [stage: DropStage, reason: string | null, ...ids: string[]];
/** How many more a stage dropped. */
type KeptDropCount = [stage: DropStage, count: number];

type TypeLetter = 'e' | 'f' | 'r';
const letterOf = { episode: 'e', fact: 'f', rule: 'r' } as const satisfies Record<MemoryType, TypeLetter>;
const typeOf: Readonly<Record<TypeLetter, MemoryType>> = { e: 'episode', f: 'fact', r: 'rule' };

/** A memory that was shown. */
export interface ReceiptChoice extends MemoryReference {
  version: number;
  score: number;
  /** The section, tokens and digest of its line in a context; null for a recall or search. */
  section: SectionName | null;
  tokens: number | null;
  /** By which a replay knows whether the line is the same. Null for a sealed fact, too. */
  lineDigest: string | null;
  /** Parts of the text of an episode that are not shown: outdated, or shown with another memory of the answer. */
  leftOut: readonly Span[];
  /** Facts with which the line says that it may conflict. */
  conflicts: readonly Conflict[];
}

/** How many more a stage dropped than the receipt names. */
export interface ReceiptDropCount {
  stage: DropStage;
  count: number;
}

export function writeCandidate({ memory, score, relevance, parts }: Ranked<MemoryReference>): KeptCandidate {
  const composite = parts.composite && writeValues(compositeNames, parts.composite, usualComposite);
  const match = parts.match && writeValues(matchNames, parts.match, usualMatch);
  return cutNulls([letterOf[memory.type], memory.id, round(score), round(relevance), composite, match]);
}

export function writeChoice(choice: ReceiptChoice): KeptChoice {
  const { type, version, score, tokens, lineDigest, leftOut, conflicts } = choice;
  const cuts = leftOut.length === 0 ? null : leftOut;
  const others = conflicts.map(({ isNewer, handle }): KeptConflict => [isNewer, handle]);
  const kept = others.length === 0 ? null : others;
  return cutNulls([letterOf[type], version, round(score), tokens, lineDigest, cuts, kept]);
}

export function writeDrops(
  dropped: readonly Ranked<MemoryReference>[],
  unnamed: ReadonlyMap<DropStage, number>,
): (KeptDrops | KeptDropCount)[] {
  const runs: KeptDrops[] = [];
  for (const { memory, droppedBy, reason } of dropped) {
    const run = runs.at(-1);
    if (run?.[0] === droppedBy && run?.[1] === reason) run?.push(memory.id);
    else if (droppedBy !== null) runs.push([droppedBy, reason, memory.id]);
  }
  return [...runs, ...unnamed];
}

/** Reads the columns `candidates` and `dropped`. */
export function readRanked(
  candidates: unknown,
  dropped: unknown,
): { candidates: Ranked<MemoryReference>[]; droppedUnnamed: ReceiptDropCount[] } {
  const drops = new Map<string, Pick<Ranked, 'droppedBy' | 'reason'>>();
  const droppedUnnamed: ReceiptDropCount[] = [];
  for (const kept of dropped as (KeptDrops | KeptDropCount)[]) {
    const [stage, reason, ...ids] = kept;
    if (typeof reason === 'number') droppedUnnamed.push({ stage, count: reason });
    else for (const id of ids as string[]) drops.set(id, { droppedBy: stage, reason });
  }
  const ranked = (candidates as KeptCandidate[]).map(([letter, id, score, relevance, composite, match]) => ({
    memory: { type: typeOf[letter], id },
    score,
    relevance,
    parts: {
      match: match == null ? null : readValues<MatchParts>(matchNames, match, usualMatch),
      composite:
        composite == null
          ? null
          : readValues<CompositeParts>(compositeNames, composite, { relevance, ...usualComposite }),
    },
    ...(drops.get(id) ?? { droppedBy: null, reason: null }),
  }));
  return { candidates: ranked, droppedUnnamed };
}

export function readChosen(column: unknown, memoryIds: readonly string[]): ReceiptChoice[] {
  return (column as KeptChoice[]).map((kept, place) => {
    const [letter, version, score, tokens = null, lineDigest = null, cuts, others] = kept;
    const conflicts = (others ?? []).map(([isNewer, handle]) => ({ isNewer, handle }));
    const type = typeOf[letter];
    const section = tokens === null ? null : sectionOf[type];
    const id = memoryIds[place] as string;
    return { type, id, version, score, section, tokens, lineDigest, leftOut: cuts ?? [], conflicts };
  });
}

function writeValues<Name extends string>(
  names: readonly Name[],
  values: Readonly<Record<Name, number | boolean | null>>,
  usual: Readonly<Record<Name, number | boolean | null>>,
): Values {
  const list = names.map((name) => round(values[name]));
  while (list.length > 0 && list.at(-1) === usual[names[list.length - 1] as Name]) list.pop();
  return list;
}

function readValues<T extends object>(names: readonly (keyof T)[], values: Values, usual: T): T {
  return { ...usual, ...Object.fromEntries(values.map((value, place) => [names[place], value])) };
}

function cutNulls<L extends unknown[]>(list: L): L {
  while (list.at(-1) === null) list.pop();
  return list;
}

function round<T extends number | boolean | null>(value: T): T {
  return (typeof value === 'number' ? Math.round(value * 1e5) / 1e5 : value) as T;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/shared/package-root.ts';

export interface MemoryToStore {
  key: string;
  type: 'fact' | 'rule';
  /** Of facts only. */
  subject?: string;
  predicate?: string;
  permanence?: string;
  content: string;
  importance: number;
  /** How long ago it was stored, observed and last confirmed. */
  daysAgo: number;
  scope: string;
}

export interface RecallQuestion {
  id: string;
  q: string;
  /** The number of memories in the store that it is asked of; absent for unrelated questions. */
  set?: number;
  /** Keys that answer it; absent for unrelated and near questions. */
  answers?: string[];
}

export type Half = 'development' | 'held-out';

export interface RecallData {
  /** By number of memories. */
  stores: ReadonlyMap<number, readonly MemoryToStore[]>;
  questions: readonly RecallQuestion[];
  unrelated: readonly RecallQuestion[];
  near: readonly RecallQuestion[];
}

const storeFiles: Record<Half, readonly [number, string][]> = {
  development: [
    [20, 'facts-20.json'],
    [200, 'facts-200.json'],
    [2000, 'facts-2000.json'],
  ],
  'held-out': [
    [20, 'facts-20.held-out.json'],
    [200, 'facts-200.held-out.json'],
  ],
};

/** Two predicates, each with a value. */
export interface PredicatePair {
  a: string;
  b: string;
  /** Whether they mean the same, so that the second value replaces the first. */
  same: boolean;
  contentA: string;
  contentB: string;
}

export function readPredicatePairs(half: Half): PredicatePair[] {
  return read(`predicate-pairs.${half}.json`);
}

/** Returns the stores and questions of one half: development to tune by, held-out to score once. */
export function readRecallData(half: Half): RecallData {
  return {
    stores: new Map(storeFiles[half].map(([size, file]) => [size, read<MemoryToStore>(file)])),
    questions: read(`questions.${half}.json`),
    unrelated: [...read<RecallQuestion>(`unrelated.${half}.json`), ...read<RecallQuestion>(`unrelated-2.${half}.json`)],
    near: read(`near.${half}.json`),
  };
}

function read<T>(file: string): T[] {
  return JSON.parse(readFileSync(join(packageRoot, 'bench', 'quality', 'recall', file), 'utf8')) as T[];
}

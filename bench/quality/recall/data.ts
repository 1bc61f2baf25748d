import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/shared/package-root.ts';

export interface MemoryToStore {
  key: string;
  /** A note is a sentence as consolidation keeps it: a fact with no predicate of its own. */
  type: 'fact' | 'note' | 'rule';
  /** Of facts and notes. */
  subject?: string;
  /** Of facts. */
  predicate?: string;
  permanence?: string;
  content: string;
  importance: number;
  /** How long ago it was stored, observed and last confirmed. */
  daysAgo: number;
  scope: string;
}

/** Stores of facts are named by their number of memories. */
export type StoreName = number | 'notes';

export interface RecallQuestion {
  id: string;
  q: string;
  /** The store that it is asked of; absent for unrelated questions. */
  set?: StoreName;
  /** Keys that answer it; absent for unrelated and near questions. */
  answers?: string[];
}

export type Half = 'development' | 'held-out';

export interface RecallData {
  stores: ReadonlyMap<StoreName, readonly MemoryToStore[]>;
  questions: readonly RecallQuestion[];
  unrelated: readonly RecallQuestion[];
  near: readonly RecallQuestion[];
}

const storeFiles: Record<Half, readonly [StoreName, string][]> = {
  development: [
    [20, 'facts-20.json'],
    [200, 'facts-200.json'],
    [2000, 'facts-2000.json'],
    ['notes', 'notes.json'],
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
    questions: readAll(questionFiles[half].questions),
    unrelated: readAll(questionFiles[half].unrelated),
    near: readAll(questionFiles[half].near),
  };
}

const questionFiles: Record<Half, Record<'questions' | 'unrelated' | 'near', readonly string[]>> = {
  development: {
    questions: ['questions.development.json', 'notes-questions.development.json'],
    unrelated: ['unrelated.development.json', 'unrelated-2.development.json', 'notes-unrelated.development.json'],
    near: ['near.development.json', 'notes-near.development.json'],
  },
  'held-out': {
    questions: ['questions.held-out.json'],
    unrelated: ['unrelated.held-out.json', 'unrelated-2.held-out.json'],
    near: ['near.held-out.json'],
  },
};

/** Returns what is asked of a store. The questions over the 200 memories are also asked over the 2,000, which hold them. */
export function questionsFor(
  { questions, unrelated, near }: RecallData,
  name: StoreName,
): Pick<RecallData, 'questions' | 'unrelated' | 'near'> {
  const isFor = ({ set }: RecallQuestion): boolean => set === name || (set === 200 && name === 2000);
  return { questions: questions.filter(isFor), unrelated, near: near.filter(isFor) };
}

function readAll(files: readonly string[]): RecallQuestion[] {
  return files.flatMap((file) => read<RecallQuestion>(file));
}

function read<T>(file: string): T[] {
  return JSON.parse(readFileSync(join(packageRoot, 'bench', 'quality', 'recall', file), 'utf8')) as T[];
}

import { LRUCache } from 'lru-cache';
import type { EmbeddingVersionRow } from '../db/queries/embeddings.ts';
import type { MemoryType } from '../db/tables.ts';
import type { EmbeddingModel } from '../embedding/embedder.ts';

/** What the process remembers of one database between requests. The core has one; each of its contexts carries it. */
export interface Caches {
  /** The embedding versions last seen of each tenant: vectors are prepared by them, and they are checked on write. */
  readonly embeddingVersions: Map<string, readonly EmbeddingVersionRow[]>;
  /** The model of the vectors that each tenant was last searched by. */
  readonly searchedModels: Map<string, EmbeddingModel>;
  /** Statistics of large corpora, by tenant, types and visibility. */
  readonly corpora: LRUCache<string, CorpusStatistics>;
}

export interface TypeStatistics {
  documents: number;
  /** Distinct lexemes of all its documents together. */
  lexemes: number;
  /** Whether there are too many to count. */
  isEstimated: boolean;
}

/** Which rows of the sample of a type have a word, by their marks in order, and how many memories each stands for. */
export type SampledWord = readonly { type: MemoryType; marks: Uint16Array; weight: number }[];

/** What BM25 has to know of all the memories that a caller may find. */
export interface CorpusStatistics {
  byType: Partial<Record<MemoryType, TypeStatistics>>;
  documentsWith: LRUCache<string, number>;
  /** Where there are too many to count: what is known, from samples, of the words that are met together. */
  sampled: LRUCache<string, SampledWord>;
  takenAt: number;
}

const mostCorpora = 1000;

export function createCaches(): Caches {
  return { embeddingVersions: new Map(), searchedModels: new Map(), corpora: new LRUCache({ max: mostCorpora }) };
}

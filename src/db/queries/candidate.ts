import type { MemoryType } from '../tables.ts';
import type { MemoryFilter } from '../sql/memory-filter.ts';
import type { PastVectors } from '../sql/search-rows.ts';
import type { KeywordQuery } from '../sql/search-words.ts';

export interface CandidateQuery {
  filter: MemoryFilter;
  /** Candidates that each channel brings, of each type. */
  most: number;
  /** Null when no vector is searched. */
  semantic: SemanticQuery | null;
  /** Null when no word is searched. */
  keyword: KeywordQuery | null;
  /** Types whose rows are few enough to read each of them; the others are found through their indexes. */
  exact: ReadonlySet<MemoryType>;
  /** Phrases that a memory must have and must not have, as tsqueries. */
  required: readonly string[];
  excluded: readonly string[];
  /** Words that state a time, as a tsquery; null where it does not matter. */
  timeWords: string | null;
  /** Whether it matters that a memory names somebody, and that it tells a number. */
  asksWho: boolean;
  asksAmount: boolean;
  /** Whether candidates come with the columns that a context shows. */
  toShow: boolean;
  /** Whether it matters what a memory was learned from. */
  readsSources: boolean;
  /** Subjects whose facts are candidates whatever they say; null for none. */
  about: AboutQuery | null;
}

export interface AboutQuery {
  /** Keys. */
  subjects: readonly string[];
  names: readonly string[];
  language: string;
}

export interface SemanticQuery {
  vector: Float32Array;
  /** Of the whole question, where `vector` is of the question without the names in it; else null. */
  whole: Float32Array | null;
  version: PastVectors['version'];
  /** For a search of the past: the vectors of texts that have changed since. */
  pastTexts: PastVectors['ofTexts'];
}

/** A memory that a channel brought, with what ranking needs of it. What its type does not have is null. */
export interface Candidate {
  type: MemoryType;
  id: string;
  createdAt: Date;
  /** When it was observed, or else created. */
  happenedAt: Date;
  lastReferencedAt: Date | null;
  lastConfirmedAt: Date | null;
  importance: number;
  /** 1 for an episode, which happened; its decay rate is 0. */
  confidence: number;
  decayRate: number;
  maturity: string | null;
  subjectKey: string | null;
  predicateKey: string | null;
  /** Whether the subject of a fact is written as a name is. */
  hasName: boolean;
  /** Whether it has one of the names that were asked for. */
  mentions: boolean;
  sessionId: string | null;
  /** The episodes that it was learned from, and where in their texts; null for none, and where that was not asked. */
  sources: [episodeId: string, start: number][] | null;
  /** Whether it is an episode that ends with a question. */
  asks: boolean;
  /** Whether it names a day, a date or another time; false where that was not asked. */
  tellsTime: boolean;
  /** Whether it has a name in its text; false where that was not asked. */
  namesSomebody: boolean;
  /** Whether it tells a number; false where that was not asked. */
  tellsAmount: boolean;
  /** Cosine similarity; null without a vector of the version that is searched. */
  similarity: number | null;
  /** The same with the whole question; null where that is what `similarity` compares. */
  wholeSimilarity: number | null;
  /** Whether it is among the nearest of its type. */
  isNearest: boolean;
  /** BM25 by word, in the order of the query's words. */
  words: number[];
  /** What neighbouring episodes lend, one entry for each lender: the share, its words, and its similarity if this replies to it. */
  lenderShares: number[] | null;
  lenderWords: number[][] | null;
  lenderSimilarities: (number | null)[] | null;
}

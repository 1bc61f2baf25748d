import type { MemoryFilter } from '../../db/sql/memory-filter.ts';
import type { SearchMode } from '../query/defaults.ts';
import type { Routing } from '../query/intent.ts';
import type { QueryText } from '../query/query-text.ts';
import type { Question } from '../query/whom.ts';

/** A search whose input was checked and completed. */
export interface PreparedSearch {
  query: QueryText;
  filter: MemoryFilter;
  mode: SearchMode;
  limit: number;
  /** The session of the caller. */
  sessionId: string | null;
  /** Candidates that each channel brings, of each type. */
  most: number;
  routing: Routing;
  /** Relevance below which a recall leaves a memory out. */
  floor?: number;
  /** Whether candidates come with the columns that a context shows. */
  toShow: boolean;
  /** The question and its subjects; null for a search, and for a text that is too long to be a question. */
  question: Question | null;
}

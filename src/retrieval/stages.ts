import type { FilterStage } from './filter-stages.ts';
import type { FitStage } from './fit-budget.ts';

/** The stages that keep a memory out of an answer. */
export type DropStage =
  | 'not_found'
  | FilterStage
  | 'no_match'
  | 'relevance_floor'
  | 'min_similarity'
  | 'duplicate'
  | 'limit'
  | FitStage;

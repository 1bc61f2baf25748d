import type { FilterStage } from '../explain/filter-drop.ts';
import type { FitStage } from './fit.ts';

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

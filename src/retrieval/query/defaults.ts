import type { Config } from '../../config/schema.ts';
import { invalidInput } from '../../shared/errors.ts';
import { checkOneOf } from '../../memory/values.ts';

export const searchModes = ['hybrid', 'semantic', 'keyword'] as const;
export type SearchMode = (typeof searchModes)[number];

const limitMaximum = 1000;
const tokenBudgetMaximum = 1_000_000;

export interface SearchChoice {
  limit?: number | null | undefined;
  mode?: SearchMode | null | undefined;
}

export interface CompleteChoice {
  limit: number;
  mode: SearchMode;
}

/** What a search does when its caller leaves it open. */
export function completeSearch(choice: SearchChoice, retrieval: Config['memory']['retrieval']): CompleteChoice {
  const limit = choice.limit ?? retrieval.defaultLimit;
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMaximum) {
    throw invalidInput('limit', `a whole number from 1 to ${limitMaximum}`, limit);
  }
  return { limit, mode: checkOneOf('mode', choice.mode ?? retrieval.defaultMode, searchModes) };
}

/** Tokens that an assembled context may take. Zero is allowed and means none. */
export function completeTokenBudget(
  given: number | null | undefined,
  retrieval: Config['memory']['retrieval'],
): number {
  const budget = given ?? retrieval.contextTokenBudget;
  if (!Number.isInteger(budget) || budget < 0 || budget > tokenBudgetMaximum) {
    throw invalidInput('token_budget', `a whole number from 0 to ${tokenBudgetMaximum}`, budget);
  }
  return budget;
}

/** Matches of each type that a channel brings: enough to rank, and to fill the limit. */
export function matchesToRank(limit: number, { candidates }: Config['memory']['retrieval']): number {
  return Math.max(candidates, limit);
}

/** What a line of a context takes, with its notes. */
const tokensOfLine = 40;

/** Matches of each type that it takes to fill a context: with those of one type alone, if there are no others. */
export function matchesToFill(tokenBudget: number, retrieval: Config['memory']['retrieval']): number {
  return Math.min(limitMaximum, matchesToRank(Math.ceil(tokenBudget / tokensOfLine), retrieval));
}

import { checkLimit } from '../memory/values.ts';

/** Of a list inside a memory, which has no pages. */
export const usualLimit = 20;
const mostLimit = 100;

export const limitDescription = `How many at most, up to ${mostLimit}.`;

interface Limited {
  limit?: number | null | undefined;
}

export function readLimit(limit: Limited['limit']): number {
  return checkLimit('limit', limit, usualLimit, mostLimit);
}

/** Each item costs what is asked of it. */
export function limitComplexity({ limit }: Limited): { field: number; multiplier: number } {
  return { field: 1, multiplier: limit ?? usualLimit };
}

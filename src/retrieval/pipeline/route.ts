import type { Routing } from '../query/intent.ts';
import { rescore, type Ranked } from './ranked.ts';

/** What being about the time that was asked for multiplies a score by. */
const inTimeWeight = 1.25;
/** What stating a time adds where one was asked for, as a share of the best score. */
const tellsTimeShare = 0.15;

/** Weighs matches by the intent of the query: by their type, and by the time that was asked about. */
export function route(ranked: readonly Ranked[], { typeWeights, timeRange, asksTime }: Routing): Ranked[] {
  const best = ranked[0]?.score ?? 0;
  return rescore(ranked, ({ memory: { type, happenedAt, tellsTime }, score }) => {
    const isInTime = timeRange !== null && happenedAt >= timeRange.from && happenedAt < timeRange.to;
    const bonus = asksTime && tellsTime ? tellsTimeShare * best : 0;
    return score * typeWeights[type] * (isInTime ? inTimeWeight : 1) + bonus;
  });
}

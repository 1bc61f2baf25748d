import { byScore, steady, type Match } from './fuse.ts';
import type { Routing } from '../query/intent.ts';

/** What being about the time that was asked for multiplies a score by. */
const inTimeWeight = 1.25;
/** What telling a time adds where one was asked for, as a share of the best score. */
const tellsTimeShare = 0.15;

/** Weighs what was found by what the question is after. */
export function routeMatches(matches: readonly Match[], routing: Routing): Match[] {
  const { typeWeights, timeRange, asksTime } = routing;
  const best = matches[0]?.score ?? 0;
  const routed = matches.map((match): Match => {
    const { type, happened_at, tells_time } = match.candidate;
    const isInTime =
      timeRange !== null && happened_at >= timeRange.from.getTime() && happened_at < timeRange.to.getTime();
    const weight = typeWeights[type] * (isInTime ? inTimeWeight : 1);
    const bonus = asksTime && tells_time ? tellsTimeShare * best : 0;
    const { candidate, parts, relevance } = match;
    return { candidate, parts, relevance, score: steady(match.score * weight + bonus) };
  });
  const newBest = Math.max(0, ...routed.map(({ score }) => score));
  for (const match of routed) match.relevance = newBest === 0 ? 0 : Math.max(0, match.score / newBest);
  return routed.toSorted(byScore);
}

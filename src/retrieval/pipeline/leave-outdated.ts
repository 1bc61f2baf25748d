import type { MemoryContext } from '../../memory/context.ts';
import { maskHidden } from '../../memory/forgetting/hidden-spans.ts';
import { findOutdated } from '../../memory/outdated/find-outdated.ts';
import { isEmptySpeech } from '../../memory/outdated/sentences.ts';
import { leaveOut, type Span } from '../../memory/spans.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import type { LoadedMemory } from './load.ts';
import { drop, isKept, type Ranked } from './ranked.ts';

/**
 * Leaves out of the episodes of each recall what does not hold any more. An episode of which nothing is left is dropped, and
 * so is a note that says it. One round trip, if there is an episode or a note. Other times are shown as they were.
 */
export async function leaveOutdated(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  chosen: readonly Ranked<LoadedMemory>[][],
): Promise<Ranked<LoadedMemory>[][]> {
  const readers = searches.map(({ filter }, place) => {
    const kept =
      filter.isPast || filter.validAt != null ? [] : (chosen[place] ?? []).filter(isKept).map(({ memory }) => memory);
    return {
      butler: filter.visibleButler,
      episodes: kept.flatMap((memory) => (memory.type === 'episode' ? [memory.row] : [])),
      facts: kept.flatMap((memory) => (memory.type === 'fact' ? [memory.row] : [])),
      asksFormer: true,
    };
  });
  const sayings = await findOutdated(context, readers);
  return chosen.map((all, place) =>
    all.map((one) => {
      const spans = sayings[place]?.get(one.memory.id)?.outdated ?? [];
      if (spans.length === 0) return one;
      if (one.memory.type !== 'episode') return drop(one, 'outdated');
      const row = cutRow(one.memory.row, spans);
      return row === null ? drop(one, 'outdated') : { ...one, memory: { ...one.memory, leftOut: spans, row } as never };
    }),
  );
}

/** Returns the row of an episode without some parts of its text; null if nothing is left. */
export function cutRow<Row extends { content: string }>(row: Row, spans: readonly Span[]): Row | null {
  const content = leaveOut(row.content, spans);
  if (isEmptySpeech(content)) return null;
  return { ...maskHidden({ ...row, hiddenSpans: { outdated: spans } }, ''), content };
}

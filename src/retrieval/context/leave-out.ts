import type { MemoryContext } from '../../memory/context.ts';
import { findOutdated, type Sayings } from '../../memory/outdated/find-outdated.ts';
import { isAboutFormer } from '../../memory/outdated/outdated-notes.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import { joinSpans, type Span } from '../../memory/spans.ts';
import { cutRow } from '../pipeline/leave-outdated.ts';
import { drop, type Ranked } from '../pipeline/ranked.ts';
import type { ContextQuestion, ContextRanking, ShownMemory } from './rank-context.ts';

/**
 * Finds where the episodes of contexts say what does not hold any more or what a fact says, by episode, and which notes say
 * what does not hold, or what was before, although the prompt does not ask for that. One round trip.
 */
export async function findSayings(
  context: MemoryContext,
  questions: readonly ContextQuestion[],
  rankings: readonly ContextRanking[],
): Promise<Map<string, Sayings>[]> {
  return findOutdated(
    context,
    questions.map(({ butler, at, prompt }, place) => {
      const memories = (rankings[place]?.eligible ?? []).map(({ memory }) => memory);
      return {
        butler,
        asksFormer: isAboutFormer(prompt),
        episodes: memories.flatMap((memory) => (memory.type === 'episode' ? [memory.row] : [])),
        facts: memories.flatMap((memory) =>
          memory.type === 'fact' && !isUpcoming(memory.row, at) ? [memory.row] : [],
        ),
      };
    }),
  );
}

/**
 * Leaves out of the episodes what is outdated, and what memories of the same context say. An episode of which nothing is
 * left is dropped.
 */
export function leaveOutSayings(
  ranking: ContextRanking,
  sayings: ReadonlyMap<string, Sayings>,
  shownIds: ReadonlySet<string> = new Set(),
): ContextRanking {
  const cut = ranking.eligible.map((one) => cutEpisode(one, spansToCut(sayings.get(one.memory.id), shownIds)));
  return {
    ...ranking,
    eligible: cut.filter(({ droppedBy }) => droppedBy === null),
    // A dropped one is known by its id only from here on.
    dropped: [...ranking.dropped, ...cut.filter(({ droppedBy }) => droppedBy !== null)] as Ranked[],
  };
}

/** Tells whether episodes repeat what is shown in a context. */
export function repeatsShown(sayings: ReadonlyMap<string, Sayings>, shownIds: ReadonlySet<string>): boolean {
  return [...sayings.values()].some(({ known }) => [...known.keys()].some((id) => shownIds.has(id)));
}

function spansToCut(sayings: Sayings | undefined, shownIds: ReadonlySet<string>): Span[] {
  if (sayings === undefined) return [];
  const repeated = [...sayings.known].flatMap(([id, spans]) => (shownIds.has(id) ? spans : []));
  return joinSpans([...sayings.outdated, ...repeated]);
}

function cutEpisode(one: Ranked<ShownMemory>, spans: readonly Span[]): Ranked<ShownMemory> {
  const { memory } = one;
  if (spans.length === 0) return one;
  if (memory.type !== 'episode') return drop(one, 'outdated');
  const row = cutRow(memory.row, spans);
  return row === null ? drop(one, 'outdated') : { ...one, memory: { ...memory, leftOut: spans, row } };
}

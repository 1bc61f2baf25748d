import { listOutdated, type OutdatedAnswer, type OutdatedQuery } from '../../db/queries/outdated-facts.ts';
import type { MemoryContext } from '../context.ts';
import { listHiddenSpans } from '../hidden-spans.ts';
import { joinSpans, toSpan, type Span } from '../spans.ts';
import { globalScope } from '../values.ts';
import { findFormerValues, findSayings, saysCurrent, type CurrentFact } from './says.ts';

export interface SaidEpisode {
  id: string;
  content: string;
  observedAt: Date | null;
  createdAt: Date;
  /** What is hidden of it, because it was forgotten. */
  hiddenSpans?: unknown;
}

/** The butler to whom episodes are shown; null for one who sees the facts of all. */
export interface Reader {
  butler: string | null;
  episodes: readonly SaidEpisode[];
  /** Facts that hold and that the butler sees. */
  facts: readonly CurrentFact[];
}

/** Where an episode says something that is known elsewhere. */
export interface Sayings {
  /** What does not hold any more: superseded, retracted, or past its time. */
  outdated: Span[];
  /** What live facts and rules say, by their ids. */
  known: ReadonlyMap<string, readonly Span[]>;
}

/**
 * Finds where episodes say what does not hold any more: by the evidence of what was learned from them, and where there is
 * none by comparing their sentences with the outdated facts of a butler. A sentence that is newer than the end of the fact is news,
 * unless it also says what holds instead. One round trip.
 */
export async function findOutdated(
  context: MemoryContext,
  readers: readonly Reader[],
): Promise<Map<string, Sayings>[]> {
  const asked = readers.filter(({ episodes }) => episodes.length > 0);
  const answers = await listOutdated(
    context.db,
    asked.map((one) => toQuery(context, one)),
  );
  return readers.map((reader) => {
    const found = answers[asked.indexOf(reader)];
    if (found === undefined) return new Map();
    return new Map(reader.episodes.map((episode) => [episode.id, describe(episode, found, reader.facts)]));
  });
}

/**
 * Returns the facts that no longer hold and may be said in episodes, with the moment from which saying them is news.
 * Sealed ones are left out.
 */
export async function listOutdatedFacts(
  context: MemoryContext,
  butler: string,
  episodes: readonly SaidEpisode[],
): Promise<OutdatedAnswer['facts']> {
  if (episodes.length === 0) return [];
  const [answer] = await listOutdated(context.db, [toQuery(context, { butler, episodes, facts: [] })]);
  return answer?.facts ?? [];
}

function toQuery({ now }: MemoryContext, { butler, episodes }: Reader): OutdatedQuery {
  return {
    episodeIds: episodes.map(({ id }) => id),
    scopes: butler === null ? null : [globalScope, butler],
    at: now(),
  };
}

function describe(episode: SaidEpisode, { links, facts }: OutdatedAnswer, current: readonly CurrentFact[]): Sayings {
  const own = links.filter(({ episodeId }) => episodeId === episode.id);
  const former = current.flatMap((fact) => findFormerValues(episode.content, fact));
  const compared = [
    ...listHiddenSpans(episode),
    ...facts.flatMap((fact) => findSaid(episode, fact)),
    ...former.map(({ start, end }) => toSpan(episode.content, start, end)),
  ];
  const outdated = own.filter(({ isLive }) => !isLive).flatMap(({ spans }) => spans);
  const known = new Map<string, readonly Span[]>();
  for (const { memoryId, spans, isLive } of own) {
    if (isLive) known.set(memoryId, [...(known.get(memoryId) ?? []), ...spans]);
  }
  return { outdated: joinSpans([...outdated, ...compared]), known };
}

function findSaid(episode: SaidEpisode, fact: OutdatedAnswer['facts'][number]): Span[] {
  const { content, observedAt, createdAt } = episode;
  const isNews = (observedAt ?? createdAt).getTime() > (fact.endedAt ?? 0);
  const sayings = findSayings(content, fact);
  // "Moved from Lisbon to Porto" tells of the change, however late it is said.
  const meant = isNews ? sayings.filter(({ text }) => saysCurrent(text, fact)) : sayings;
  return meant.map(({ start, end }) => toSpan(content, start, end));
}

import { listOutdated, type OutdatedAnswer, type OutdatedQuery } from '../../db/queries/outdated-facts.ts';
import { openReadable } from '../../encryption/sealing.ts';
import type { MemoryContext } from '../context.ts';
import { listHiddenSpans } from '../forgetting/hidden-spans.ts';
import { readsAsNote } from '../facts/note-key.ts';
import { isAboutFormer, isFormer, readNote, saysOutdated, type SaidNote } from './outdated-notes.ts';
import { joinSpans, toSpan, type Span } from '../spans.ts';
import { globalScope } from '../values.ts';
import {
  findFormerValues,
  findSayings,
  readText,
  saysCurrent,
  withSigns,
  withValues,
  type ReadText,
  type SignedFact,
  type ValuedFact,
} from './says.ts';

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
  /** Facts that hold and that the butler sees. The notes among them are compared with what does not hold, too. */
  facts: readonly (SaidNote & { id: string })[];
  /** Whether notes of what was before may stay, beside what holds. */
  asksFormer: boolean;
}

/** A fact that does not hold any more, in plain. */
export interface EndedFact extends SignedFact {
  isForgotten: boolean;
  /** When it was known that it does not hold: what is said later is news. In milliseconds since 1970. */
  endedAt: number | null;
}

interface Outdated extends Pick<OutdatedAnswer, 'links' | 'sources'> {
  facts: readonly EndedFact[];
}

/** Where an episode says something that is known elsewhere. */
export interface Sayings {
  /** What does not hold any more: superseded, retracted, or past its time. */
  outdated: Span[];
  /** What live facts and rules say, by their ids. */
  known: ReadonlyMap<string, readonly Span[]>;
}

/**
 * Finds where episodes say what does not hold any more, and which notes do: by the evidence of what was learned from
 * episodes, and where there is none by comparing sentences with the outdated facts of a butler. A sentence that is newer than the end of the fact is news,
 * unless it also says what holds instead. One round trip.
 */
export async function findOutdated(
  context: MemoryContext,
  readers: readonly Reader[],
): Promise<Map<string, Sayings>[]> {
  const asked = readers.filter((one) => one.episodes.length > 0 || notesOf(one).length > 0);
  const answers = await readOutdated(context, asked);
  return readers.map((reader) => {
    const found = answers[asked.indexOf(reader)];
    if (found === undefined) return new Map();
    const outdated = notesOf(reader).filter((note) => {
      const read = readNote(note);
      return found.facts.some((fact) => saysOutdated(read, fact)) || isFormerNote(note, reader, found.sources);
    });
    const current = reader.episodes.length === 0 ? [] : reader.facts.map(withValues);
    return new Map([
      ...reader.episodes.map((one): [string, Sayings] => [one.id, describe(one, found, current)]),
      ...outdated.map((one): [string, Sayings] => [one.id, { outdated: [wholeOf(one.content)], known: new Map() }]),
    ]);
  });
}

function notesOf({ facts }: Pick<Reader, 'facts'>): (SaidNote & { id: string })[] {
  return facts.filter((fact) => readsAsNote(fact));
}

function formerNotesOf(reader: Pick<Reader, 'facts' | 'asksFormer'>): (SaidNote & { id: string })[] {
  return reader.asksFormer ? [] : notesOf(reader).filter(({ content }) => isAboutFormer(content));
}

/** By its own words, or because its source tells how what holds came to hold, and gives the note as what was before. */
function isFormerNote(
  note: SaidNote & { id: string },
  reader: Pick<Reader, 'facts' | 'asksFormer'>,
  sources: Outdated['sources'],
): boolean {
  if (!formerNotesOf(reader).includes(note)) return false;
  const others = reader.facts.filter((fact) => fact !== note && !isAboutFormer(fact.content));
  if (isFormer(note, others)) return true;
  return sources.some(
    ({ memoryId, content, spans }) =>
      memoryId === note.id &&
      others
        .flatMap((fact) => findFormerValues(readText(content), withValues(fact)))
        .map(({ start, end }) => toSpan(content, start, end))
        .some(([start, end]) => spans.some(([from, to]) => from < end && start < to)),
  );
}

function wholeOf(text: string): Span {
  return toSpan(text, 0, text.length);
}

async function readOutdated(context: MemoryContext, readers: readonly Reader[]): Promise<Outdated[]> {
  const answers = await listOutdated(
    context.db,
    readers.map((one) => toQuery(context, one)),
  );
  return Promise.all(
    answers.map(async ({ facts, ...answer }) => ({ ...answer, facts: await openOutdated(context, facts) })),
  );
}

/** What cannot be decrypted is left out. */
async function openOutdated(context: MemoryContext, facts: OutdatedAnswer['facts']): Promise<EndedFact[]> {
  const readable = await openReadable(context, facts);
  return Promise.all(
    readable.map(async ({ current, ...fact }) => {
      const holding = await openReadable(context, current);
      return withSigns({ ...fact, current: holding.map(({ content }) => content) });
    }),
  );
}

/**
 * Returns the facts that no longer hold and may be said in episodes, with the moment from which saying them is news.
 */
export async function listOutdatedFacts(
  context: MemoryContext,
  butler: string,
  episodes: readonly SaidEpisode[],
): Promise<readonly EndedFact[]> {
  if (episodes.length === 0) return [];
  const [answer] = await readOutdated(context, [{ butler, episodes, facts: [], asksFormer: true }]);
  return answer?.facts ?? [];
}

function toQuery({ now }: MemoryContext, { butler, episodes, ...reader }: Reader): OutdatedQuery {
  return {
    episodeIds: episodes.map(({ id }) => id),
    noteIds: notesOf(reader).map(({ id }) => id),
    sourcesOf: formerNotesOf(reader).map(({ id }) => id),
    scopes: butler === null ? null : [globalScope, butler],
    at: now(),
  };
}

function describe(episode: SaidEpisode, { links, facts }: Outdated, current: readonly ValuedFact[]): Sayings {
  const own = links.filter(({ episodeId }) => episodeId === episode.id);
  const text = readText(episode.content);
  const former = current.flatMap((fact) => findFormerValues(text, fact));
  const compared = [
    ...listHiddenSpans(episode),
    ...facts.flatMap((fact) => findSaid(episode, text, fact)),
    ...former.map(({ start, end }) => toSpan(episode.content, start, end)),
  ];
  const outdated = own.filter(({ isLive }) => !isLive).flatMap(({ spans }) => spans);
  const known = new Map<string, readonly Span[]>();
  for (const { memoryId, spans, isLive } of own) {
    if (isLive) known.set(memoryId, [...(known.get(memoryId) ?? []), ...spans]);
  }
  return { outdated: joinSpans([...outdated, ...compared]), known };
}

function findSaid(episode: SaidEpisode, read: ReadText, fact: EndedFact): Span[] {
  const { content, observedAt, createdAt } = episode;
  const isNews = (observedAt ?? createdAt).getTime() > (fact.endedAt ?? 0);
  const sayings = findSayings(read, fact);
  // "Moved from Lisbon to Porto" tells of the change, however late it is said.
  const meant = isNews ? sayings.filter(({ text }) => saysCurrent(text, fact)) : sayings;
  return meant.map(({ start, end }) => toSpan(content, start, end));
}

import {
  listHidingEpisodes,
  listSayingEpisodes,
  lockHidingEpisodes,
  type HidingEpisode,
  type SayingEpisode,
} from '../../db/queries/hidden-spans.ts';
import { asStored } from '../../redaction/redactor.ts';
import type { MemoryContext } from '../context.ts';
import { embedAll, embedOne, type EmbeddedText } from '../embed.ts';
import { textToFind, type HiddenSpans } from '../hidden-spans.ts';
import type { Memory } from '../memories.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import { findSayings, type OutdatedFact } from '../outdated/says.ts';
import { splitSentences } from '../outdated/sentences.ts';
import { cutSpans, joinSpans, toSpan, type Span } from '../spans.ts';
import { globalScope } from '../values.ts';

/** What forgetting or restoring memories does to the episodes that say them. */
export interface HidingPlan {
  /** By the id of the episode and of the memory. No spans: the memory is shown again. */
  spans: ReadonlyMap<string, ReadonlyMap<string, readonly Span[]>>;
  /** The episodes that the memories were learned from. */
  sourceIds: readonly string[];
  /** Of the texts as they will be found, so that the model never holds a connection. */
  vectors: ReadonlyMap<string, EmbeddedText>;
}

/** Plans how facts and rules are hidden in the episodes that say them, and embeds what is left of these. */
export async function planHiding(context: MemoryContext, memories: readonly Memory[]): Promise<HidingPlan> {
  const spans = new Map<string, Map<string, readonly Span[]>>();
  const hidden = new Map<string, { content: string; hiddenSpans: HiddenSpans }>();
  const sourceIds = new Set<string>();
  for (const memory of memories) {
    if (memory.type === 'episode') continue;
    const { id, content, language, scope } = memory.row;
    const butler = scope === globalScope ? null : scope;
    const said = { type: memory.type, id, text: content, language, butler };
    for (const episode of await listSayingEpisodes(context.db.client, said)) {
      if (episode.isSource) sourceIds.add(episode.id);
      const found = findSpans(episode, asStatement(memory));
      if (found.length === 0) continue;
      spans.set(episode.id, (spans.get(episode.id) ?? new Map<string, readonly Span[]>()).set(id, found));
      const known = hidden.get(episode.id) ?? episode;
      hidden.set(episode.id, { ...known, hiddenSpans: change(known.hiddenSpans, new Map([[id, found]])) });
    }
  }
  return { spans, sourceIds: [...sourceIds], vectors: await embedTexts(context, [...hidden.values()]) };
}

/** Plans how memories that come back are shown again in the episodes that say them. */
export async function planShowing(context: MemoryContext, memoryIds: readonly string[]): Promise<HidingPlan> {
  const episodes = await listHidingEpisodes(context.db.client, memoryIds);
  const shown = new Map(memoryIds.map((id): [string, readonly Span[]] => [id, []]));
  const changed = episodes.map((one) => ({ ...one, hiddenSpans: change(one.hiddenSpans, shown) }));
  return {
    spans: new Map(episodes.map(({ id }) => [id, shown])),
    sourceIds: [],
    vectors: await embedTexts(context, changed),
  };
}

/** Locks the episodes of a plan. Before the memories: consolidation takes them in that order, and the reverse deadlocks. */
export async function lockPlanned(
  { transaction }: Mutation,
  { spans, sourceIds }: HidingPlan,
): Promise<HidingEpisode[]> {
  return lockHidingEpisodes(transaction, [...new Set([...spans.keys(), ...sourceIds])].toSorted());
}

/** Hides or shows spans of locked episodes as planned, as consequences of the mutation. */
export async function carryOut(
  mutation: Mutation,
  episodes: readonly HidingEpisode[],
  { spans, vectors }: HidingPlan,
): Promise<void> {
  for (const { id, content, hiddenSpans } of episodes) {
    const planned = spans.get(id);
    if (planned === undefined) continue;
    const hidden = change(hiddenSpans, planned);
    if (JSON.stringify(hidden) === JSON.stringify(hiddenSpans)) continue;
    const text = textToFind(content, hidden);
    const isMore = Object.keys(hidden).length > Object.keys(hiddenSpans).length;
    const embedding = vectors.get(text) ?? (await embedOne(mutation.context, asStored(text)));
    const eventType = isMore ? 'episode.masked' : 'episode.unmasked';
    const columns = { hiddenSpans: hidden };
    await changeMemory(mutation.consequence, { type: 'episode', id }, eventType, columns, { embedding });
  }
}

/** A part of an episode that is hidden. */
export interface HiddenText {
  episodeId: string;
  text: string;
}

/** Lists what is hidden of episodes because some memories were forgotten. Only in episodes that the caller reaches. */
export async function listHiddenTexts(context: MemoryContext, memoryIds: readonly string[]): Promise<HiddenText[]> {
  const episodes = await listHidingEpisodes(context.db.client, memoryIds);
  return episodes.flatMap(({ id, content, hiddenSpans }) => {
    const spans = joinSpans(memoryIds.flatMap((memoryId) => hiddenSpans[memoryId] ?? []));
    return cutSpans(content, spans).map((text) => ({ episodeId: id, text }));
  });
}

function change(hidden: HiddenSpans, planned: ReadonlyMap<string, readonly Span[]>): HiddenSpans {
  const kept = Object.entries(hidden).filter(([id]) => !planned.has(id));
  const added = [...planned].filter(([, spans]) => spans.length > 0);
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(
      added.map(([id, spans]) => [id, spans.map(([start, end]): [number, number] => [start, end])]),
    ),
  };
}

async function embedTexts(
  context: MemoryContext,
  episodes: readonly { content: string; hiddenSpans: HiddenSpans }[],
): Promise<Map<string, EmbeddedText>> {
  const texts = [...new Set(episodes.map(({ content, hiddenSpans }) => textToFind(content, hiddenSpans)))];
  if (texts.length === 0) return new Map();
  const embedded = await embedAll(context, texts.map(asStored));
  return new Map(texts.map((text, place) => [text, embedded[place] as EmbeddedText]));
}

/** The evidence, and the other sentences that say the same by themselves. */
function findSpans({ content, evidence }: SayingEpisode, statement: OutdatedFact): Span[] {
  const sentences = splitSentences(content)
    .filter(({ text }) => findSayings(text, statement).length > 0)
    .map(({ start, end }) => toSpan(content, start, end));
  const others = sentences.filter(([start, end]) => !evidence.some(([from, to]) => from < end && start < to));
  return joinSpans([...evidence, ...others]);
}

function asStatement({ type, row }: Exclude<Memory, { type: 'episode' }>): OutdatedFact {
  const { id, content } = row;
  if (type === 'rule') return { id, content, subject: '', predicate: '', current: [] };
  return { id, content, subject: row.subject, predicate: row.predicate, current: [] };
}

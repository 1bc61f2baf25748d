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
import { textToFind, type HiddenSpans } from './hidden-spans.ts';
import type { Memory } from '../memories.ts';
import { changeMemory, type Mutation } from '../mutation.ts';
import { findSayings, readText, withSigns, type SignedFact } from '../outdated/says.ts';
import { splitSentences } from '../outdated/sentences.ts';
import { onlyButlerOf } from '../reach.ts';
import { joinSpans, subtractSpans, toSpan, type Span } from '../spans.ts';
import { globalScope } from '../values.ts';
import { toHiddenTexts, type HiddenText } from './report.ts';

/** What forgetting or restoring memories does to the episodes that say them. */
export interface HidingPlan {
  /** By the id of the episode and of the memory. No spans: the memory is shown again. */
  spans: ReadonlyMap<string, ReadonlyMap<string, readonly Span[]>>;
  /** The episodes that the memories were learned from. */
  sourceIds: readonly string[];
  /** What will be hidden that was read until now. */
  hidden: readonly HiddenText[];
  /** Of the texts as they will be found, so that the model never holds a connection. */
  vectors: ReadonlyMap<string, EmbeddedText>;
}

/** Sentences of an episode that are to be hidden although no memory says them. */
export interface SentencesAbout {
  episode: Omit<SayingEpisode, 'evidence' | 'isSource'>;
  spans: readonly Span[];
}

/** Stands for the event of the mutation among the ids of memories: sentences that no memory says are hidden under it. */
const ofEvent = '';

/** Plans how facts and rules are hidden in the episodes that say them, and embeds what is left of these. */
export async function planHiding(
  context: MemoryContext,
  memories: readonly Memory[],
  sentences: readonly SentencesAbout[] = [],
): Promise<HidingPlan> {
  const draft = new HidingDraft();
  for (const memory of memories) {
    if (memory.type === 'episode') continue;
    const { id, content, language, scope } = memory.row;
    const butler = scope === globalScope ? null : scope;
    const said = { type: memory.type, id, text: content, language, butler, owner: onlyButlerOf(context) };
    for (const episode of await listSayingEpisodes(context.db.client, said)) {
      if (episode.isSource) draft.sourceIds.add(episode.id);
      draft.add(episode, id, findSpans(episode, asStatement(memory)));
    }
  }
  for (const { episode, spans } of sentences) {
    draft.sourceIds.add(episode.id);
    draft.add(episode, ofEvent, subtractSpans(spans, draft.spansIn(episode.id)));
  }
  const { spans, sourceIds } = draft;
  const after = draft.listAfter();
  return { spans, sourceIds: [...sourceIds], hidden: draft.listTexts(), vectors: await embedTexts(context, after) };
}

type PlannedEpisode = SentencesAbout['episode'];

/** What is to be hidden, by episode. */
class HidingDraft {
  readonly spans = new Map<string, Map<string, readonly Span[]>>();
  readonly sourceIds = new Set<string>();
  readonly #episodes = new Map<string, PlannedEpisode>();

  add(episode: PlannedEpisode, key: string, found: readonly Span[]): void {
    if (found.length === 0) return;
    this.#episodes.set(episode.id, episode);
    this.spans.set(episode.id, (this.spans.get(episode.id) ?? new Map<string, readonly Span[]>()).set(key, found));
  }

  spansIn(id: string): Span[] {
    return [...(this.spans.get(id)?.values() ?? [])].flat();
  }

  /** The episodes as they will be. */
  listAfter(): { content: string; hiddenSpans: HiddenSpans }[] {
    return [...this.#episodes.values()].map(({ id, content, hiddenSpans }) => ({
      content,
      hiddenSpans: change(hiddenSpans, this.spans.get(id) ?? new Map<string, readonly Span[]>()),
    }));
  }

  /** What will be hidden that was read until now. Oldest episode first. */
  listTexts(): HiddenText[] {
    return [...this.#episodes.values()]
      .filter(({ isForgotten }) => !isForgotten)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((one) => toHiddenTexts(one, subtractSpans(this.spansIn(one.id), Object.values(one.hiddenSpans).flat())));
  }
}

/** Plans how memories that come back are shown again in the episodes that say them. */
export async function planShowing(
  context: MemoryContext,
  memoryIds: readonly string[],
  sourceIds: readonly string[] = [],
): Promise<HidingPlan> {
  const episodes = await listHidingEpisodes(context.db.client, memoryIds);
  const shown = new Map(memoryIds.map((id): [string, readonly Span[]] => [id, []]));
  const changed = episodes.map((one) => ({ ...one, hiddenSpans: change(one.hiddenSpans, shown) }));
  return {
    spans: new Map(episodes.map(({ id }) => [id, shown])),
    sourceIds,
    hidden: [],
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

/** Hides or shows spans of locked episodes as planned, by default as consequences of the mutation. */
export async function carryOut(
  mutation: Mutation,
  episodes: readonly HidingEpisode[],
  { spans, vectors }: HidingPlan,
  next: () => Mutation = () => mutation.consequence,
): Promise<void> {
  for (const { id, content, hiddenSpans } of episodes) {
    const planned = withEvent(mutation, spans.get(id));
    const hidden = change(hiddenSpans, planned);
    if (JSON.stringify(hidden) === JSON.stringify(hiddenSpans)) continue;
    const text = textToFind(content, hidden);
    const isMore = Object.keys(hidden).length > Object.keys(hiddenSpans).length;
    const embedding = vectors.get(text) ?? (await embedOne(mutation.context, asStored(text)));
    const eventType = isMore ? 'episode.masked' : 'episode.unmasked';
    const columns = { hiddenSpans: hidden };
    await changeMemory(next(), { type: 'episode', id }, eventType, columns, { embedding });
  }
}

function withEvent(
  { eventId }: Mutation,
  planned: ReadonlyMap<string, readonly Span[]> = new Map(),
): ReadonlyMap<string, readonly Span[]> {
  return new Map([...planned].map(([id, spans]) => [id === ofEvent ? eventId : id, spans]));
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
function findSpans({ content, evidence }: SayingEpisode, statement: SignedFact): Span[] {
  const sentences = splitSentences(content)
    .filter(({ text }) => findSayings(readText(text), statement).length > 0)
    .map(({ start, end }) => toSpan(content, start, end));
  const others = sentences.filter(([start, end]) => !evidence.some(([from, to]) => from < end && start < to));
  return joinSpans([...evidence, ...others]);
}

function asStatement({ type, row }: Exclude<Memory, { type: 'episode' }>): SignedFact {
  const { id, content } = row;
  const { subject, predicate } = type === 'rule' ? { subject: '', predicate: '' } : row;
  return withSigns({ id, content, subject, predicate, current: [] });
}

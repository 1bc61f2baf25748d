import { listEpisodesAbout } from '../db/queries/hidden-spans.ts';
import { openRow } from '../encryption/sealing.ts';
import { forgetMemory } from '../memory/forgetting/forget.ts';
import type { MemoryContext } from '../memory/context.ts';
import { factValidities } from '../memory/facts/fact-values.ts';
import { listGlossWords } from '../memory/facts/lexicon.ts';
import { readablePredicate } from '../memory/facts/note-key.ts';
import { forgetTogether, mayForget, planForgetting, type Chosen } from '../memory/forgetting/forget-together.ts';
import type { SentencesAbout } from '../memory/forgetting/hide-spans.ts';
import { describeForgetting, type Forgetting } from '../memory/forgetting/report.ts';
import { findSentencesAbout, isAbout, readTopic, shareOf, type Topic } from '../memory/forgetting/topic.ts';
import {
  asMemory,
  findMemoryOfAnyType,
  loadMemories,
  referenceKey,
  type Memory,
  type MemoryRow,
} from '../memory/memories.ts';
import { createReport, type Written } from '../memory/mutation.ts';
import { wordsOf } from '../memory/outdated/says.ts';
import { authorize } from '../memory/permissions.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { listHiddenSpans } from '../memory/forgetting/hidden-spans.ts';
import { subtractSpans, toSpan } from '../memory/spans.ts';
import { searchable } from '../memory/text.ts';
import type { MemoryType } from '../db/tables.ts';
import { invalidInput, MemoryError } from '../shared/errors.ts';
import { rankMatches } from './pipeline/rank-matches.ts';
import type { Ranked } from './pipeline/ranked.ts';
import { relevanceFloor } from './pipeline/score.ts';
import { Stopwatch } from './pipeline/stopwatch.ts';
import { prepareRecall, recalledTypes, scoreMatches } from './recall.ts';

export interface ForgetRequest {
  type?: MemoryType | null | undefined;
  id?: string | null | undefined;
  /** A topic, instead of an id. */
  about?: string | null | undefined;
  /** Whether what a topic would take is taken. */
  confirm?: boolean | null | undefined;
  /** Forgets the episodes that it was learned from, too. */
  sources?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export interface Forgotten extends Forgetting {
  /** Null where a topic was given. */
  memory: Memory | null;
}

/** Forgets one memory, or with `about` what is known of a topic. */
export async function forget(context: MemoryContext, input: ForgetRequest): Promise<Written<Forgotten>> {
  authorize(context, 'mutation forgetMemory');
  const { id, about, ...options } = input;
  if ((id == null) === (about == null)) {
    throw new MemoryError(
      'INVALID_INPUT',
      `id or about must be given, and not both (got ${id == null ? 'none' : 'both'})`,
      {
        hint: 'Pass type and id of one memory, or about with the words that name a topic.',
      },
    );
  }
  return id == null ? forgetTopic(context, { ...options, about: about ?? '' }) : forgetOne(context, { ...options, id });
}

async function forgetOne(
  context: MemoryContext,
  { type, id, confirm, sources, idempotencyKey }: ForgetRequest & { id: string },
): Promise<Written<Forgotten>> {
  if (confirm === false) throw invalidInput('confirm', 'left out with an id, which is forgotten at once', confirm);
  const named = type ?? (await findMemoryOfAnyType(context, id))?.type;
  if (named === undefined) throw new MemoryError('NOT_FOUND', `memory ${id} is not there`);
  const written = await forgetMemory(context, { type: named, id, sources, idempotencyKey });
  const report = written.eventId === null ? nothing : await describeForgetting(context, written.eventId);
  const memory = report.memories.find(({ row }) => row.id === written.value.row.id) ?? written.value;
  return { ...written, value: { ...report, memory } };
}

const nothing: Forgetting = { memories: [], hidden: [] };

/**
 * Lists what is known of a topic: facts with their earlier versions, rules, and sentences of episodes, as far as the caller
 * sees and may forget them. With `confirm`, forgets all of it as one change.
 */
async function forgetTopic(
  context: MemoryContext,
  { type, about, confirm, sources, idempotencyKey }: ForgetRequest & { about: string },
): Promise<Written<Forgotten>> {
  if (type != null) throw invalidInput('type', 'left out with about, which takes every type', type);
  const text = searchable(about);
  if (text.trim() === '') throw invalidInput('about', 'text that is not blank', about);
  const topic = readTopic(text);
  if (confirm !== true) {
    const { memories, hidden } = await planForgetting(context, await choose(context, topic));
    return { ...createReport(), value: { memory: null, memories: [...memories], hidden: [...hidden] } };
  }
  const written = await forgetTogether(context, {
    operation: 'forget',
    idempotencyKey,
    input: { about, ...(sources === true && { sources }) },
    sources: sources === true,
    prepare: async () => planForgetting(context, await choose(context, topic)),
  });
  const report = written.eventId === null ? nothing : await describeForgetting(context, written.eventId);
  return { ...written, value: { ...report, memory: null } };
}

async function choose(context: MemoryContext, topic: Topic): Promise<Chosen> {
  const [memories, sentences] = await Promise.all([chooseMemories(context, topic), chooseSentences(context, topic)]);
  return { memories, sentences };
}

/** Memories that are judged. */
const mostMemories = 200;
/** Similarity from which a memory is about a topic although it has none of its words. */
const leastSimilarity = 0.6;

async function chooseMemories(context: MemoryContext, topic: Topic): Promise<Memory[]> {
  const search = prepareRecall(context, {
    topic: topic.text,
    types: recalledTypes,
    validity: factValidities.filter((validity) => validity !== 'retracted'),
    limit: mostMemories,
    floor: 0,
  });
  const { matches } = await rankMatches(context, [search], new Stopwatch());
  const judged = matches.flatMap((found) => scoreMatches(context, search, found));
  const rows = await loadMemories(
    context,
    judged.map(({ memory }) => memory),
  );
  const chosen: Memory[] = [];
  for (const one of judged) {
    const stored = rows.get(referenceKey(one.memory));
    if (stored === undefined) continue;
    const row = await openRow(context, stored);
    if (isTaken(one, row, topic) && mayForget(context, row)) chosen.push(asMemory(row));
  }
  return chosen;
}

/** By its words where it has some of the topic's, and by its meaning alone only where that is beyond doubt. */
function isTaken({ relevance, parts }: Ranked, row: MemoryRow, topic: Topic): boolean {
  const words = wordsOf(describe(row));
  if (isAbout(topic, words)) return relevance >= relevanceFloor;
  return shareOf(topic.words, words) === 0 && (parts.match?.similarity ?? 0) >= leastSimilarity;
}

function describe(row: MemoryRow): string {
  if (!('predicate' in row)) return row.content;
  const predicate = readablePredicate(row);
  return [row.subject, predicate.replaceAll('_', ' '), ...listGlossWords(predicate), row.content].join(' ');
}

async function chooseSentences(context: MemoryContext, topic: Topic): Promise<SentencesAbout[]> {
  const { language } = context.config.memory.retrieval;
  const episodes = await listEpisodesAbout(context.db.client, {
    text: topic.text,
    language,
    owner: onlyButlerOf(context),
    at: context.now(),
  });
  return episodes.flatMap((episode) => {
    const found = findSentencesAbout(episode.content, topic);
    const spans = found.map(({ start, end }) => toSpan(episode.content, start, end));
    const shown = subtractSpans(spans, listHiddenSpans(episode));
    return shown.length === 0 ? [] : [{ episode, spans: shown }];
  });
}

import { listShown, type ShownRow, type Span } from '../../db/queries/shown.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { openReadable } from '../../encryption/sealing.ts';
import { fingerprintOf } from '../../retrieval/receipts/receipts.ts';
import { unknownStart } from '../../retrieval/context/sections.ts';
import { findWords } from '../../shared/words.ts';
import type { ClaimedEpisode } from './claim.ts';
import { readEpisodeId, Refusal, type Evidence } from './output.ts';

/**
 * Tells news from echoes. Text that a context, recall or search has shown to a session comes back in what the session says
 * next. An echo neither creates nor confirms a memory, else a memory would keep itself alive by being shown.
 */
export interface EchoGuard {
  /** Returns the ids of the episodes with at least one quote that is news. Throws a refusal when there is none. */
  requireNews(evidence: readonly Evidence[], episodeIds: readonly string[]): string[];
}

export interface Observed {
  butler: string;
  episodes: ReadonlyMap<string, ObservedEpisode>;
}

type ObservedEpisode = Pick<ClaimedEpisode, 'content' | 'sessionId' | 'createdAt'>;

/** Where the episode or the receipt names no session, a receipt of the same butler counts for this long. */
const windowMs = 24 * 3_600_000;

/** Loads what was shown to the sessions of the episodes, in one statement. */
export async function loadEchoes(context: MemoryContext, { butler, episodes }: Observed): Promise<EchoGuard> {
  const shown = episodes.size === 0 ? null : await loadShown(context, { butler, episodes });
  const isNews = (id: string, evidence: readonly Evidence[]): boolean => {
    const episode = episodes.get(id);
    if (episode === undefined || shown === null) return true;
    const quotes = evidence.filter((one) => readEpisodeId(one) === id);
    return quotes.some(({ quote }) => !repeats(shown, quote, episode));
  };
  return {
    requireNews: (evidence, episodeIds) => {
      const news = episodeIds.filter((id) => isNews(id, evidence));
      if (news.length === 0) throw new Refusal('echo: repeats what had been shown to the session before');
      return news;
    },
  };
}

async function loadShown(context: MemoryContext, { butler, episodes }: Observed): Promise<Shown | null> {
  const all = [...episodes.values()];
  const span = findSpan(all);
  const sessionIds = new Set(all.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId])));
  const withoutSession = all.filter(({ sessionId }) => sessionId === null);
  const rows = await listShown(context.db.client, {
    butler,
    sessionIds: [...sessionIds],
    before: span.to,
    withoutSession: span,
    ofAnySession: withoutSession.length === 0 ? null : findSpan(withoutSession),
  });
  return rows.length === 0 ? null : indexShown(await openShown(context, rows));
}

/** Opens sealed facts: they are shown in plain text, and come back in plain text. */
async function openShown(context: MemoryContext, rows: readonly ShownRow[]): Promise<(ShownReceipt | ShownMemory)[]> {
  const receipts = rows.filter((row) => row.memoryId === null);
  const memories = rows.flatMap((row) => (row.memoryId === null ? [] : [{ ...row, id: row.memoryId }]));
  const opened = await openReadable(context, memories);
  return [
    ...receipts,
    ...opened.map(({ memoryId, about, content }) => {
      return { memoryId, texts: about === null ? [content] : [content, `${about} ${content}`] };
    }),
  ];
}

type ShownReceipt = Extract<ShownRow, { memoryId: null }>;

interface ShownMemory {
  memoryId: string;
  texts: string[];
}

/** Returns the time in which receipts without a session count for the episodes. */
function findSpan(episodes: readonly ObservedEpisode[]): Span {
  const times = episodes.map(({ createdAt }) => createdAt.getTime());
  return { from: new Date(Math.min(...times) - windowMs), to: new Date(Math.max(...times)) };
}

interface Shown {
  /** When, and to which session, each memory was shown, by its id, and each text, by its fingerprint. */
  readonly showings: ReadonlyMap<string, readonly Showing[]>;
  /** Ids of memories by the words of each of their texts, and of each sentence in them. */
  readonly memoryIds: ReadonlyMap<string, readonly string[]>;
  /** The words of each text, with a blank around each word, so that `includes` finds whole words only. */
  readonly texts: readonly { memoryId: string; words: string }[];
}

type Showing = Pick<ShownReceipt, 'createdAt' | 'sessionId'>;

function indexShown(rows: readonly (ShownReceipt | ShownMemory)[]): Shown {
  const showings = new Map<string, Showing[]>();
  const memoryIds = new Map<string, string[]>();
  const texts: { memoryId: string; words: string }[] = [];
  for (const row of rows) {
    if (row.memoryId === null) {
      for (const key of [...row.memoryIds, ...row.fingerprints]) addTo(showings, key, row);
      continue;
    }
    for (const text of row.texts) {
      const words = joinWords(text);
      texts.push({ memoryId: row.memoryId, words: ` ${words} ` });
      for (const phrase of [words, ...splitSentences(text)]) addTo(memoryIds, phrase, row.memoryId);
    }
  }
  return { showings, memoryIds, texts };
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Tells whether a memory, or a text by its fingerprint, was shown to the session of an episode before the episode. */
function wasShownTo({ showings }: Shown, key: string, { sessionId, createdAt }: ObservedEpisode): boolean {
  const isBefore = (showing: Showing): boolean => {
    const elapsed = createdAt.getTime() - showing.createdAt.getTime();
    if (elapsed <= 0) return false;
    return sessionId !== null && showing.sessionId !== null ? showing.sessionId === sessionId : elapsed <= windowMs;
  };
  return showings.get(key)?.some(isBefore) ?? false;
}

/** Two words are often the same by chance; three in the same order are not. */
const leastWords = 3;
/** As in "From what I know: …". */
const mostWordsBefore = 6;
const denial = /\b(?:not|no|never|nor|false|wrong|t|longer|but|except|instead)\b/;

/** Tells whether a quote repeats what was shown, by itself or in each sentence of the episode that contains it. */
function repeats(shown: Shown, quote: string, episode: ObservedEpisode): boolean {
  const quoted = joinWords(quote);
  if (countWords(quoted) >= leastWords && wasSaid(shown, quoted, episode)) return true;
  const around = splitSentences(episode.content).filter((sentence) => ` ${sentence} `.includes(` ${quoted} `));
  const sentences = (around.length > 0 ? around : splitSentences(quote)).filter((one) => !preamble.has(one));
  return sentences.length > 0 && sentences.every((sentence) => isRepetition(shown, sentence, episode));
}

/** A sentence repeats what was shown if it is a part of it, or all of it after a few words that deny nothing. */
function isRepetition(shown: Shown, sentence: string, episode: ObservedEpisode): boolean {
  if (countWords(sentence) >= leastWords && isPartOfShown(shown, sentence, episode)) return true;
  const words = sentence.split(' ');
  for (let before = 0; before <= Math.min(mostWordsBefore, words.length - 1); before += 1) {
    const isEnough = before === 0 || words.length - before > leastWords;
    const isPlain = before === 0 || !denial.test(words.slice(0, before).join(' '));
    if (isEnough && isPlain && wasSaid(shown, words.slice(before).join(' '), episode)) return true;
  }
  return false;
}

function wasSaid(shown: Shown, words: string, episode: ObservedEpisode): boolean {
  const isOfMemory = shown.memoryIds.get(words)?.some((memoryId) => wasShownTo(shown, memoryId, episode)) ?? false;
  return isOfMemory || wasShownTo(shown, fingerprintOf(words), episode);
}

function isPartOfShown(shown: Shown, sought: string, episode: ObservedEpisode): boolean {
  return shown.texts.some(
    ({ memoryId, words }) => words.includes(` ${sought} `) && wasShownTo(shown, memoryId, episode),
  );
}

function countWords(words: string): number {
  return words === '' ? 0 : words.split(' ').length;
}

/** Headings of a context, and its annotations in brackets at the start or the end of a line. */
const markup = /^#{1,6} .*$|^[ \t]*(?:- )?\[[^\]\n]{0,80}\]|\[[^\]\n]{0,120}\][ \t]*$/gm;

/** Returns the words of each sentence. */
function splitSentences(text: string): string[] {
  return text
    .replace(markup, '')
    .split(/[.!?]+(?=["')\]]*(?:\s|$))|\n+|;\s/)
    .map(joinWords)
    .filter((words) => words !== '');
}

/** Reduces a text to its words in lower case with one blank between them, as fingerprints do. */
function joinWords(text: string): string {
  return findWords(text.normalize('NFKC')).join(' ');
}

/** The sentences at the head of every context, which are no news either. */
const preamble: ReadonlySet<string> = new Set(splitSentences(unknownStart));

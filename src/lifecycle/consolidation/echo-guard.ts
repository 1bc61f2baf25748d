import { selectShown, type ShownRow, type Span } from '../../db/sql/select-shown.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { openReadable } from '../../memory/sealing.ts';
import { fingerprintOf } from '../../retrieval/receipts/receipts.ts';
import { blockStart } from '../../retrieval/context/sections.ts';
import type { ClaimedEpisode } from './claim.ts';
import { episodeIdOf } from './evidence.ts';
import type { Evidence } from './output.ts';
import { Refusal } from './refusal.ts';

/** What a context, recall or search has shown comes back in what is observed after it. It is not news. */
export interface EchoGuard {
  /**
   * Those of the episodes, given by id, whose quotes do not all repeat what their session had been shown. Throws a refusal
   * when none is left: an echo neither creates nor confirms anything, else a memory could keep itself alive by being shown.
   */
  requireNews(evidence: readonly Evidence[], episodeIds: readonly string[]): string[];
}

export interface Observed {
  butler: string;
  episodes: ReadonlyMap<string, ObservedEpisode>;
}

type ObservedEpisode = Pick<ClaimedEpisode, 'content' | 'sessionId' | 'createdAt'>;

/** Where the session is not known on both sides, a receipt of the same butler counts for so long. */
const windowMs = 24 * 3_600_000;

/** One statement for all of them, and none when there are none. */
export async function loadEchoes(context: MemoryContext, { butler, episodes }: Observed): Promise<EchoGuard> {
  const shown = episodes.size === 0 ? null : await loadShown(context, { butler, episodes });
  const isNews = (id: string, evidence: readonly Evidence[]): boolean => {
    const episode = episodes.get(id);
    if (episode === undefined || shown === null) return true;
    const quotes = evidence.filter((one) => episodeIdOf(one) === id);
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
  const { tenantId } = context.principal;
  const all = [...episodes.values()];
  const span = spanOf(all);
  const sessionIds = new Set(all.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId])));
  const withoutSession = all.filter(({ sessionId }) => sessionId === null);
  const rows = await context.db.client.$queryRaw<ShownRow[]>(
    selectShown({
      tenantId,
      butler,
      sessionIds: [...sessionIds],
      before: span.to,
      withoutSession: span,
      ofAnySession: withoutSession.length === 0 ? null : spanOf(withoutSession),
    }),
  );
  return rows.length === 0 ? null : indexShown(await openShown(context, rows));
}

/** Facts that are sealed are shown in plain, and come back so. */
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

function spanOf(episodes: readonly ObservedEpisode[]): Span {
  const times = episodes.map(({ createdAt }) => createdAt.getTime());
  return { from: new Date(Math.min(...times) - windowMs), to: new Date(Math.max(...times)) };
}

/** All that was shown, and when and to whom: it is asked by the text, because few texts are found at all. */
interface Shown {
  /** When a memory was shown, by its id; and a text, by its fingerprint. */
  readonly showings: ReadonlyMap<string, readonly Showing[]>;
  /** Ids of the memories that say it, by the words of each memory and of each of its sentences. */
  readonly sayings: ReadonlyMap<string, readonly string[]>;
  /** The words of all memories, one a line, with a blank around each word; and whose line begins where. */
  readonly lines: string;
  readonly starts: readonly { at: number; memoryId: string }[];
}

type Showing = Pick<ShownReceipt, 'createdAt' | 'sessionId'>;

function indexShown(rows: readonly (ShownReceipt | ShownMemory)[]): Shown {
  const showings = new Map<string, Showing[]>();
  const sayings = new Map<string, string[]>();
  const starts: { at: number; memoryId: string }[] = [];
  let lines = '';
  for (const row of rows) {
    if (row.memoryId === null) {
      for (const key of [...row.memoryIds, ...row.fingerprints]) addTo(showings, key, row);
      continue;
    }
    for (const words of row.texts.map(wordsOf)) {
      starts.push({ at: lines.length, memoryId: row.memoryId });
      lines += ` ${words} \n`;
      addTo(sayings, words, row.memoryId);
    }
    for (const sentence of row.texts.flatMap(sentencesOf)) addTo(sayings, sentence, row.memoryId);
  }
  return { showings, sayings, lines, starts };
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Whether a memory, or a text by its fingerprint, was shown to the session of an episode before it. */
function wasShownTo({ showings }: Shown, key: string, { sessionId, createdAt }: ObservedEpisode): boolean {
  const isSame = (receipt: Showing): boolean => {
    const elapsed = createdAt.getTime() - receipt.createdAt.getTime();
    if (elapsed <= 0) return false;
    return sessionId !== null && receipt.sessionId !== null ? receipt.sessionId === sessionId : elapsed <= windowMs;
  };
  return showings.get(key)?.some(isSame) ?? false;
}

/** Two words are often the same by chance; more of them, in the same order and with nothing else, are not. */
const leastWords = 3;
/** As in "From what I know: …". */
const mostWordsBefore = 6;
const denial = /\b(?:not|no|never|nor|false|wrong|t|longer|but|except|instead)\b/;

function repeats(shown: Shown, quote: string, episode: ObservedEpisode): boolean {
  const quoted = wordsOf(quote);
  if (countWords(quoted) >= leastWords && wasSaid(shown, quoted, episode)) return true;
  const around = sentencesOf(episode.content).filter((sentence) => ` ${sentence} `.includes(` ${quoted} `));
  const carrying = (around.length > 0 ? around : sentencesOf(quote)).filter((sentence) => !preamble.has(sentence));
  return carrying.length > 0 && carrying.every((sentence) => isRepetition(shown, sentence, episode));
}

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
  const said = shown.sayings.get(words)?.some((memoryId) => wasShownTo(shown, memoryId, episode)) ?? false;
  return said || wasShownTo(shown, fingerprintOf(words), episode);
}

function isPartOfShown(shown: Shown, words: string, episode: ObservedEpisode): boolean {
  const { lines, starts } = shown;
  const sought = ` ${words} `;
  for (let at = lines.indexOf(sought); at >= 0; at = lines.indexOf(sought, at)) {
    const line = starts.findLastIndex((start) => start.at <= at);
    const { memoryId } = starts[line] ?? { memoryId: '' };
    if (wasShownTo(shown, memoryId, episode)) return true;
    at = starts[line + 1]?.at ?? lines.length;
  }
  return false;
}

function countWords(words: string): number {
  return words === '' ? 0 : words.split(' ').length;
}

/** Headings of a context, and its annotations: in brackets, at the start or the end of a line. */
const trimmings = /^#{1,6} .*$|^[ \t]*(?:- )?\[[^\]\n]{0,80}\]|\[[^\]\n]{0,120}\][ \t]*$/gm;

/** The words of each sentence. */
function sentencesOf(text: string): string[] {
  return text
    .replace(trimmings, '')
    .split(/[.!?]+(?=["')\]]*(?:\s|$))|\n+|;\s/)
    .map(wordsOf)
    .filter((words) => words !== '');
}

/** As a fingerprint sees them: lower case, whatever is between them. */
function wordsOf(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return words?.join(' ') ?? '';
}

/** What stands above the memories in a context: no news either. */
const preamble: ReadonlySet<string> = new Set(sentencesOf(blockStart));

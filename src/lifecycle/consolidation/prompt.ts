import { dataLine, enclose } from '../../shared/untrusted-text.ts';
import type { Fact, Rule } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { readOwnText } from '../../memory/episodes/segments.ts';
import { readablePredicate } from '../../memory/facts/note-key.ts';
import { referenceKey, type Memory } from '../../memory/memories.ts';
import { isSealedRow } from '../../encryption/sealing.ts';
import { recallMemoriesBatch } from '../../retrieval/recall.ts';
import { loadTokenizer, type Tokenizer } from '../../retrieval/context/tokenizers.ts';
import type { Claim, ClaimedEpisode } from './claim.ts';
import { consolidationInstructions, dataTags, type DataTag } from './instructions.ts';

export interface ConsolidationPrompt {
  system: string;
  user: string;
  /** Of both together, by the configured tokenizer; never too few. */
  tokens: number;
  /** The episodes that are in it, in the order of the claim. The others of the claim have to wait for another run. */
  episodeIds: string[];
  /** Those that would not fit into a prompt of their own. */
  tooLong: string[];
}

/**
 * What a model is asked about a claim: our instructions, what memory already knows of the same matters, and as many of
 * the episodes, the oldest first, as fit. The same claim on the same state gives the same bytes.
 */
export async function buildPrompt(context: MemoryContext, claim: Claim): Promise<ConsolidationPrompt> {
  const { maxPromptTokens } = context.config.memory.consolidation;
  const tokenizer = await loadTokenizer(context.config);
  const count = (text: string): number => countTokens(tokenizer, `${text}\n`);
  const frame = count(consolidationInstructions) + count(render({ butler: [dataLine(claim.butler)] }));
  const room = maxPromptTokens - frame;
  const { fitting, tooLong } = takeEpisodes(claim.episodes, room, count);
  const [first] = fitting;
  const known = first === undefined ? [] : await findRelevant(context, claim.butler, fitting);
  // The first episode always gets in: an episode that left its place to memories would wait for ever.
  const forMemories = Math.min(Math.floor(maxPromptTokens / 4), room - (first?.tokens ?? 0));
  const memories = takeWhileRoom(
    known.map((memory) => toLine(memory, count)),
    forMemories,
    'skip',
  );
  const episodes = takeWhileRoom(fitting, room - total(memories), 'stop');
  return {
    system: consolidationInstructions,
    user: render({
      butler: [dataLine(claim.butler)],
      existing_facts: listLines(memories, 'fact'),
      existing_rules: listLines(memories, 'rule'),
      episodes: episodes.map(({ line }) => line),
    }),
    tokens: frame + total(memories) + total(episodes),
    episodeIds: episodes.map(({ id }) => id),
    tooLong,
  };
}

interface Line {
  line: string;
  tokens: number;
}

interface EpisodeLine extends Line {
  id: string;
  content: string;
}

interface MemoryLine extends Line {
  type: Memory['type'];
}

/** As many as could be in the prompt if nothing else were, and those that could not be in any. */
function takeEpisodes(
  episodes: readonly ClaimedEpisode[],
  room: number,
  count: (text: string) => number,
): { fitting: EpisodeLine[]; tooLong: string[] } {
  const fitting: EpisodeLine[] = [];
  const tooLong: string[] = [];
  let left = room;
  for (const { id, sessionId, createdAt, observedAt, ...said } of episodes) {
    const content = readOwnText(said);
    const line = dataLine({ id, time: observedAt ?? createdAt, session: sessionId, content });
    const tokens = count(line);
    if (tokens > room) {
      tooLong.push(id);
      continue;
    }
    left -= tokens;
    if (left < 0) break;
    fitting.push({ id, content, line, tokens });
  }
  return { fitting, tooLong };
}

/** Facts and rules for each episode that are asked for. */
const memoriesPerEpisode = 8;
const mostMemories = 100;
/** Lower than that of a question: an episode is about several things, and a rule need not answer it to matter. */
const floor = 0.02;
/** Recalls made at one time. */
const recallBatch = 20;

/**
 * What memory knows about what the episodes are about, in the scopes that this butler sees: first what was the best match
 * of some episode, then what was the second best, and so on. Also what is fading: an episode may confirm it.
 */
async function findRelevant(
  context: MemoryContext,
  butler: string,
  episodes: readonly { content: string }[],
): Promise<Memory[]> {
  const found = new Map<string, { memory: Memory; bestRank: number; weight: number }>();
  for (let start = 0; start < episodes.length; start += recallBatch) {
    const recalls = episodes.slice(start, start + recallBatch).map(({ content }) => {
      return { topic: content, scope: butler, limit: memoriesPerEpisode, minConfidence: 0, floor };
    });
    for (const { results } of await recallMemoriesBatch(context, recalls)) collect(found, results);
  }
  return [...found.values()]
    .toSorted((a, b) => a.bestRank - b.bestRank || b.weight - a.weight || compareIds(a.memory, b.memory))
    .slice(0, mostMemories)
    .map(({ memory }) => memory);
}

function collect(
  found: Map<string, { memory: Memory; bestRank: number; weight: number }>,
  results: readonly { memory: Memory }[],
): void {
  for (const [rank, { memory }] of results.entries()) {
    // It may go to a server of others, which is nowhere to have what is encrypted here.
    if (isSealedRow(memory.row)) continue;
    const key = referenceKey({ type: memory.type, id: memory.row.id });
    const known = found.get(key) ?? { memory, bestRank: rank, weight: 0 };
    found.set(key, { memory, bestRank: Math.min(known.bestRank, rank), weight: known.weight + 1 / (1 + rank) });
  }
}

function compareIds(a: Memory, b: Memory): number {
  return a.row.id < b.row.id ? -1 : 1;
}

function toLine(memory: Memory, count: (text: string) => number): MemoryLine {
  const line = dataLine(memory.type === 'fact' ? describeFact(memory.row) : describeRule(memory.row as Rule));
  return { type: memory.type, line, tokens: count(line) };
}

function describeFact({ id, subject, predicate, content, permanence, scope, kind, observedAt }: Fact): object {
  return {
    id,
    subject,
    predicate: readablePredicate({ subject, predicate }),
    content,
    permanence,
    scope,
    ...(kind === 'event' && { kind, observed_at: observedAt }),
  };
}

function describeRule({ id, content, scope, maturity }: Rule): object {
  return { id, content, scope, maturity };
}

function listLines(memories: readonly MemoryLine[], type: Memory['type']): string[] {
  return memories.filter((memory) => memory.type === type).map(({ line }) => line);
}

function takeWhileRoom<L extends Line>(lines: readonly L[], room: number, whatDoesNotFit: 'stop' | 'skip'): L[] {
  const taken: L[] = [];
  let left = room;
  for (const line of lines) {
    if (line.tokens <= left) {
      taken.push(line);
      left -= line.tokens;
    } else if (whatDoesNotFit === 'stop') break;
  }
  return taken;
}

function total(lines: readonly Line[]): number {
  return lines.reduce((sum, { tokens }) => sum + tokens, 0);
}

function render(lines: Partial<Record<DataTag, readonly string[]>>): string {
  return [...dataTags.map((tag) => enclose(tag, lines[tag] ?? [])), '', 'Answer with the JSON object.'].join('\n');
}

/** The time to count an endless word grows with the square of its length; in pieces it does not, and counts no less. */
const pieceLength = 1000;

function countTokens(tokenizer: Tokenizer, text: string): number {
  let tokens = 0;
  for (let start = 0; start < text.length; start += pieceLength) {
    tokens += tokenizer.count(text.slice(start, start + pieceLength));
  }
  return tokens;
}

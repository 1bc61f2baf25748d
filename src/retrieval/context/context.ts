import { invalidInput } from '../../shared/errors.ts';
import { atPlace } from '../../memory/at-place.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';
import { requireButler } from '../../memory/reach.ts';
import { normaliseName } from '../../memory/text.ts';
import { checkOptionalUuid } from '../../memory/values.ts';
import { completeTokenBudget, matchesToFill } from '../query/defaults.ts';
import { fitBudget, type Fitted, type Line } from '../pipeline/fit.ts';
import { lineOf, longestLineOf, type MemoryToShow } from './memory-lines.ts';
import { readQuery } from '../query/query-text.ts';
import { rankForContexts, type ContextQuestion, type ContextRanking, type RankedMemory } from './rank-context.ts';
import {
  keepReceipts,
  shownOf,
  type ReceiptCandidate,
  type ReceiptDraft,
  type ReceiptDrop,
} from '../receipts/receipts.ts';
import { sectionNames, sectionOf, type SectionName } from './sections.ts';
import { Stopwatch, type Milliseconds } from '../pipeline/stopwatch.ts';
import { loadTokenizer, type TokenizerName } from './tokenizers.ts';
import type { Intent } from '../query/intent.ts';

export interface ContextInput {
  /** What the butler is about to work on. */
  triggerPrompt: string;
  /** Facts and rules are those of `global` and of this butler, episodes its own. */
  butler: string;
  /** The configured one when left out. Zero is allowed and gives an empty text. */
  tokenBudget?: number | null | undefined;
  /** As configured when left out. */
  includeEpisodes?: boolean | null | undefined;
  /** The session that is going to read it, for the receipt. */
  sessionId?: string | null | undefined;
}

export interface ContextItem extends MemoryReference {
  /** Which state of the memory the line shows. */
  version: number;
  line: string;
  tokens: number;
  score: number;
}

export interface ContextSection {
  name: SectionName;
  items: ContextItem[];
}

export interface ContextOutcome {
  /** Markdown; empty when nothing is known or nothing fits. */
  text: string;
  tokensUsed: number;
  tokenBudget: number;
  tokenizer: TokenizerName;
  receiptId: string;
  /** Those that have an item, in the order of the text. */
  sections: ContextSection[];
  intent: Intent;
}

/**
 * What a butler should know before it starts: facts, rules and recent episodes that fit into a number of tokens. Shows the
 * same bytes for the same state. It is no reference: what is shown would else be shown for ever. The receipt is part of
 * the call: a context that nobody could account for later is not given out.
 */
export async function buildContext(context: MemoryContext, input: ContextInput): Promise<ContextOutcome> {
  const assembled = await assembleContext(context, input);
  const [receiptId] = await keepReceipts(context, [receiptOf(assembled)]);
  return outcomeOf(assembled, receiptId as string);
}

const batchLimit = 50;

/** Several at once, in the round trips of one. All are checked before one is made. */
export async function buildContextBatch(
  context: MemoryContext,
  inputs: readonly ContextInput[],
): Promise<ContextOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('requests', `at most ${batchLimit}`, inputs.length);
  const prepared = inputs.map((input, place) => atPlace('requests', place, () => prepareContext(context, input)));
  const assembled = await assemble(context, prepared);
  const receiptIds = await keepReceipts(context, assembled.map(receiptOf));
  return assembled.map((one, place) => outcomeOf(one, receiptIds[place] as string));
}

/** Everything but the receipt, for who wants to know what would be shown. */
export async function assembleContext(context: MemoryContext, input: ContextInput): Promise<AssembledContext> {
  const [assembled] = await assemble(context, [prepareContext(context, input)]);
  return assembled as AssembledContext;
}

interface PreparedContext extends ContextQuestion {
  tokenBudget: number;
  sessionId: string | null;
}

/** Refuses what cannot be answered, before anything is computed. */
export function prepareContext(context: MemoryContext, input: ContextInput): PreparedContext {
  const { retrieval } = context.config.memory;
  const { text } = readQuery(input.triggerPrompt, { field: 'trigger_prompt', isExpression: false });
  const butler = requireButler(context, normaliseName('butler', input.butler));
  const withEpisodes = input.includeEpisodes ?? retrieval.context.includeEpisodes;
  const tokenBudget = completeTokenBudget(input.tokenBudget, retrieval);
  return {
    prompt: text,
    butler,
    tokenBudget,
    mostOfType: matchesToFill(tokenBudget, retrieval),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    recentEpisodes: withEpisodes ? retrieval.context.recentEpisodes : 0,
    at: context.now(),
  };
}

export interface ContextLine extends Line {
  memory: MemoryToShow;
  score: number;
}

export interface AssembledContext extends PreparedContext {
  tokenizer: TokenizerName;
  intent: Intent;
  fitted: Fitted<ContextLine>;
  candidates: ReceiptCandidate[];
  dropped: ReceiptDrop[];
  milliseconds: Milliseconds;
}

async function assemble(context: MemoryContext, prepared: readonly PreparedContext[]): Promise<AssembledContext[]> {
  const stopwatch = new Stopwatch();
  const [tokenizer, rankings] = await Promise.all([
    stopwatch.time('tokenizer', () => loadTokenizer(context.config)),
    rankForContexts(context, prepared, stopwatch),
  ]);
  const shares = context.config.memory.retrieval.context;
  const fitted = await stopwatch.time('fit', async () =>
    prepared.map(({ at, tokenBudget }, place) => {
      const lines = orderLines(rankings[place]?.ranked ?? [], at);
      return fitBudget(lines, tokenBudget, shares, tokenizer);
    }),
  );
  return prepared.map((one, place): AssembledContext => {
    const [ranking, fit] = [rankings[place] as ContextRanking, fitted[place] as Fitted<ContextLine>];
    const ranked = ranking.ranked.map(({ memory: { type, row }, scores }): ReceiptCandidate => {
      const { score, relevance, parts, composite } = scores;
      return { type, id: row.id, score, relevance, parts, composite };
    });
    const unfitting = fit.dropped.map(({ line, stage, reason }): ReceiptDrop => {
      const { type, row } = line.memory;
      return { type, id: row.id, stage, reason };
    });
    return {
      ...one,
      tokenizer: tokenizer.name,
      intent: ranking.intent,
      fitted: fit,
      candidates: [...ranked, ...ranking.candidates],
      dropped: [...unfitting, ...ranking.dropped],
      milliseconds: stopwatch.milliseconds,
    };
  });
}

function orderLines(ranked: readonly RankedMemory[], at: Date): Record<SectionName, ContextLine[]> {
  const lines = ranked.map((one) => asLine(one, at));
  const ordered = lines.toSorted((a, b) => maturityOrder(a) - maturityOrder(b) || byScore(a, b));
  const entries = sectionNames.map((name) => [name, ordered.filter(({ memory }) => sectionOf[memory.type] === name)]);
  return Object.fromEntries(entries) as Record<SectionName, ContextLine[]>;
}

function asLine({ memory, scores, isReserved, isCrowded }: RankedMemory, at: Date): ContextLine {
  let written: string | undefined;
  return {
    memory,
    score: scores.score,
    isReserved,
    isCrowded,
    longest: longestLineOf(memory),
    get text() {
      written ??= lineOf(memory, at);
      return written;
    },
  };
}

function byScore(a: ContextLine, b: ContextLine): number {
  const [first, second] = [a.memory.row, b.memory.row];
  const newer = second.createdAt.getTime() - first.createdAt.getTime();
  return b.score - a.score || newer || (first.id < second.id ? -1 : first.id > second.id ? 1 : 0);
}

/** A warning has been learned from outcomes; a candidate has not been tried yet. */
const maturities: readonly Maturity[] = ['proven', 'established', 'anti_pattern', 'candidate'];

function maturityOrder({ memory }: ContextLine): number {
  return memory.type === 'rule' ? maturities.indexOf(memory.row.maturity as Maturity) : 0;
}

function receiptOf(assembled: AssembledContext): ReceiptDraft {
  const { prompt, butler, sessionId, tokenBudget, tokenizer, intent, fitted, at, milliseconds } = assembled;
  const shown = sectionNames.flatMap((section) =>
    fitted.shown[section].map(({ line, tokens }) =>
      shownOf(line.memory, { section, line: line.text, tokens, score: line.score }),
    ),
  );
  return {
    kind: 'context',
    butler,
    sessionId,
    query: prompt,
    intent,
    candidates: assembled.candidates,
    shown,
    dropped: assembled.dropped,
    tokenBudget,
    tokensUsed: fitted.tokensUsed,
    tokenizer,
    milliseconds,
    asOf: null,
    at,
  };
}

function outcomeOf({ fitted, tokenBudget, tokenizer, intent }: AssembledContext, receiptId: string): ContextOutcome {
  const sections = sectionNames
    .filter((name) => fitted.shown[name].length > 0)
    .map((name): ContextSection => {
      const items = fitted.shown[name].map(({ line, tokens }): ContextItem => {
        const { type, row } = line.memory;
        return { type, id: row.id, version: row.version, line: line.text, tokens, score: line.score };
      });
      return { name, items };
    });
  return { text: fitted.text, tokensUsed: fitted.tokensUsed, tokenBudget, tokenizer, receiptId, sections, intent };
}

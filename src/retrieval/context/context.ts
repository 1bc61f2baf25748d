import { atPlace } from '../../memory/at-place.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import type { Sayings } from '../../memory/outdated/find-outdated.ts';
import { requireButler } from '../../memory/reach.ts';
import type { Maturity } from '../../memory/rules/rule-maturity.ts';
import { normaliseName } from '../../memory/text.ts';
import { checkOptionalUuid } from '../../memory/values.ts';
import { invalidInput } from '../../shared/errors.ts';
import { fitBudget, type Fitted, type Line } from '../pipeline/fit.ts';
import { drop, type Ranked } from '../pipeline/ranked.ts';
import { Stopwatch, type Milliseconds } from '../pipeline/stopwatch.ts';
import { completeTokenBudget, matchesToFill } from '../query/defaults.ts';
import type { Intent } from '../query/intent.ts';
import { readQuery } from '../query/query-text.ts';
import { describeShown, keepReceipts, type ReceiptDraft } from '../receipts/receipts.ts';
import { isRelevant } from '../pipeline/score.ts';
import { findConflicts, type Conflicts } from './find-conflicts.ts';
import { findSayings, leaveOutSayings, repeatsShown } from './leave-out.ts';
import { lineOf, longestLineOf, type Conflict } from './memory-lines.ts';
import {
  byScore,
  maturityOrder,
  rankForContexts,
  type ContextQuestion,
  type ContextRanking,
  type ShownMemory,
} from './rank-context.ts';
import { sectionNames, sectionOf, type SectionName } from './sections.ts';
import { loadTokenizer, type TokenizerName } from './tokenizers.ts';

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

/** One line of a context. */
export interface ContextItem extends MemoryReference {
  /** Version of the memory that the line shows. */
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
  /** Markdown; empty when nothing fits. Says so when nothing relevant is known. */
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
 * Assembles what a butler should know before it starts: facts, rules and recent episodes that fit into a number of tokens.
 * The same state gives the same bytes. It counts no reference, since what is shown would then be shown for ever. Fails if
 * the receipt cannot be kept: no context is given out that cannot be accounted for.
 */
export async function buildContext(context: MemoryContext, input: ContextInput): Promise<ContextOutcome> {
  const assembled = await assembleContext(context, input);
  const [receiptId] = await keepReceipts(context, [draftReceipt(assembled)]);
  return describeOutcome(assembled, receiptId as string);
}

const batchLimit = 50;

/** Builds several contexts in the round trips of one. Checks all inputs before it builds any. */
export async function buildContextBatch(
  context: MemoryContext,
  inputs: readonly ContextInput[],
): Promise<ContextOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('requests', `at most ${batchLimit}`, inputs.length);
  const prepared = inputs.map((input, place) => atPlace('requests', place, () => prepareContext(context, input)));
  const assembled = await assemble(context, prepared);
  const receiptIds = await keepReceipts(context, assembled.map(draftReceipt));
  return assembled.map((one, place) => describeOutcome(one, receiptIds[place] as string));
}

/** Does everything but keep the receipt: for an explanation of what would be shown. */
export async function assembleContext(context: MemoryContext, input: ContextInput): Promise<AssembledContext> {
  const [assembled] = await assemble(context, [prepareContext(context, input)]);
  return assembled as AssembledContext;
}

interface PreparedContext extends ContextQuestion {
  tokenBudget: number;
  sessionId: string | null;
}

/** Checks and completes the input of a context. */
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
  ranked: Ranked<ShownMemory>;
  /** Other facts of the context with which it may conflict. */
  conflicts: readonly Conflict[];
}

export interface AssembledContext extends PreparedContext {
  tokenizer: TokenizerName;
  intent: Intent;
  fitted: Fitted<ContextLine>;
  /** All that was ranked: what is shown, and what a stage dropped. */
  considered: Ranked<MemoryReference>[];
  milliseconds: Milliseconds;
}

/** The stages of a context: rank, leave out what is outdated, then fit into the budget. */
async function assemble(context: MemoryContext, prepared: readonly PreparedContext[]): Promise<AssembledContext[]> {
  const stopwatch = new Stopwatch();
  const [tokenizer, rankings] = await Promise.all([
    stopwatch.time('tokenizer', () => loadTokenizer(context.config)),
    rankForContexts(context, prepared, stopwatch),
  ]);
  const [sayings, conflicts] = await Promise.all([
    stopwatch.time('outdated', () => findSayings(context, prepared, rankings)),
    stopwatch.time('conflicts', () => findConflicts(context, rankings)),
  ]);
  const shares = context.config.memory.retrieval.context;
  const fitted = await stopwatch.time('fit', async () =>
    rankings.map((ranking, place) => {
      const { at, tokenBudget } = prepared[place] as PreparedContext;
      return fitRanking(ranking, sayings[place] ?? new Map(), (lines, isKnown) =>
        fitBudget(orderLines(lines, at, conflicts[place] ?? new Map()), tokenBudget, shares, tokenizer, isKnown),
      );
    }),
  );
  return prepared.map((one, place): AssembledContext => {
    const { ranking, fit } = fitted[place] as FittedRanking;
    return {
      ...one,
      tokenizer: tokenizer.name,
      intent: ranking.intent,
      fitted: fit,
      considered: [
        ...sectionNames.flatMap((name) => fit.shown[name].map(({ line }) => line.ranked)),
        ...fit.dropped.map(({ line, stage, reason }) => drop(line.ranked, stage, reason)),
        ...ranking.dropped,
      ],
      milliseconds: stopwatch.milliseconds,
    };
  });
}

interface FittedRanking {
  ranking: ContextRanking;
  fit: Fitted<ContextLine>;
}

/** Fits once more where episodes repeat what is shown: what they leave goes to others, and takes nothing away. */
function fitRanking(
  given: ContextRanking,
  sayings: ReadonlyMap<string, Sayings>,
  fitLines: (ranking: ContextRanking, isKnown: boolean) => Fitted<ContextLine>,
): FittedRanking {
  const isKnown = given.eligible.some(isRelevant);
  const ranking = leaveOutSayings(given, sayings);
  const fit = fitLines(ranking, isKnown);
  const shownIds = new Set(sectionNames.flatMap((name) => fit.shown[name].map(({ line }) => line.ranked.memory.id)));
  if (!repeatsShown(sayings, shownIds)) return { ranking, fit };
  const shorter = leaveOutSayings(given, sayings, shownIds);
  return { ranking: shorter, fit: fitLines(shorter, isKnown) };
}

function orderLines(ranking: ContextRanking, at: Date, conflicts: Conflicts): Record<SectionName, ContextLine[]> {
  const ordered = ranking.eligible.toSorted((a, b) => orderByMaturity(a) - orderByMaturity(b) || byScore(a, b));
  const entries = sectionNames.map((name) => {
    const own = ordered.filter(({ memory }) => sectionOf[memory.type] === name);
    return [name, own.map((ranked) => asLine(ranked, ranking, at, conflicts.get(ranked.memory.id) ?? []))];
  });
  return Object.fromEntries(entries) as Record<SectionName, ContextLine[]>;
}

function asLine(
  ranked: Ranked<ShownMemory>,
  { reserved, crowded }: ContextRanking,
  at: Date,
  conflicts: readonly Conflict[],
): ContextLine {
  let written: string | undefined;
  return {
    ranked,
    conflicts,
    isReserved: reserved.has(ranked),
    isCrowded: crowded.has(ranked),
    isAside: ranked.memory.type === 'fact' && !isRelevant(ranked),
    longest: longestLineOf(ranked.memory, conflicts),
    get text() {
      written ??= lineOf(ranked.memory, at, conflicts);
      return written;
    },
  };
}

function orderByMaturity({ memory }: Ranked<ShownMemory>): number {
  return memory.type === 'rule' ? maturityOrder.indexOf(memory.row.maturity as Maturity) : 0;
}

function draftReceipt(assembled: AssembledContext): ReceiptDraft {
  const { prompt, butler, sessionId, tokenBudget, tokenizer, intent, fitted, at, milliseconds } = assembled;
  const shown = sectionNames.flatMap((section) =>
    fitted.shown[section].map(({ line, tokens }) =>
      describeShown(line.ranked, { section, line: line.text, tokens, conflicts: line.conflicts }),
    ),
  );
  return {
    kind: 'context',
    butler,
    sessionId,
    query: prompt,
    intent,
    considered: assembled.considered,
    shown,
    tokenBudget,
    tokensUsed: fitted.tokensUsed,
    tokenizer,
    milliseconds,
    asOf: null,
    at,
  };
}

function describeOutcome(
  { fitted, tokenBudget, tokenizer, intent }: AssembledContext,
  receiptId: string,
): ContextOutcome {
  const sections = sectionNames
    .filter((name) => fitted.shown[name].length > 0)
    .map((name): ContextSection => {
      const items = fitted.shown[name].map(({ line, tokens }): ContextItem => {
        const { memory, score } = line.ranked;
        return { type: memory.type, id: memory.id, version: memory.row.version, line: line.text, tokens, score };
      });
      return { name, items };
    });
  return { text: fitted.text, tokensUsed: fitted.tokensUsed, tokenBudget, tokenizer, receiptId, sections, intent };
}

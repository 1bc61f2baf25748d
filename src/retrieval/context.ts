import { selectStandingMemories, type StandingRow } from '../db/sql/standing-memories.ts';
import type { CandidateRow } from '../db/sql/search-candidates.ts';
import { invalidInput } from '../errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { MemoryReference } from '../memory/links.ts';
import type { Memory } from '../memory/memories.ts';
import type { Maturity } from '../memory/rule-maturity.ts';
import { rowOf } from '../memory/snapshots.ts';
import { normaliseName } from '../memory/text.ts';
import { checkOptionalUuid } from '../memory/values.ts';
import { completeTokenBudget } from './defaults.ts';
import { completeFilter } from './filter.ts';
import { fitBudget, type Fitted, type Line } from './fit-budget.ts';
import { identityFacts } from './identity.ts';
import { loadMemories } from './load-memories.ts';
import { lineOf } from './memory-lines.ts';
import { readQuery } from './query-text.ts';
import { recallMemories, type ConsideredForRecall, type RecallOutcome } from './recall.ts';
import { keepReceipts, shownOf, type ReceiptCandidate, type ReceiptDraft, type ReceiptDrop } from './receipts.ts';
import { recency, scorePartsOf, weightedScore } from './score.ts';
import { sectionNames, sectionOf, type SectionName } from './sections.ts';
import { Stopwatch, type Milliseconds } from './stopwatch.ts';
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
  intent: string;
}

/**
 * What a butler should know before it starts: facts, rules and recent episodes that fit into a number of tokens. Shows the
 * same bytes for the same state. It is no reference: what is shown would else be shown for ever. The receipt is part of
 * the call: a context that nobody could account for later is not given out.
 */
export async function buildContext(context: MemoryContext, input: ContextInput): Promise<ContextOutcome> {
  const assembled = await assemble(context, prepare(context, input));
  const [receiptId] = await keepReceipts(context, [receiptOf(assembled)]);
  return outcomeOf(assembled, receiptId as string);
}

const batchLimit = 50;

/** Several at once. All are checked before one is made; their receipts are kept together. */
export async function buildContextBatch(
  context: MemoryContext,
  inputs: readonly ContextInput[],
): Promise<ContextOutcome[]> {
  if (inputs.length > batchLimit) throw invalidInput('contexts', `at most ${batchLimit}`, inputs.length);
  const prepared = inputs.map((input) => prepare(context, input));
  const assembled = await Promise.all(prepared.map((one) => assemble(context, one)));
  const receiptIds = await keepReceipts(context, assembled.map(receiptOf));
  return assembled.map((one, place) => outcomeOf(one, receiptIds[place] as string));
}

/** Everything but the receipt, for who wants to know what would be shown. */
export async function assembleContext(context: MemoryContext, input: ContextInput): Promise<AssembledContext> {
  return assemble(context, prepare(context, input));
}

interface PreparedContext {
  prompt: string;
  butler: string;
  tokenBudget: number;
  sessionId: string | null;
  recentEpisodes: number;
  at: Date;
}

/** Refuses what cannot be answered, before anything is computed. */
function prepare(context: MemoryContext, input: ContextInput): PreparedContext {
  const { retrieval } = context.config.memory;
  const { text } = readQuery(input.triggerPrompt, { field: 'trigger_prompt', isExpression: false });
  const butler = normaliseName('butler', input.butler);
  completeFilter(context, { scope: butler });
  const withEpisodes = input.includeEpisodes ?? retrieval.context.includeEpisodes;
  return {
    prompt: text,
    butler,
    tokenBudget: completeTokenBudget(input.tokenBudget, retrieval),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    recentEpisodes: withEpisodes ? retrieval.context.recentEpisodes : 0,
    at: context.now(),
  };
}

export interface ContextLine extends Line {
  memory: Memory;
  score: number;
}

export interface AssembledContext extends PreparedContext {
  tokenizer: TokenizerName;
  intent: string;
  fitted: Fitted<ContextLine>;
  candidates: ReceiptCandidate[];
  dropped: ReceiptDrop[];
  milliseconds: Milliseconds;
}

async function assemble(context: MemoryContext, prepared: PreparedContext): Promise<AssembledContext> {
  const { retrieval } = context.config.memory;
  const stopwatch = new Stopwatch();
  const [tokenizer, standing, recalled] = await Promise.all([
    stopwatch.time('tokenizer', () => loadTokenizer(context.config)),
    stopwatch.time('standing', () => findStanding(context, prepared)),
    recallMemories(context, {
      topic: prepared.prompt,
      scope: prepared.butler,
      types: ['fact', 'rule'],
      limit: retrieval.candidates,
    }),
  ]);
  const ranked = rank(context, prepared, standing, recalled);
  const memories = await stopwatch.time('load', () => loadRanked(context, ranked, recalled));
  const { fitted, gone } = await stopwatch.time('fit', async () => {
    const lines = orderLines(ranked, memories, prepared.at);
    return {
      fitted: fitBudget(lines, prepared.tokenBudget, retrieval.context, tokenizer),
      gone: ranked.filter(({ id }) => !memories.has(id)),
    };
  });
  return {
    ...prepared,
    tokenizer: tokenizer.name,
    intent: recalled.intent,
    fitted,
    ...accountOf(ranked, gone, recalled, fitted, retrieval.candidates),
    milliseconds: { ...recalled.milliseconds, ...addUp(recalled.milliseconds, stopwatch.milliseconds) },
  };
}

function addUp(first: Milliseconds, second: Milliseconds): Milliseconds {
  const sums = Object.entries(second).map(([stage, milliseconds]) => [stage, milliseconds + (first[stage] ?? 0)]);
  return Object.fromEntries(sums) as Milliseconds;
}

interface Standing {
  memory: Memory;
  referencedAt: number | null;
}

async function findStanding(
  context: MemoryContext,
  { butler, recentEpisodes, at }: PreparedContext,
): Promise<Standing[]> {
  const filter = completeFilter(context, { types: ['fact', 'episode'], scope: butler });
  const rows = await context.db
    .tenant(context.principal.tenantId)
    .$queryRaw<StandingRow[]>(selectStandingMemories({ filter, identity: identityFacts, recentEpisodes }));
  return rows.map(({ type, snapshot, referenced_at: referencedAt }) => {
    return { memory: { type, row: rowOf(type, snapshot, at) } as Memory, referencedAt };
  });
}

interface Ranked extends ReceiptCandidate {
  isReserved: boolean;
  /** Known without loading it. */
  memory: Memory | null;
}

/** What may be shown: what recall found worth it, up to a number of each type, and what stands in any context. */
function rank(
  context: MemoryContext,
  { at }: PreparedContext,
  standing: readonly Standing[],
  recalled: RecallOutcome,
): Ranked[] {
  const { retrieval } = context.config.memory;
  const considered = new Map(recalled.considered.map((one) => [one.id, one]));
  const always = standing.map((one): Ranked => {
    const { memory } = one;
    const reference = { type: memory.type, id: memory.row.id };
    const found = considered.get(memory.row.id);
    const common = { ...reference, memory, isReserved: memory.type === 'fact' };
    if (memory.type === 'episode') return { ...common, ...recencyOf(one, at, retrieval.recencyHalfLifeDays) };
    if (found !== undefined) return { ...common, ...scoresOf(found) };
    const composite = scorePartsOf(candidateOf(one), 0, at, retrieval);
    return { ...common, score: weightedScore(composite, retrieval), relevance: 0, parts: null, composite };
  });
  const reserved = new Set(always.map(({ id }) => id));
  const matching = eligible(recalled, retrieval.candidates)
    .filter(({ id }) => !reserved.has(id))
    .map((one): Ranked => ({ type: one.type, id: one.id, ...scoresOf(one), isReserved: false, memory: null }));
  return [...always, ...matching];
}

/** Rules must not be crowded out by facts, nor facts by rules: the limit of recall counts both, this one each. */
function eligible({ considered }: RecallOutcome, mostOfType: number): ConsideredForRecall[] {
  const passed = considered.filter(({ droppedBy }) => droppedBy === null || droppedBy === 'limit');
  return (['fact', 'rule'] as const).flatMap((wanted) => {
    return passed.filter(({ type }) => type === wanted).slice(0, mostOfType);
  });
}

type Scores = Pick<ReceiptCandidate, 'score' | 'relevance' | 'parts' | 'composite'>;

function scoresOf({ score, relevance, parts, composite }: ConsideredForRecall): Scores {
  return { score, relevance, parts, composite };
}

/** The newest first: an episode is in a context for having just happened, and not for what it is about. */
function recencyOf({ memory }: Standing, at: Date, halfLifeDays: number): Scores {
  const { createdAt } = memory.row;
  const happenedAt = memory.type === 'rule' ? createdAt : (memory.row.observedAt ?? createdAt);
  const score = recency({ created_at: happenedAt.getTime(), referenced_at: null }, at, halfLifeDays);
  return { score, relevance: 0, parts: null, composite: null };
}

/** What scores it, as a search that it does not match would bring it. */
function candidateOf({ memory, referencedAt }: Standing): CandidateRow {
  const { type, row } = memory;
  if (type === 'episode') throw new TypeError('an episode is ranked by its time alone');
  return {
    type,
    id: row.id,
    created_at: row.createdAt.getTime(),
    referenced_at: referencedAt,
    confirmed_at: row.lastConfirmedAt?.getTime() ?? null,
    importance: row.importance,
    confidence: row.confidence,
    decay_rate: row.decayRate,
    maturity: type === 'rule' ? row.maturity : null,
  } as CandidateRow;
}

async function loadRanked(
  context: MemoryContext,
  ranked: readonly Ranked[],
  { results }: RecallOutcome,
): Promise<Map<string, Memory>> {
  const known = new Map(results.map(({ memory }) => [memory.row.id, memory]));
  for (const { id, memory } of ranked) if (memory !== null) known.set(id, memory);
  const unknown = ranked.filter(({ id }) => !known.has(id));
  for (const [id, memory] of await loadMemories(context, unknown)) known.set(id, memory);
  return known;
}

function orderLines(
  ranked: readonly Ranked[],
  memories: ReadonlyMap<string, Memory>,
  at: Date,
): Record<SectionName, ContextLine[]> {
  const lines = ranked.flatMap(({ id, score, isReserved }): ContextLine[] => {
    const memory = memories.get(id);
    return memory === undefined ? [] : [{ memory, score, isReserved, text: lineOf(memory, at) }];
  });
  const ordered = lines.toSorted((a, b) => maturityOrder(a) - maturityOrder(b) || byScore(a, b));
  const entries = sectionNames.map((name) => [name, ordered.filter(({ memory }) => sectionOf[memory.type] === name)]);
  return Object.fromEntries(entries) as Record<SectionName, ContextLine[]>;
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

/** What was ranked, and where each that is not shown was dropped. */
function accountOf(
  ranked: readonly Ranked[],
  gone: readonly Ranked[],
  recalled: RecallOutcome,
  fitted: Fitted<ContextLine>,
  mostOfType: number,
): Pick<AssembledContext, 'candidates' | 'dropped'> {
  const kept = new Set(ranked.map(({ id }) => id));
  const others = recalled.considered.filter(({ id }) => !kept.has(id));
  return {
    candidates: [
      ...ranked.map(({ isReserved: _, memory: __, ...candidate }) => candidate),
      ...others.map((one) => ({ type: one.type, id: one.id, ...scoresOf(one) })),
    ],
    dropped: [
      ...fitted.dropped.map(({ line, stage, reason }) => ({ ...referenceOf(line), stage, reason })),
      ...gone.map(({ type, id }) => ({ type, id, stage: 'not_found', reason: 'it was deleted meanwhile' })),
      ...others.map((one): ReceiptDrop => {
        const stage = one.droppedBy ?? 'limit';
        const reason = stage === 'limit' ? `not among the best ${mostOfType} of its type` : null;
        return { type: one.type, id: one.id, stage, reason };
      }),
    ],
  };
}

function referenceOf({ memory }: ContextLine): MemoryReference {
  return { type: memory.type, id: memory.row.id };
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
    at,
  };
}

function outcomeOf({ fitted, tokenBudget, tokenizer, intent }: AssembledContext, receiptId: string): ContextOutcome {
  const sections = sectionNames
    .filter((name) => fitted.shown[name].length > 0)
    .map((name): ContextSection => {
      const items = fitted.shown[name].map(({ line, tokens }): ContextItem => {
        return {
          ...referenceOf(line),
          version: line.memory.row.version,
          line: line.text,
          tokens,
          score: line.score,
        };
      });
      return { name, items };
    });
  return { text: fitted.text, tokensUsed: fitted.tokensUsed, tokenBudget, tokenizer, receiptId, sections, intent };
}

import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { insertReceipts, type NewReceiptRow } from '../../db/sql/insert-receipts.ts';
import { selectReceiptsOf } from '../../db/sql/receipts-of.ts';
import type { MemoryType } from '../../db/tables.ts';
import { modelKey } from '../../embedding/embedder.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { ContextReceipt } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { referenceKey } from '../../memory/memories.ts';
import { endOfLife, retentionOf } from '../../memory/episodes/retention.ts';
import { isSealedRow } from '../../memory/sealing.ts';
import { checkLimit, checkOptionalUuid, checkUuid } from '../../memory/values.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { MatchParts } from '../pipeline/fuse.ts';
import { searchedModel } from '../query/query-vector.ts';
import {
  keepCandidate,
  keepChoice,
  keepDrops,
  readCandidates,
  readChosen,
  readDropped,
  type RankedCandidate,
} from './receipt-form.ts';
import type { ConsideredForRecall, RecallOutcome } from '../recall.ts';
import type { CompositeParts } from '../pipeline/score.ts';
import type { Considered, SearchOutcome } from '../search.ts';
import { blockForm, type SectionName } from '../context/sections.ts';
import type { Milliseconds } from '../pipeline/stopwatch.ts';
import type { DropStage } from '../pipeline/stages.ts';
import { wordsOf } from '../words-of.ts';

export type ReceiptKind = 'context' | 'recall' | 'search';

/** A memory that was ranked, and by what. */
export interface ReceiptCandidate extends MemoryReference {
  score: number;
  relevance: number;
  /** Null for what is in a context without having been searched for. */
  parts: MatchParts | null;
  /** Null where the score is no composite. */
  composite: CompositeParts | null;
}

/** A memory that was shown, and in which state. */
export interface ReceiptChoice extends MemoryReference {
  version: number;
  score: number;
  /** Of a context only, as are the next two. */
  section: SectionName | null;
  tokens: number | null;
  /** Of the line, so that a replay knows whether it is the same. Null also for what is sealed. */
  lineDigest: string | null;
}

/** A memory that was ranked and not shown, with the stage that dropped it. */
export interface ReceiptDrop extends MemoryReference {
  stage: DropStage;
  reason: string | null;
}

/** How many more were dropped by a stage than the receipt names. */
export interface ReceiptDropCount {
  stage: DropStage;
  count: number;
}

export interface Receipt extends Omit<
  ContextReceipt,
  'candidates' | 'chosen' | 'dropped' | 'stageMilliseconds' | 'kind'
> {
  kind: ReceiptKind;
  candidates: ReceiptCandidate[];
  chosen: ReceiptChoice[];
  dropped: ReceiptDrop[];
  droppedUnnamed: ReceiptDropCount[];
  stageMilliseconds: Milliseconds;
}

export interface Shown {
  choice: ReceiptChoice;
  /** Null for what is sealed: few things can be said of an illness, and a digest of each is quickly made. */
  fingerprint: string | null;
}

export interface ReceiptDraft {
  kind: ReceiptKind;
  butler: string | null;
  sessionId: string | null;
  query: string;
  intent: string | null;
  candidates: readonly RankedCandidate[];
  shown: readonly Shown[];
  dropped: readonly ReceiptDrop[];
  tokenBudget: number | null;
  tokensUsed: number | null;
  tokenizer: string | null;
  milliseconds: Milliseconds;
  /** The past moment that was asked about; null for the present. */
  asOf: Date | null;
  at: Date;
}

export function shownOf(
  { type, row }: ShownMemory,
  { section = null, line = null, tokens = null, score }: ShownDetails,
): Shown {
  const { id, version, content } = row;
  const isSealed = isSealedRow(row);
  const lineDigest = line === null || isSealed ? null : digestOf(line);
  const fingerprint = isSealed ? null : fingerprintOf(content);
  return { choice: { type, id, version, score, section, tokens, lineDigest }, fingerprint };
}

interface ShownMemory {
  type: MemoryType;
  row: { id: string; version: number; content: string };
}

interface ShownDetails {
  score: number;
  section?: SectionName | null;
  line?: string | null;
  tokens?: number | null;
}

export interface ReceiptSubject {
  kind: 'recall' | 'search';
  butler?: string | null | undefined;
  sessionId?: string | null | undefined;
  /** The past moment that was asked about. */
  asOf?: Date | null | undefined;
}

/** What a recall or a search returned and why, to be kept so that it can be opened again. */
export function draftOf(
  context: MemoryContext,
  outcome: RecallOutcome | SearchOutcome,
  about: ReceiptSubject,
): ReceiptDraft {
  const dropped = outcome.considered.flatMap(({ type, id, droppedBy }): ReceiptDrop[] =>
    droppedBy === null ? [] : [{ type, id, stage: droppedBy, reason: null }],
  );
  return {
    kind: about.kind,
    // Not the butler of somebody who works for all: what they were shown is more than it may know of.
    butler: about.butler ?? onlyButlerOf(context),
    sessionId: checkOptionalUuid('session_id', about.sessionId),
    query: outcome.query,
    intent: outcome.intent,
    candidates: outcome.considered,
    shown: outcome.results.map(({ memory, score }) => shownOf(memory, { score })),
    dropped,
    tokenBudget: null,
    tokensUsed: null,
    tokenizer: null,
    milliseconds: outcome.milliseconds,
    asOf: about.asOf ?? null,
    at: context.now(),
  };
}

/** A search ranks by its match alone: its score is no composite. */
export function compositeOf(considered: Considered | ConsideredForRecall): CompositeParts | null {
  return 'composite' in considered ? considered.composite : null;
}

/**
 * One statement for all of them, in one round trip. It does not wait for the disk: whoever asks finds a receipt as soon
 * as its answer is there, and only a crash of the database's machine within the same second can lose it.
 */
export async function keepReceipts(context: MemoryContext, drafts: readonly ReceiptDraft[]): Promise<string[]> {
  if (drafts.length === 0) return [];
  const rows = drafts.map((draft) => rowOfDraft(context, draft));
  // Who may only read is shown something too, and the receipt says what.
  const settings = { synchronous_commit: 'off', transaction_read_only: 'off' };
  await context.db.roundTrip([insertReceipts(rows)], settings);
  return rows.map(({ id }) => id);
}

function rowOfDraft(context: MemoryContext, draft: ReceiptDraft): NewReceiptRow {
  const { kind, butler, sessionId, query, intent, shown, tokenBudget, tokensUsed, tokenizer, asOf, at } = draft;
  const { receiptTtlDays, receiptCandidates } = context.config.memory.retrieval;
  const memoryIds = shown.map(({ choice }) => choice.id);
  const redactor = createRedactor(context);
  return {
    kind,
    butler: butler === null ? null : redactor.mask(butler),
    sessionId,
    query: redactor.mask(query),
    intent,
    tokenBudget,
    tokensUsed,
    tokenizer,
    asOf,
    ...abridge(draft, memoryIds, receiptCandidates),
    tenantId: context.principal.tenantId,
    id: uuidv7(),
    requestId: context.requestContext.requestId,
    chosen: shown.map(({ choice }) => keepChoice(choice)),
    memoryIds,
    fingerprints: [...new Set(shown.flatMap(({ fingerprint }) => fingerprint ?? []))],
    configurationDigest: configurationDigest(context),
    stageMilliseconds: draft.milliseconds,
    createdAt: at,
    expiresAt: endOfLife(at, receiptTtlDays, retentionOf(context).receipts),
  };
}

/** All that was shown; of the rest the best ones, and how many more each stage dropped. */
function abridge(
  { candidates, dropped }: ReceiptDraft,
  shownIds: readonly string[],
  most: number,
): Pick<NewReceiptRow, 'candidates' | 'dropped'> {
  const shown = new Set(shownIds);
  const named = new Set<string>();
  const kept: object[] = [];
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    if (!shown.has(candidate.id)) {
      if (named.size >= most) continue;
      named.add(candidate.id);
    }
    kept.push(keepCandidate(candidate));
  }
  const drops: ReceiptDrop[] = [];
  const unnamed = new Map<DropStage, number>();
  for (const drop of dropped) {
    if (named.has(drop.id)) drops.push(drop);
    else unnamed.set(drop.stage, (unnamed.get(drop.stage) ?? 0) + 1);
  }
  return { candidates: kept, dropped: keepDrops(drops, unnamed) };
}

/** By what one tells the same text again, however it is spaced, cased or punctuated. */
export function fingerprintOf(text: string): string {
  const words = wordsOf(text.normalize('NFKC'));
  return digestOf(words.length === 0 ? text : words.join(' '));
}

export function digestOf(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

const settingsDigests = new WeakMap<object, string>();

/** Two answers with the same digest were ranked, filtered and laid out by the same settings and the same model. */
function configurationDigest(context: MemoryContext): string {
  const { retrieval, facts } = context.config.memory;
  const settings = settingsDigests.get(retrieval) ?? digestOf(JSON.stringify([blockForm, retrieval, facts]));
  settingsDigests.set(retrieval, settings);
  return digestOf(`${settings} ${modelKey(searchedModel(context))}`);
}

/** Throws NOT_FOUND for one that is unknown, has expired, or is another butler's. */
export async function getReceipt(context: MemoryContext, id: string): Promise<Receipt> {
  const [receipt] = await loadReceipts(context, [checkUuid('receipt_id', id)]);
  if (receipt === undefined) {
    throw new MemoryError('NOT_FOUND', `receipt ${id} is not there`, {
      hint: `A receipt is kept for ${context.config.memory.retrieval.receiptTtlDays} days.`,
    });
  }
  return receipt;
}

/** Those of them that are there, in no particular order. */
export async function loadReceipts(context: MemoryContext, ids: readonly string[]): Promise<Receipt[]> {
  const { tenantId } = context.principal;
  const butler = onlyButlerOf(context);
  const rows = await context.db.client.contextReceipt.findMany({
    where: { tenantId, id: { in: [...ids] }, expiresAt: { gt: context.now() }, ...(butler !== null && { butler }) },
  });
  return rows.map(receiptOf);
}

function receiptOf(row: ContextReceipt): Receipt {
  const candidates = readCandidates(row.candidates);
  return {
    ...row,
    kind: row.kind as ReceiptKind,
    candidates,
    chosen: readChosen(row.chosen, row.memoryIds),
    ...readDropped(row.dropped, candidates),
    stageMilliseconds: row.stageMilliseconds as Milliseconds,
  };
}

/** A receipt in short, as one of those that showed a memory. */
export interface ReceiptSummary extends Pick<
  Receipt,
  'id' | 'kind' | 'butler' | 'sessionId' | 'requestId' | 'query' | 'intent' | 'tokenBudget' | 'tokensUsed'
> {
  /** The past moment that was asked about; null for the present. */
  asOf: Date | null;
  createdAt: Date;
  expiresAt: Date;
  /** The state of the memory that it showed. */
  version: number | null;
}

const mostReceipts = 1000;

/** Every context, recall and search that showed a memory, newest first, under the key of each. One statement. */
export async function listReceiptsOf(
  context: MemoryContext,
  references: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, ReceiptSummary[]>> {
  const { tenantId } = context.principal;
  const query = selectReceiptsOf({
    tenantId,
    references: references.map(({ type, id }) => ({ type, id: checkUuid('id', id) })),
    butler: onlyButlerOf(context),
    at: context.now(),
    limit: checkLimit('limit', limit, limit, mostReceipts),
  });
  const receipts = new Map<string, ReceiptSummary[]>();
  if (references.length === 0) return receipts;
  const rows = await context.db.client.$queryRaw<(ReceiptSummary & { type: MemoryType; memoryId: string })[]>(query);
  for (const { type, memoryId, ...receipt } of rows) {
    const key = referenceKey({ type, id: memoryId });
    receipts.set(key, [...(receipts.get(key) ?? []), receipt]);
  }
  return receipts;
}

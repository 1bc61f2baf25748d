import { hash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import {
  insertReceipts,
  listReceiptsOfMemories,
  type NewReceiptRow,
  type ReceiptOfMemory,
} from '../../db/queries/receipts.ts';
import { modelKey } from '../../embedding/embedder.ts';
import type { ContextReceipt } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { endOfLife, retentionOf } from '../../memory/episodes/retention.ts';
import type { MemoryReference } from '../../memory/links/links.ts';
import { referenceKey } from '../../memory/memories.ts';
import type { Span } from '../../memory/spans.ts';
import { onlyButlerOf } from '../../memory/reach.ts';
import { isSealedRow } from '../../encryption/sealing.ts';
import { checkLimit, checkOptionalUuid, checkUuid } from '../../memory/values.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { MemoryError } from '../../shared/errors.ts';
import { findWords } from '../../shared/words.ts';
import type { Conflict } from '../context/memory-lines.ts';
import { blockForm, type SectionName } from '../context/sections.ts';
import { isKept, type DropStage, type Ranked } from '../pipeline/ranked.ts';
import type { Milliseconds } from '../pipeline/stopwatch.ts';
import { searchedModel } from '../query/query-vector.ts';
import type { SearchOutcome } from '../search.ts';
import {
  readChosen,
  readRanked,
  writeCandidate,
  writeChoice,
  writeDrops,
  type ReceiptChoice,
  type ReceiptDropCount,
} from './receipt-form.ts';

export type ReceiptKind = 'context' | 'recall' | 'search';

export interface Receipt extends Omit<
  ContextReceipt,
  'candidates' | 'chosen' | 'dropped' | 'stageMilliseconds' | 'kind'
> {
  kind: ReceiptKind;
  /** What was ranked, best first: all that was shown, and the best of what a stage dropped. */
  candidates: Ranked<MemoryReference>[];
  chosen: ReceiptChoice[];
  droppedUnnamed: ReceiptDropCount[];
  stageMilliseconds: Milliseconds;
}

/** Returns the candidates that a stage dropped. */
export function listDropped({ candidates }: Receipt): Ranked<MemoryReference>[] {
  return candidates.filter((one) => !isKept(one));
}

export interface Shown {
  choice: ReceiptChoice;
  /** Null for a sealed fact: so few things can be said of an illness that a digest of each is quickly made. */
  fingerprint: string | null;
}

export interface ReceiptDraft {
  kind: ReceiptKind;
  butler: string | null;
  sessionId: string | null;
  query: string;
  intent: string | null;
  /** All that was ranked. */
  considered: readonly Ranked<MemoryReference>[];
  shown: readonly Shown[];
  tokenBudget: number | null;
  tokensUsed: number | null;
  tokenizer: string | null;
  milliseconds: Milliseconds;
  /** The past moment that was asked about; null for the present. */
  asOf: Date | null;
  at: Date;
}

interface ShownLine {
  section: SectionName;
  line: string;
  tokens: number;
  conflicts: readonly Conflict[];
}

/** Describes a memory that is shown; `line` is its line in a context. */
export function describeShown(
  {
    memory: { type, id, row, leftOut = [] },
    score,
  }: {
    memory: MemoryReference & { row: { version: number; content: string }; leftOut?: readonly Span[] };
    score: number;
  },
  line: ShownLine | null = null,
): Shown {
  const isSealed = isSealedRow(row);
  const lineDigest = line === null || isSealed ? null : digestOf(line.line);
  const [section, tokens, conflicts] = [line?.section ?? null, line?.tokens ?? null, line?.conflicts ?? []];
  return {
    choice: { type, id, version: row.version, score, section, tokens, lineDigest, leftOut, conflicts },
    fingerprint: isSealed ? null : fingerprintOf(row.content),
  };
}

export interface ReceiptSubject {
  kind: 'recall' | 'search';
  butler?: string | null | undefined;
  sessionId?: string | null | undefined;
  /** The past moment that was asked about. */
  asOf?: Date | null | undefined;
}

/** Drafts the receipt of a recall or search: what it returned and why. */
export function draftReceipt(context: MemoryContext, outcome: SearchOutcome, about: ReceiptSubject): ReceiptDraft {
  return {
    kind: about.kind,
    // Not the butler of an operator, who was shown more than one butler may know.
    butler: about.butler ?? onlyButlerOf(context),
    sessionId: checkOptionalUuid('session_id', about.sessionId),
    query: outcome.query,
    intent: outcome.intent,
    considered: outcome.considered,
    shown: outcome.results.map((result) => describeShown(result)),
    tokenBudget: null,
    tokensUsed: null,
    tokenizer: null,
    milliseconds: outcome.milliseconds,
    asOf: about.asOf ?? null,
    at: context.now(),
  };
}

/**
 * Stores receipts with one statement. It does not wait for the disk: a receipt can be read as soon as its answer is
 * there, and only a crash of the database's machine within the same second can lose it.
 */
export async function keepReceipts(context: MemoryContext, drafts: readonly ReceiptDraft[]): Promise<string[]> {
  if (drafts.length === 0) return [];
  const rows = drafts.map((draft) => describeRow(context, draft));
  await insertReceipts(context.db, rows);
  return rows.map(({ id }) => id);
}

function describeRow(context: MemoryContext, draft: ReceiptDraft): NewReceiptRow {
  const { kind, butler, sessionId, query, intent, shown, tokenBudget, tokensUsed, tokenizer, asOf, at } = draft;
  const { receiptTtlDays, receiptCandidates } = context.config.memory.retrieval;
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
    ...abridge(draft, receiptCandidates),
    tenantId: context.principal.tenantId,
    id: uuidv7(),
    requestId: context.requestContext.requestId,
    chosen: shown.map(({ choice }) => writeChoice(choice)),
    memoryIds: shown.map(({ choice }) => choice.id),
    fingerprints: [...new Set(shown.flatMap(({ fingerprint }) => fingerprint ?? []))],
    configurationDigest: digestConfiguration(context),
    stageMilliseconds: draft.milliseconds,
    createdAt: at,
    expiresAt: endOfLife(at, receiptTtlDays, retentionOf(context).receipts),
  };
}

/** Keeps all that was shown, the best of what was dropped, and how many more each stage dropped. */
function abridge({ considered }: ReceiptDraft, most: number): Pick<NewReceiptRow, 'candidates' | 'dropped'> {
  const dropped = considered.filter((one) => !isKept(one));
  const named = new Set(dropped.toSorted((a, b) => b.score - a.score).slice(0, most));
  const unnamed = new Map<DropStage, number>();
  for (const one of dropped) {
    if (one.droppedBy !== null && !named.has(one)) unnamed.set(one.droppedBy, (unnamed.get(one.droppedBy) ?? 0) + 1);
  }
  const kept = considered.filter((one) => isKept(one) || named.has(one)).toSorted((a, b) => b.score - a.score);
  return {
    candidates: kept.map(writeCandidate),
    dropped: writeDrops(
      dropped.filter((one) => named.has(one)),
      unnamed,
    ),
  };
}

/** Digests the words of a text, so that it is recognised however it is spaced, cased or punctuated. */
export function fingerprintOf(text: string): string {
  const words = findWords(text.normalize('NFKC'));
  return digestOf(words.length === 0 ? text : words.join(' '));
}

export function digestOf(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

const settingsDigests = new WeakMap<object, string>();

/** Two answers with the same digest were ranked, filtered and laid out by the same settings and the same model. */
function digestConfiguration(context: MemoryContext): string {
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

async function loadReceipts(context: MemoryContext, ids: readonly string[]): Promise<Receipt[]> {
  const { tenantId } = context.principal;
  const butler = onlyButlerOf(context);
  const rows = await context.db.client.contextReceipt.findMany({
    where: { tenantId, id: { in: [...ids] }, expiresAt: { gt: context.now() }, ...(butler !== null && { butler }) },
  });
  return rows.map(({ candidates, dropped, ...row }) => ({
    ...row,
    kind: row.kind as ReceiptKind,
    ...readRanked(candidates, dropped),
    chosen: readChosen(row.chosen, row.memoryIds),
    stageMilliseconds: row.stageMilliseconds as Milliseconds,
  }));
}

/** A receipt in short, as one of those that showed a memory. */
export type ReceiptSummary = Omit<ReceiptOfMemory, 'type' | 'memoryId' | 'kind'> & { kind: ReceiptKind };

const mostReceipts = 1000;

/** Lists every context, recall and search that showed each memory, newest first, by the memory's key. One statement. */
export async function listReceiptsOf(
  context: MemoryContext,
  references: readonly MemoryReference[],
  limit: number,
): Promise<Map<string, ReceiptSummary[]>> {
  const receipts = new Map<string, ReceiptSummary[]>();
  if (references.length === 0) return receipts;
  const rows = await listReceiptsOfMemories(context.db.client, {
    references: references.map(({ type, id }) => ({ type, id: checkUuid('id', id) })),
    butler: onlyButlerOf(context),
    at: context.now(),
    limit: checkLimit('limit', limit, limit, mostReceipts),
  });
  for (const { type, memoryId, ...receipt } of rows) {
    const key = referenceKey({ type, id: memoryId });
    receipts.set(key, [...(receipts.get(key) ?? []), { ...receipt, kind: receipt.kind as ReceiptKind }]);
  }
  return receipts;
}

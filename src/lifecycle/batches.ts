import type { Transaction } from '../db/database.ts';
import { announceEvents } from '../db/events/event-signal.ts';
import { changeMemories, type ChangedMemory, type MemoriesChange } from '../db/sql/change-memories.ts';
import type { EventOrigin } from '../db/sql/event-rows.ts';
import type { MemoryType } from '../db/tables.ts';
import { nextMemoryId } from '../db/sql/next-memory-id.ts';
import type { PageOfDue } from '../db/sql/page-of-due.ts';
import { isOutage } from '../shared/errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { actorOf, type MemoryContext } from '../memory/context.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

/** One thing that a sweep does to the memories of one type. */
export interface Stage {
  readonly type: MemoryType;
  /** Looks at the next so many memories by id, and says which are due for what. */
  find(after: string, limit: number): Prisma.Sql;
  /** Changes those that still are, and tells which. With `wait` for rows that others hold; else without them. */
  change(ids: readonly string[], wait: boolean): Promise<ChangedMemory[]>;
}

/** A sweep under way: what it did so far, by the outcomes that it can have. */
export interface Sweep {
  readonly context: MemoryContext;
  readonly options: SweepOptions;
  readonly report: SweepReport;
  /** How many there are to look at, where somebody wants to know. */
  readonly total: number | null;
  looked: number;
  rowsPerTransaction: number;
}

export function startSweep(
  context: MemoryContext,
  options: SweepOptions,
  outcomes: readonly string[],
  total: number | null = null,
): Sweep {
  const report = Object.fromEntries([...outcomes, 'failed'].map((name) => [name, 0]));
  return { context, options, report, total, looked: 0, rowsPerTransaction: 250 };
}

const rowsPerLook = 20_000;
const mostRowsPerTransaction = 2000;
const leastRowsPerTransaction = 10;
const firstId = '00000000-0000-0000-0000-000000000000';

/** Page by page, so that neither the memory nor a transaction grows with the table. Ends early when told to stop. */
export async function runStage(sweep: Sweep, stage: Stage): Promise<void> {
  let after = firstId;
  while (sweep.options.signal?.aborted !== true) {
    const page = await look(sweep, stage, after, rowsPerLook);
    await handle(sweep, stage, page);
    sweep.looked += page.looked;
    tellProgress(sweep, sweep.looked);
    if (page.last === null || page.isLast) return;
    after = page.last;
  }
}

function tellProgress({ options, total }: Sweep, done: number): void {
  options.progress?.(total === null ? done : Math.min(done, total), total);
}

interface Page extends PageOfDue {
  isLast: boolean;
}

/** A row that cannot even be looked at is passed over: ever fewer rows are looked at until it stands alone. */
async function look(sweep: Sweep, stage: Stage, after: string, limit: number): Promise<Page> {
  const { context } = sweep;
  try {
    const [page] = await context.db.client.$queryRaw<[PageOfDue]>(stage.find(after, limit));
    return { ...page, isLast: page.looked < limit };
  } catch (error) {
    if (isOutage(error)) throw error;
    return limit > 1 ? look(sweep, stage, after, Math.ceil(limit / 10)) : passOver(sweep, stage, after, error);
  }
}

async function passOver(sweep: Sweep, stage: Stage, after: string, error: unknown): Promise<Page> {
  const { tenantId } = sweep.context.principal;
  const statement = nextMemoryId(stage.type, tenantId, after);
  const [next] = await sweep.context.db.client.$queryRaw<{ id: string }[]>(statement);
  if (next === undefined) throw error;
  countFailure(sweep, stage, next.id, error);
  return { looked: 1, last: next.id, ids: [], outcomes: [], isLast: false };
}

/** The work is in the changes: of a page that was looked at, as much is done as was changed of it. */
async function handle(sweep: Sweep, stage: Stage, { ids, outcomes, looked }: Page): Promise<void> {
  if (sweep.options.dryRun) return count(sweep, outcomes);
  for (let start = 0; start < ids.length && sweep.options.signal?.aborted !== true;) {
    const batch = ids.slice(start, start + sweep.rowsPerTransaction);
    const startedAt = performance.now();
    await changeAll(sweep, stage, batch);
    const workedMs = performance.now() - startedAt;
    adjustBatches(sweep, workedMs);
    start += batch.length;
    tellProgress(sweep, sweep.looked + Math.floor((looked * start) / ids.length));
    await sweep.options.rest?.(workedMs);
  }
}

/**
 * A row with a vector takes many times as long as one without, for its entry in the index of vectors: batches grow and
 * shrink so that each takes about a second, and others never wait for long.
 */
function adjustBatches(sweep: Sweep, milliseconds: number): void {
  const { rowsPerTransaction: rows } = sweep;
  if (milliseconds < 500) sweep.rowsPerTransaction = Math.min(rows * 2, mostRowsPerTransaction);
  if (milliseconds > 2000) sweep.rowsPerTransaction = Math.max(Math.ceil(rows / 2), leastRowsPerTransaction);
}

/**
 * What fails is tried again in halves, until the row that is to blame stands alone and is left as it is. Rows that others
 * hold are waited for one by one: who holds one row while it waits for another may wait for ever.
 */
async function changeAll(sweep: Sweep, stage: Stage, ids: readonly string[]): Promise<void> {
  const [only] = ids;
  if (only === undefined) return;
  const isAlone = ids.length === 1;
  const changed = await stage.change(ids, isAlone).catch((error: unknown) => {
    if (isOutage(error)) throw error;
    if (isAlone) countFailure(sweep, stage, only, error);
    return null;
  });
  if (changed !== null) count(sweep, changed.map(outcomeOf));
  if (isAlone) return;
  if (changed === null) {
    const middle = Math.ceil(ids.length / 2);
    await changeAll(sweep, stage, ids.slice(0, middle));
    return changeAll(sweep, stage, ids.slice(middle));
  }
  const done = new Set(changed.map(({ id }) => id));
  for (const id of ids) if (!done.has(id)) await changeAll(sweep, stage, [id]);
}

/** `fact.fading` is counted as fading. */
function outcomeOf({ eventType }: ChangedMemory): string {
  return eventType.slice(eventType.indexOf('.') + 1);
}

function count({ report }: Sweep, outcomes: readonly string[]): void {
  for (const outcome of outcomes) report[outcome] = (report[outcome] ?? 0) + 1;
}

function countFailure(sweep: Sweep, { type }: Stage, id: string, error: unknown): void {
  const { logger, principal } = sweep.context;
  logger.error({ err: error, tenantId: principal.tenantId, type, id }, 'a memory was passed over by a sweep');
  count(sweep, ['failed']);
}

/** For statements that write their events themselves. */
export function originOf(context: MemoryContext, at: Date): EventOrigin {
  const { principal, requestContext } = context;
  const { requestId, subrequestId, segmentId } = requestContext;
  return { tenantId: principal.tenantId, at, actor: actorOf(context), requestId, subrequestId, segmentId };
}

/** One transaction of a stage, whose end is told to those who follow the events. */
export async function changeInTransaction(
  { db }: MemoryContext,
  work: (transaction: Transaction) => Promise<ChangedMemory[]>,
): Promise<ChangedMemory[]> {
  return db.transaction(async (transaction) => {
    const changed = await work(transaction);
    if (changed.length > 0) announceEvents(transaction);
    return changed;
  });
}

/** A change that is one statement. */
export async function changeByStatement(context: MemoryContext, change: MemoriesChange): Promise<ChangedMemory[]> {
  return changeInTransaction(context, (transaction) => transaction.$queryRaw(changeMemories(change)));
}

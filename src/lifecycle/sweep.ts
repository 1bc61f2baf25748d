import type { Transaction } from '../db/database.ts';
import { announceEvents } from '../db/events/event-signal.ts';
import {
  findNextId,
  type Batch,
  type ChangedMemory,
  type DuePage,
  type EventOrigin,
} from '../db/queries/change-memories.ts';
import type { MemoryType } from '../db/tables.ts';
import { isOutage } from '../shared/errors.ts';
import { nameActor, type MemoryContext } from '../memory/context.ts';

export interface SweepOptions {
  /** Counts what the sweep would do, and writes nothing. */
  readonly dryRun: boolean;
  /** Checked between batches: what is done stays done, and the next run continues from there. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. The total is null where counting it would cost as much as the work. */
  readonly progress?: ((done: number, total: number | null) => void) | undefined;
  /** Awaited after each batch where nobody waits for the end of the sweep, so that callers come first. */
  readonly rest?: ((workedMs: number) => Promise<void>) | undefined;
}

/** What a sweep did, or would do, by camel-case names: `{ fading: 3, expired: 1 }`. */
export type SweepReport = Record<string, number>;

/** One kind of change that a sweep makes to the memories of one type. */
export interface Stage {
  readonly type: MemoryType;
  /** Looks at the next memories by id, and finds those that are due. */
  find(after: string, limit: number): Promise<DuePage>;
  /** Changes those that are still due, and returns them. */
  change(batch: Batch): Promise<ChangedMemory[]>;
}

export interface Sweep {
  readonly context: MemoryContext;
  readonly options: SweepOptions;
  readonly report: SweepReport;
  /** Of all events of the sweep. */
  readonly origin: EventOrigin;
  /** How many memories there are to look at; null where nobody asked. */
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
  const { requestId, subrequestId, segmentId } = context.requestContext;
  const origin = { at: context.now(), actor: nameActor(context), requestId, subrequestId, segmentId };
  return { context, options, report, origin, total, looked: 0, rowsPerTransaction: 250 };
}

const rowsPerLook = 20_000;
const mostRowsPerTransaction = 2000;
const leastRowsPerTransaction = 10;
/** Before every id. */
export const firstId = '00000000-0000-0000-0000-000000000000';

/** Works page by page, so that neither memory use nor a transaction grows with the table. Ends early when aborted. */
export async function runStage(sweep: Sweep, stage: Stage): Promise<void> {
  let after = firstId;
  while (sweep.options.signal?.aborted !== true) {
    const page = await look(sweep, stage, after, rowsPerLook);
    if (sweep.options.dryRun) count(sweep, page.outcomes);
    else await changePage(sweep, stage, page);
    sweep.looked += page.looked;
    reportProgress(sweep, sweep.looked);
    if (page.last === null || page.isLast) return;
    after = page.last;
  }
}

function reportProgress({ options, total }: Sweep, done: number): void {
  options.progress?.(total === null ? done : Math.min(done, total), total);
}

interface Page extends DuePage {
  isLast: boolean;
}

/** Skips a row that cannot be read: looks at ever fewer rows until it stands alone. */
async function look(sweep: Sweep, stage: Stage, after: string, limit: number): Promise<Page> {
  try {
    const page = await stage.find(after, limit);
    return { ...page, isLast: page.looked < limit };
  } catch (error) {
    if (isOutage(error)) throw error;
    if (limit > 1) return look(sweep, stage, after, Math.ceil(limit / 10));
    const id = await findNextId(sweep.context.db.client, stage.type, after);
    if (id === null) throw error;
    countFailure(sweep, stage, id, error);
    return { looked: 1, last: id, ids: [], outcomes: [], isLast: false };
  }
}

/** Counts progress by changed rows: changing them is the work, looking at them is not. */
async function changePage(sweep: Sweep, stage: Stage, { ids, looked }: Page): Promise<void> {
  for (let start = 0; start < ids.length && sweep.options.signal?.aborted !== true;) {
    const batch = ids.slice(start, start + sweep.rowsPerTransaction);
    const startedAt = performance.now();
    await changeBatch(sweep, stage, batch);
    const workedMs = performance.now() - startedAt;
    adjustBatches(sweep, workedMs);
    start += batch.length;
    reportProgress(sweep, sweep.looked + Math.floor((looked * start) / ids.length));
    await sweep.options.rest?.(workedMs);
  }
}

/**
 * Aims at a second a batch, so that others never wait for long. A row with a vector takes many times as long as one
 * without, because of its entry in the vector index.
 */
function adjustBatches(sweep: Sweep, milliseconds: number): void {
  const { rowsPerTransaction: rows } = sweep;
  if (milliseconds < 500) sweep.rowsPerTransaction = Math.min(rows * 2, mostRowsPerTransaction);
  if (milliseconds > 2000) sweep.rowsPerTransaction = Math.max(Math.ceil(rows / 2), leastRowsPerTransaction);
}

/** Waits for locked rows one by one: holding one row while waiting for another may deadlock. */
async function changeBatch(sweep: Sweep, stage: Stage, ids: readonly string[]): Promise<void> {
  const failed = new Set<string>();
  const change = (some: readonly string[]): Promise<ChangedMemory[]> =>
    inHalves(
      some,
      (half) => stage.change({ ids: half, wait: half.length === 1, origin: sweep.origin }),
      (id, error) => {
        failed.add(id);
        countFailure(sweep, stage, id, error);
      },
    );
  const changed = await change(ids);
  const done = new Set(changed.map(({ id }) => id));
  const locked = ids.length === 1 ? [] : ids.filter((id) => !done.has(id) && !failed.has(id));
  for (const id of locked) changed.push(...(await change([id])));
  // `fact.fading` is counted as fading.
  count(
    sweep,
    changed.map(({ eventType }) => eventType.slice(eventType.indexOf('.') + 1)),
  );
}

/**
 * Does the work on all items at once. Where that fails, tries again in halves until the item to blame stands alone, and
 * passes over it: one bad row never ends a sweep. An outage is no item's fault, and is thrown.
 */
export async function inHalves<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result[]>,
  passOver: (item: Item, error: unknown) => Promise<void> | void,
): Promise<Result[]> {
  const [only] = items;
  if (only === undefined) return [];
  try {
    return await work(items);
  } catch (error) {
    if (isOutage(error)) throw error;
    if (items.length === 1) {
      await passOver(only, error);
      return [];
    }
    const middle = Math.ceil(items.length / 2);
    const first = await inHalves(items.slice(0, middle), work, passOver);
    return [...first, ...(await inHalves(items.slice(middle), work, passOver))];
  }
}

function count({ report }: Sweep, outcomes: readonly string[]): void {
  for (const outcome of outcomes) report[outcome] = (report[outcome] ?? 0) + 1;
}

function countFailure(sweep: Sweep, { type }: Stage, id: string, error: unknown): void {
  const { logger, principal } = sweep.context;
  logger.error({ err: error, tenantId: principal.tenantId, type, id }, 'a memory was passed over by a sweep');
  count(sweep, ['failed']);
}

/** Runs one transaction of a stage, and announces its events to followers when it commits. */
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

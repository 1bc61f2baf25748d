import type { Database } from '../db/database.ts';
import { countLeftovers, deleteLeftovers, type LeftoversQuery } from '../db/queries/leftovers.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { isOutage } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { keptSince, retentionOf } from '../memory/episodes/retention.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

const rowsPerTransaction = 5000;

/** Deletes records that are kept for a while only: receipts, idempotency keys, runs and access records. No memories. */
export async function sweepLeftovers(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const report: SweepReport = {};
  const due: { name: string; query: LeftoversQuery; count: number }[] = [];
  for (const [name, { until, ...leftover }] of Object.entries(chooseLeftovers(context))) {
    report[name] = 0;
    if (until === null) continue;
    const query = { ...leftover, until };
    due.push({ name, query, count: await countLeftovers(context.db.client, query) });
  }
  const total = due.reduce((sum, { count }) => sum + count, 0);
  let removed = 0;
  for (const { name, query, count } of due) {
    const progress = (done: number): void => options.progress?.(Math.min(removed + done, total), total);
    report[name] = options.dryRun ? count : await removeAll(context, query, options, progress);
    removed += report[name];
  }
  return report;
}

/** Returns what is due, by its name in the report. Where `until` is null, it is kept forever. */
function chooseLeftovers(
  context: MemoryContext,
): Record<string, Omit<LeftoversQuery, 'until'> & { until: Date | null }> {
  const { memory, auth } = context.config;
  const now = context.now();
  const daysAgo = (days: number): Date => new Date(now.getTime() - days * millisecondsPerDay);
  const retention = retentionOf(context);
  return {
    receipts: { table: 'context_receipts', until: now, keptSince: keptSince(now, retention.receipts) },
    idempotencyKeys: { table: 'idempotency_keys', until: daysAgo(memory.idempotencyTtlDays) },
    jobRuns: { table: 'job_runs', until: daysAgo(retention.jobRuns) },
    accessRecords: { table: 'access_records', until: daysAgo(auth.accessRetentionDays) },
    consolidationRuns: { table: 'consolidation_runs', until: keptSince(now, retention.consolidationRuns) },
  };
}

/** Removes in batches, and returns how many. Rows of one table that cannot be removed do not keep the others. */
async function removeAll(
  { db, logger }: MemoryContext,
  query: LeftoversQuery,
  options: SweepOptions,
  progress: (removed: number) => void,
): Promise<number> {
  let removed = 0;
  try {
    while (options.signal?.aborted !== true) {
      const batch = await deleteLeftovers(db.client, query, rowsPerTransaction);
      removed += batch;
      progress(removed);
      if (batch < rowsPerTransaction) break;
    }
  } catch (error) {
    if (isOutage(error)) throw error;
    const { tenantId } = db;
    logger.error({ err: error, tenantId, table: query.table }, 'rows of a table were passed over by a sweep');
  }
  return removed;
}

/**
 * Vacuums and checkpoints PGlite, which has no background writer: its write-ahead log would only grow. A PostgreSQL server
 * does this itself, and only gets fresh statistics.
 */
export async function maintainStorage(database: Database, dryRun: boolean): Promise<SweepReport> {
  const statements = database.engine === 'pglite' ? ['VACUUM', 'ANALYZE', 'CHECKPOINT'] : ['ANALYZE'];
  if (!dryRun) {
    await database.asOwner(async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }
  return { statements: statements.length };
}

import { countLeftovers, deleteLeftovers, type Leftover, type LeftoversQuery } from '../db/sql/leftovers.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { isOutage } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { keptSince, retentionOf } from '../memory/episodes/retention.ts';
import type { SweepOptions, SweepReport } from './sweep.ts';

const rowsPerTransaction = 5000;

/** Removes what was written down for a while only: receipts, keys, runs and access records. No memory is concerned. */
export async function sweepLeftovers(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  const now = context.now();
  const daysAgo = (days: number): Date => new Date(now.getTime() - days * millisecondsPerDay);
  const retention = retentionOf(context);
  const leftovers: { name: string; table: Leftover; until: Date | null; keptSince?: Date | null }[] = [
    { name: 'receipts', table: 'context_receipts', until: now, keptSince: keptSince(now, retention.receipts) },
    { name: 'idempotencyKeys', table: 'idempotency_keys', until: daysAgo(context.config.memory.idempotencyTtlDays) },
    { name: 'jobRuns', table: 'job_runs', until: daysAgo(retention.jobRuns) },
    { name: 'accessRecords', table: 'access_records', until: daysAgo(context.config.auth.accessRetentionDays) },
    {
      name: 'consolidationRuns',
      table: 'consolidation_runs',
      until: keptSince(now, retention.consolidationRuns),
    },
  ];
  const due: { name: string; query: LeftoversQuery; count: number }[] = [];
  const report: SweepReport = {};
  for (const { name, until, ...leftover } of leftovers) {
    report[name] = 0;
    if (until === null) continue;
    const query = { ...leftover, until, tenantId: context.principal.tenantId };
    due.push({ name, query, count: await count(context, query) });
  }
  const total = due.reduce((sum, leftover) => sum + leftover.count, 0);
  let removed = 0;
  for (const { name, query, count: expected } of due) {
    const told = (done: number): void => options.progress?.(Math.min(removed + done, total), total);
    report[name] = options.dryRun ? expected : await removeOrPassOver(context, query, options, told);
    removed += report[name];
  }
  return report;
}

async function count({ db }: MemoryContext, query: LeftoversQuery): Promise<number> {
  const [row] = await db.client.$queryRaw<[{ count: number }]>(countLeftovers(query));
  return row.count;
}

/** What cannot be removed of one table keeps the others from nothing. */
async function removeOrPassOver(
  context: MemoryContext,
  query: LeftoversQuery,
  options: SweepOptions,
  told: (removed: number) => void,
): Promise<number> {
  let removed = 0;
  const tell = (done: number): void => {
    removed = done;
    told(done);
  };
  return remove(context, query, options, tell).catch((error: unknown) => {
    if (isOutage(error)) throw error;
    const { tenantId, table } = query;
    context.logger.error({ err: error, tenantId, table }, 'rows of a table were passed over by a sweep');
    return removed;
  });
}

async function remove(
  { db }: MemoryContext,
  query: LeftoversQuery,
  options: SweepOptions,
  told: (removed: number) => void,
): Promise<number> {
  let removed = 0;
  while (options.signal?.aborted !== true) {
    const batch = await db.client.$executeRaw(deleteLeftovers(query, rowsPerTransaction));
    removed += batch;
    told(removed);
    if (batch < rowsPerTransaction) break;
  }
  return removed;
}

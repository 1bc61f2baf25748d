import { countLeftovers, deleteLeftovers, type Leftover, type LeftoversQuery } from '../db/sql/leftovers.ts';
import { millisecondsPerDay } from '../durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { keptSince, retentionOf } from '../memory/retention.ts';
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
  const report: SweepReport = {};
  for (const { name, until, ...leftover } of leftovers) {
    report[name] = 0;
    if (until === null) continue;
    const query = { ...leftover, until, tenantId: context.principal.tenantId };
    report[name] = await (options.dryRun ? count(context, query) : remove(context, query, options));
  }
  return report;
}

async function count({ db }: MemoryContext, query: LeftoversQuery): Promise<number> {
  const [row] = await db.tenant(query.tenantId).$queryRaw<[{ count: number }]>(countLeftovers(query));
  return row.count;
}

async function remove({ db }: MemoryContext, query: LeftoversQuery, options: SweepOptions): Promise<number> {
  let removed = 0;
  while (options.signal?.aborted !== true) {
    const batch = await db.tenant(query.tenantId).$executeRaw(deleteLeftovers(query, rowsPerTransaction));
    removed += batch;
    options.progress?.(removed, null);
    if (batch < rowsPerTransaction) break;
  }
  return removed;
}

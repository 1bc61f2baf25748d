import { sweepEpisodes } from '../src/lifecycle/cleanup.ts';
import { sweepConsolidation } from '../src/lifecycle/consolidation/consolidate.ts';
import { isBacklogLong } from '../src/lifecycle/consolidation/claim.ts';
import { sweepDecay } from '../src/lifecycle/decay.ts';
import { sweepCapacity } from '../src/lifecycle/eviction.ts';
import { maintainStorage, sweepLeftovers } from '../src/lifecycle/housekeeping.ts';
import type { TenantSweep } from '../src/lifecycle/job-runs.ts';
import { sweepKeys } from '../src/lifecycle/key-rotation.ts';
import { refreshProjections } from '../src/lifecycle/projections.ts';
import { sweepPromotions } from '../src/lifecycle/promotion.ts';
import { sweepEmbeddings } from '../src/lifecycle/reembed.ts';
import type { SweepOptions, SweepReport } from '../src/lifecycle/sweep.ts';
import { createTenantContext, type ServerContext } from '../src/memory/context.ts';
import { invalidInput } from '../src/shared/errors.ts';

/** Runs once for each tenant, so that workers share the tenants and a failure in one leaves the others alone. */
export interface TenantJob extends TenantSweep {
  readonly for: 'tenant';
}

/** Runs once for the whole server. */
export interface ServerJob {
  readonly name: string;
  readonly for: 'server';
  readonly sweep: (context: ServerContext, options: ServerSweepOptions) => Promise<SweepReport>;
}

export interface ServerSweepOptions extends SweepOptions {
  /** Queues a job of one tenant, unless it is queued or running already. */
  readonly request: (name: string, tenantId: string) => Promise<void>;
}

export type Job = TenantJob | ServerJob;

/** Every job. A name is that of its entry in [butler.schedule], with hyphens. */
export const jobs: readonly Job[] = [
  { name: 'consolidate', for: 'tenant', sweep: sweepConsolidation },
  { name: 'consolidate-backlog', for: 'server', sweep: requestBacklogs },
  { name: 'decay-sweep', for: 'tenant', sweep: sweepDecay },
  { name: 'episode-cleanup', for: 'tenant', sweep: sweepEpisodes },
  { name: 'promote', for: 'tenant', sweep: sweepPromotions },
  { name: 'evict', for: 'tenant', sweep: sweepCapacity },
  { name: 'reembed', for: 'tenant', sweep: sweepEmbeddings },
  { name: 'refresh-projections', for: 'tenant', sweep: refreshProjections },
  { name: 'purge-receipts', for: 'tenant', sweep: sweepLeftovers },
  { name: 'maintain-storage', for: 'server', sweep: ({ db }, { dryRun }) => maintainStorage(db, dryRun) },
  { name: 'rotate-keys', for: 'tenant', sweep: sweepKeys },
];

export function getJob(name: string): Job {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job !== undefined) return job;
  throw invalidInput('name', `one of ${jobs.map((candidate) => candidate.name).join(', ')}`, name);
}

/** Requests consolidation for each tenant whose backlog is too long to wait for the schedule. */
async function requestBacklogs(
  context: ServerContext,
  { dryRun, request, signal, progress }: ServerSweepOptions,
): Promise<SweepReport> {
  let tenants = 0;
  const all = await context.db.listTenants();
  for (const [place, tenantId] of all.entries()) {
    if (signal?.aborted === true) break;
    progress?.(place, all.length);
    if (!(await isBacklogLong(createTenantContext(context, tenantId)))) continue;
    tenants++;
    if (!dryRun) await request('consolidate', tenantId);
  }
  return { tenants };
}

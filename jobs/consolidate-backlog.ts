import { isBacklogLong } from '../src/lifecycle/consolidation/due.ts';
import { consolidateJob } from './consolidate.ts';
import { contextOfTenant, type ServerJob } from './job.ts';

/** Between the scheduled runs: tenants in which too many episodes wait are consolidated at once. */
export const consolidateBacklogJob: ServerJob = {
  name: 'consolidate-backlog',
  for: 'server',
  run: async (context, { dryRun, request, signal, progress }) => {
    let tenants = 0;
    const all = await context.db.listTenants();
    for (const [place, tenantId] of all.entries()) {
      if (signal?.aborted === true) break;
      progress?.(place, all.length);
      if (!(await isBacklogLong(contextOfTenant(context, tenantId)))) continue;
      tenants++;
      if (!dryRun) await request(consolidateJob.name, tenantId);
    }
    return { tenants };
  },
};

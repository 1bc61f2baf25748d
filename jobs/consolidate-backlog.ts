import { isBacklogLong } from '../src/lifecycle/consolidation/due.ts';
import { consolidateJob } from './consolidate.ts';
import { contextOfTenant, type ServerJob } from './job.ts';

/** Between the scheduled runs: tenants in which too many episodes wait are consolidated at once. */
export const consolidateBacklogJob: ServerJob = {
  name: 'consolidate-backlog',
  for: 'server',
  run: async (context, { dryRun, request }) => {
    let tenants = 0;
    for (const tenantId of await context.db.listTenants()) {
      if (!(await isBacklogLong(contextOfTenant(context, tenantId)))) continue;
      tenants++;
      if (!dryRun) await request(consolidateJob.name, tenantId);
    }
    return { tenants };
  },
};

import { refreshProjections } from '../src/lifecycle/projections.ts';
import type { TenantJob } from './job.ts';

export const refreshProjectionsJob: TenantJob = {
  name: 'refresh-projections',
  for: 'tenant',
  sweep: refreshProjections,
};

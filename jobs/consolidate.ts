import { sweepConsolidation } from '../src/lifecycle/consolidation/consolidate.ts';
import type { TenantJob } from './job.ts';

export const consolidateJob: TenantJob = { name: 'consolidate', for: 'tenant', sweep: sweepConsolidation };

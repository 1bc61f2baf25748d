import { sweepDecay } from '../src/lifecycle/decay.ts';
import type { TenantJob } from './job.ts';

export const decaySweepJob: TenantJob = { name: 'decay-sweep', for: 'tenant', sweep: sweepDecay };

import { sweepCapacity } from '../src/lifecycle/eviction.ts';
import type { TenantJob } from './job.ts';

export const evictJob: TenantJob = { name: 'evict', for: 'tenant', sweep: sweepCapacity };

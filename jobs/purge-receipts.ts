import { sweepLeftovers } from '../src/lifecycle/purge.ts';
import type { TenantJob } from './job.ts';

export const purgeReceiptsJob: TenantJob = { name: 'purge-receipts', for: 'tenant', sweep: sweepLeftovers };

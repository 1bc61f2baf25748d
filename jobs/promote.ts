import { sweepPromotions } from '../src/lifecycle/promotion.ts';
import type { TenantJob } from './job.ts';

export const promoteJob: TenantJob = { name: 'promote', for: 'tenant', sweep: sweepPromotions };

import { sweepEmbeddings } from '../src/lifecycle/reembed.ts';
import type { TenantJob } from './job.ts';

export const reembedJob: TenantJob = { name: 'reembed', for: 'tenant', sweep: sweepEmbeddings };

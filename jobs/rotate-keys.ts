import { sweepKeys } from '../src/lifecycle/key-rotation.ts';
import type { TenantJob } from './job.ts';

export const rotateKeysJob: TenantJob = { name: 'rotate-keys', for: 'tenant', sweep: sweepKeys };

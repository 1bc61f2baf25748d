import { sweepEpisodes } from '../src/lifecycle/cleanup.ts';
import type { TenantJob } from './job.ts';

export const episodeCleanupJob: TenantJob = { name: 'episode-cleanup', for: 'tenant', sweep: sweepEpisodes };

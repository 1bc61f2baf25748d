import type { Job } from './job.ts';
import { maintainStorageJob } from './maintain-storage.ts';

/** Every job there is. Each has its entry in [butler.schedule]. */
export const jobs: readonly Job[] = [maintainStorageJob];

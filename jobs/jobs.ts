import { consolidateBacklogJob } from './consolidate-backlog.ts';
import { consolidateJob } from './consolidate.ts';
import { decaySweepJob } from './decay-sweep.ts';
import { episodeCleanupJob } from './episode-cleanup.ts';
import { evictJob } from './evict.ts';
import type { Job } from './job.ts';
import { maintainStorageJob } from './maintain-storage.ts';
import { promoteJob } from './promote.ts';
import { purgeReceiptsJob } from './purge-receipts.ts';
import { reembedJob } from './reembed.ts';
import { rotateKeysJob } from './rotate-keys.ts';
import { refreshProjectionsJob } from './refresh-projections.ts';

/** Every job there is. Each has its entry in [butler.schedule]. */
export const jobs: readonly Job[] = [
  consolidateJob,
  consolidateBacklogJob,
  decaySweepJob,
  episodeCleanupJob,
  promoteJob,
  evictJob,
  reembedJob,
  refreshProjectionsJob,
  purgeReceiptsJob,
  maintainStorageJob,
  rotateKeysJob,
];

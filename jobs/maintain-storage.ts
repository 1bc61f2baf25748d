import { maintainStorage } from '../src/lifecycle/storage.ts';
import type { ServerJob } from './job.ts';

export const maintainStorageJob: ServerJob = {
  name: 'maintain-storage',
  for: 'server',
  run: async ({ db }, { dryRun }) => maintainStorage(db, dryRun),
};

import { maintainStorage } from '../src/lifecycle/storage.ts';
import type { Job } from './job.ts';

export const maintainStorageJob: Job = {
  name: 'maintain-storage',
  schedule: 'maintainStorage',
  run: async ({ db, logger }) => {
    const report = await maintainStorage(db);
    logger.info(report, 'storage maintained');
  },
};

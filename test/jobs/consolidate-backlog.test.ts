import { afterAll, beforeAll, expect, it } from 'vitest';
import { getJob, type ServerJob } from '../../jobs/jobs.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { ingestEpisodes } from '../support/writes.ts';

let core: TestCore;
const requested: string[] = [];

beforeAll(async () => {
  core = await createTestCore();
  for (const [tenantId, length] of [
    ['few', 49],
    ['many', 51],
  ] as const) {
    const episodes = Array.from({ length }, (_, place) => ({ content: `episode ${place}`, butler: `b${place % 3}` }));
    await ingestEpisodes(core.context({ tenantId }), episodes);
  }
});
afterAll(() => core.close());

const run = (dryRun: boolean): Promise<unknown> =>
  (getJob('consolidate-backlog') as ServerJob).sweep(core, {
    dryRun,
    request: async (name, tenantId) => void requested.push(`${name} ${tenantId}`),
  });

it('asks for the consolidation of the tenants in which many episodes wait, and of no other', async () => {
  expect(await run(true)).toEqual({ tenants: 1 });
  expect(requested).toEqual([]);
  expect(await run(false)).toEqual({ tenants: 1 });
  expect(requested).toEqual(['consolidate many']);
});

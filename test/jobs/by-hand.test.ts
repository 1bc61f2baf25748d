import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJob } from '../../src/commands/job.ts';
import { createTestCore, type TestCore } from '../support/core.ts';
import { ingestEpisodes } from '../support/writes.ts';

let core: TestCore;

beforeAll(async () => {
  core = await createTestCore();
  for (const [tenantId, length] of [
    ['few', 49],
    ['many', 51],
    ['more', 60],
  ] as const) {
    const episodes = Array.from({ length }, (_, place) => ({ content: `My dog is ${place}`, butler: 'home' }));
    await ingestEpisodes(core.context({ tenantId }), episodes);
  }
});
afterAll(() => core.close());

const waiting = (tenantId: string): Promise<number> =>
  core.db.forTenant(tenantId).client.episode.count({ where: { consolidationStatus: 'pending' } });
const runsOf = (tenantId: string): Promise<{ job: string; actor: string; status: string }[]> =>
  core.db.forTenant(tenantId).client.jobRun.findMany({ select: { job: true, actor: true, status: true } });

async function runByHand(name: string, options: { dryRun?: boolean; tenant?: string } = {}): Promise<string[]> {
  const lines: string[] = [];
  const { dryRun = false, tenant } = options;
  const { signal } = new AbortController();
  expect(await runJob(core, { name, dryRun, tenant, signal }, (line) => lines.push(line))).toBe(true);
  return lines;
}

describe('a job of the whole server, by hand', () => {
  it('foretells what it would do, and does nothing', async () => {
    expect(await runByHand('consolidate-backlog', { dryRun: true })).toEqual([
      'all tenants: consolidate-backlog would do: tenants 2',
    ]);
    expect(await waiting('many')).toBe(51);
  });

  it('does itself what a queue would be asked for', async () => {
    expect(await runByHand('consolidate-backlog')).toEqual(['all tenants: consolidate-backlog did: tenants 2']);
    expect(await Promise.all(['few', 'many', 'more'].map(waiting))).toEqual([49, 0, 0]);
  });

  it('is written down in no tenant, but for what was done in one', async () => {
    await runByHand('maintain-storage');
    const consolidated = [{ job: 'consolidate', actor: 'command line', status: 'succeeded' }];
    expect(await Promise.all(['few', 'many', 'more'].map(runsOf))).toEqual([[], consolidated, consolidated]);
  });

  it('takes no tenant, and says so', async () => {
    await expect(runByHand('maintain-storage', { tenant: 'few' })).rejects.toThrow(
      'tenant must be left out with maintain-storage, which is done for all tenants at once (got "few")',
    );
  });

  it('tells what failed in one tenant when the others had their turn', async () => {
    for (const tenantId of ['few', 'many']) {
      const episodes = Array.from({ length: 60 }, (_, place) => ({ content: `My cat is ${place}`, butler: 'home' }));
      await ingestEpisodes(core.context({ tenantId }), episodes);
    }
    const refuse = `CREATE FUNCTION refuse_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
      CREATE TRIGGER refuse_run BEFORE INSERT ON consolidation_runs
      FOR EACH ROW WHEN (NEW.tenant_id = 'few') EXECUTE FUNCTION refuse_run()`;
    await core.db.asOwner((client) => client.query(refuse));

    await expect(runByHand('consolidate-backlog')).rejects.toThrow(
      /^1 of consolidate-backlog failed: consolidate of few: /,
    );
    expect(await waiting('many')).toBe(0);
    await core.db.asOwner((client) => client.query('DROP TRIGGER refuse_run ON consolidation_runs'));
  });
});

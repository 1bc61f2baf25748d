import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweepConsolidation } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { consolidateWith } from '../../../src/lifecycle/consolidation/consolidate.ts';
import { sweepLeftovers } from '../../../src/lifecycle/housekeeping.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { insertRow, rowOf, type Row } from '../../support/rows.ts';
import { expectNoDifference } from '../../support/verify.ts';
import { claimNext, evidenceOf, observe, passSeconds, scripted, setTo } from './setup.ts';
import { forgetMemory, restoreMemory } from '../../support/writes.ts';

let core: TestCore;
let tenants = 0;
let tenantId: string;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
beforeEach(() => {
  tenantId = `tenant ${++tenants}`;
  core.clock.now = core.start;
});

const context = (): MemoryContext => core.context({ tenantId });
const store = (butler: string, ...contents: string[]) => observe({ ...core, context }, butler, ...contents);
const client = () => core.db.forTenant(tenantId).client;
const statusesOf = async (butler: string): Promise<string[]> => {
  const rows = await client().episode.findMany({ where: { butler }, orderBy: { createdAt: 'asc' } });
  return rows.map(({ consolidationStatus }) => consolidationStatus);
};

const keeper = scripted(({ episodes }) => {
  const new_facts = episodes.map(({ id, content }) => {
    return { subject: content, predicate: 'said', content, evidence: evidenceOf({ id, content }) };
  });
  return { output: { new_facts } };
});

/** No statement can count its version up, so no write to it succeeds. */
const makeUnchangeable = (id: string): Promise<unknown> => setVersion(id, 2_147_483_647);
const setVersion = (id: string, version: number): Promise<unknown> =>
  client().episode.updateMany({ where: { id }, data: { version } });

async function insertOldEpisode(butler: string, metadata: string): Promise<string> {
  const row: Row = rowOf('episodes', tenantId, { butler, content: 'The user likes tea.', created_at: core.start });
  await core.db.asOwner(async (owner) => {
    await insertRow(owner, 'episodes', row);
    await owner.query('UPDATE episodes SET metadata = $1::jsonb WHERE id = $2', [metadata, row['id']]);
    await owner.query(
      `INSERT INTO memory_events (tenant_id, id, event_type, entity_type, entity_id, occurred_at, actor, request_id, payload)
       SELECT tenant_id, gen_random_uuid(), 'episode.stored', 'episode', id::text, created_at, 'test', 'test',
         jsonb_build_object('before', NULL, 'after', to_jsonb(e)) FROM episodes e WHERE id = $1`,
      [row['id']],
    );
  });
  return row['id'] as string;
}

describe('an episode that holds what libraries choke on', () => {
  it.each(['{"a":{"__proto__":null}}', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":1},"n":1e300}'])(
    'stops neither the sweep nor its own end: %s',
    async (metadata) => {
      const id = await insertOldEpisode('home', metadata);
      await store('health', 'one');

      expect(await consolidateWith(context(), keeper, {})).toMatchObject({ episodes: 2, failedRuns: 0, failed: 0 });
      expect(await statusesOf('home')).toEqual(['consolidated']);
      await forgetMemory(context(), { type: 'episode', id });
      await restoreMemory(context(), { type: 'episode', id });
      await expectNoDifference(core);
    },
  );
});

describe('an episode that nothing can be written to', () => {
  it('is passed over, and the others of its butler and of other butlers are consolidated', async () => {
    const [poison] = await store('home', 'poison', 'one', 'two');
    await store('health', 'three');
    await makeUnchangeable(poison?.id ?? '');
    const report = await consolidateWith(context(), keeper, {});
    expect(report).toMatchObject({ failed: 1, failedRuns: 1 });
    expect(await statusesOf('health')).toEqual(['consolidated']);

    passSeconds(core, 3600);
    await consolidateWith(context(), keeper, {});
    expect(await statusesOf('home')).toEqual(['pending', 'consolidated', 'consolidated']);

    await setVersion(poison?.id ?? '', 1);
    await consolidateWith(context(), keeper, {});
    expect(await statusesOf('home')).toEqual(['consolidated', 'consolidated', 'consolidated']);
    await expectNoDifference(core);
  });

  it('keeps no lease from being given back', async () => {
    const [poison] = await store('home', 'poison', 'one');
    await makeUnchangeable(poison?.id ?? '');
    await claimNext(context(), { butler: 'home' });
    await store('health', 'two');
    passSeconds(core, 3600);

    expect(await consolidateWith(context(), keeper, {})).toMatchObject({ failed: 1 });
    expect(await statusesOf('health')).toEqual(['consolidated']);
    const runs = await client().consolidationRun.findMany({ where: { butler: 'home' }, orderBy: { startedAt: 'asc' } });
    expect(runs[0]).toMatchObject({ status: 'lost', leaseExpiresAt: null });
    await setVersion(poison?.id ?? '', 1);
    await expectNoDifference(core);
  });
});

describe('an error that nobody expects', () => {
  it('counts as an attempt, and ends in a dead letter that takes no other episode along', async () => {
    await store('home', 'one', 'poison', 'two', 'three');
    const breaking = scripted((claim, signal) => {
      if (claim.episodes.some(({ content }) => content === 'poison')) throw new TypeError('cannot read properties');
      return keeper.extract(context(), claim, signal);
    });
    const impatient = setTo(context(), { maxAttempts: 3, retryBaseSeconds: 1 });
    for (let round = 0; round < 6; round++) {
      await consolidateWith(impatient, breaking, {});
      passSeconds(core, 3600);
    }

    expect(await statusesOf('home')).toEqual(['consolidated', 'dead_letter', 'consolidated', 'consolidated']);
    await expectNoDifference(core);
  });

  it('of one butler keeps no other from its turn, also when its episodes cannot even be claimed', async () => {
    await store('a', 'one');
    await store('b', 'two');
    await core.db.asOwner(async (owner) => {
      await owner.query(`
        CREATE FUNCTION refuse_run() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN IF new.butler = 'a' THEN RAISE 'refused'; END IF; RETURN new; END $$;
        CREATE TRIGGER refuse_run BEFORE INSERT ON consolidation_runs FOR EACH ROW EXECUTE FUNCTION refuse_run()`);
    });
    try {
      await expect(consolidateWith(context(), keeper, {})).rejects.toThrow('refused');
      expect(await statusesOf('b')).toEqual(['consolidated']);
    } finally {
      await core.db.asOwner((owner) => owner.query('DROP FUNCTION refuse_run CASCADE'));
    }
    expect(await sweepConsolidation(context(), { dryRun: false })).toMatchObject({ episodes: 1 });
  });
});

describe('a purge', () => {
  it('removes what it can, though the rows of one table cannot be removed', async () => {
    await core.db.asOwner(async (owner) => {
      const old = new Date('2020-01-01T00:00:00.000Z');
      await insertRow(owner, 'idempotency_keys', rowOf('idempotency_keys', tenantId, { created_at: old }));
      await insertRow(
        owner,
        'job_runs',
        rowOf('job_runs', tenantId, { status: 'failed', started_at: old, last_sign_at: old, finished_at: old }),
      );
      await owner.query(`
        CREATE FUNCTION refuse_purge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE TRIGGER refuse_purge BEFORE DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse_purge()`);
    });
    try {
      expect(await sweepLeftovers(context(), { dryRun: false })).toMatchObject({ idempotencyKeys: 0, jobRuns: 1 });
    } finally {
      await core.db.asOwner((owner) => owner.query('DROP FUNCTION refuse_purge CASCADE'));
    }
  });
});

import type { MemoryCore } from '../src/create-memory.ts';
import { claimEpisodes } from '../src/lifecycle/consolidation/claim.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { newRequestContext } from '../src/shared/request-context.ts';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { withOwnCore } from './own-core.ts';

const episodes = 1_000_000;
const episodesPerInsert = 100_000;
const butlers = 50;
const episodesPerClaim = 100;
const measuredTenantId = 'default';
/** Claimed from before anything is measured: a worker claims all day, and its first claims are not what it is about. */
const warmUp = { tenantId: 'warm-up', episodes: 10_000 };

export const claim: Benchmark = {
  question:
    'How long does it take to claim 100 out of 1,000,000 pending episodes (20 ms at most), as a multiple of a bare indexed select of 100 rows in the same run? Episodes of 50 butlers, each claimed once, so that the last claim passes over 49 runs; every index in place; a process that has claimed before. PostgreSQL only, with TEST_DATABASE_URL.',
  measure: () => withOwnCore(measure),
};

async function measure(core: MemoryCore): Promise<Figure[]> {
  for (let first = 0; first < episodes; first += episodesPerInsert)
    await insertEpisodes(core, { tenantId: measuredTenantId, first, count: episodesPerInsert });
  await insertEpisodes(core, { tenantId: warmUp.tenantId, first: 0, count: warmUp.episodes });
  await core.db.asOwner((client) => client.query('VACUUM ANALYZE episodes'));
  // Else the database writes out what was just filled while claims are measured.
  await core.db.asOwner((client) => client.query('CHECKPOINT'));
  await measureClaims(core, warmUp.tenantId);
  return measureClaims(core, measuredTenantId);
}

interface Episodes {
  tenantId: string;
  first: number;
  count: number;
}

async function insertEpisodes({ db }: MemoryCore, { tenantId, first, count }: Episodes): Promise<void> {
  await db.asOwner((client) =>
    client.query(
      `INSERT INTO episodes (tenant_id, id, butler, content, created_at, expires_at)
       SELECT $1, gen_random_uuid(), 'butler ' || lpad((n % $2)::text, 3, '0'),
         'guest ' || n || ' asked for tea in the drawing room at five', now() - n * interval '1 second', now() + interval '7 days'
       FROM generate_series($3::int, $4::int) n`,
      [tenantId, butlers, first, first + count - 1],
    ),
  );
}

async function measureClaims(core: MemoryCore, tenantId: string): Promise<Figure[]> {
  const principal = { tenantId, butler: null, role: 'admin' } as const;
  const context: MemoryContext = {
    ...core,
    db: core.db.forTenant(tenantId),
    principal,
    requestContext: newRequestContext(),
  };
  const claims: number[] = [];
  const selects: number[] = [];
  for (let round = 0; round < butlers; round++) {
    selects.push(await time(() => selectBare(context)));
    claims.push(
      await time(() => claimEpisodes(context, { engine: 'agent', worker: 'bench', limit: episodesPerClaim })),
    );
  }
  const base = at(selects, 0.5);
  return [
    { what: 'bare select of 100 rows, median', value: milliseconds(base) },
    figure('claim of 100, median (of the select)', at(claims, 0.5), base),
    figure('claim of 100, 95th percentile (of the select)', at(claims, 0.95), base),
    figure('claim of 100, last of 50 butlers (of the select)', claims.at(-1) ?? 0, base),
  ];
}

function figure(what: string, value: number, base: number): Figure {
  return { what, value: `${milliseconds(value)} (${ratio(value, base)})` };
}

async function selectBare({ db }: MemoryContext): Promise<unknown[]> {
  return db.client.$queryRaw<unknown[]>`
    SELECT id::text, content, created_at FROM episodes
    WHERE tenant_id = ${db.tenantId} AND butler = 'butler 025' AND consolidation_status = 'pending'
    ORDER BY created_at, id LIMIT ${episodesPerClaim}`;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

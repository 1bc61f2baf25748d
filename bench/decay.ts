import type { MemoryCore } from '../src/create-memory.ts';
import { sweepDecay } from '../src/lifecycle/decay.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import { newRequestContext } from '../src/shared/request-context.ts';
import { milliseconds, type Benchmark, type Figure } from './benchmark.ts';
import { withOwnCore } from './own-core.ts';

const facts = 1_000_000;
const factsPerInsert = 100_000;
const factsWithVector = 10_000;

export const decay: Benchmark = {
  question:
    'How long does a decay sweep over 1,000,000 live facts take of which 1 % cross a threshold, half of them to fade and half to expire (60 s at most), and how much memory does the process need for it? Facts of about 60 characters, every index and trigger in place, no vectors; a sweep of 10,000 facts with vectors, of which 10 % cross, shows what a vector adds. PostgreSQL only, with TEST_DATABASE_URL.',
  measure: () => withOwnCore(measure),
};

async function measure(core: MemoryCore): Promise<Figure[]> {
  await insertFactsWithVector(core);
  for (let first = 0; first < facts; first += factsPerInsert) await insertFacts(core, first);
  await core.db.asOwner((client) => client.query('VACUUM ANALYZE'));
  return [...(await measureSweeps(core)), ...(await measureWithVectors(core))];
}

function contextOf(core: MemoryCore, tenantId: string): MemoryContext {
  const principal = { tenantId, butler: null, role: 'admin' } as const;
  return { ...core, db: core.db.forTenant(tenantId), principal, requestContext: newRequestContext() };
}

/** Ephemeral facts of 20 days have faded, those of 40 days expired; standard ones of up to 100 days have done neither. */
async function insertFacts({ db }: MemoryCore, first: number): Promise<void> {
  await db.asOwner((client) =>
    client.query(
      `INSERT INTO facts (tenant_id, id, subject, predicate, content, permanence, decay_rate, recorded_at, created_at,
         last_confirmed_at)
       SELECT 'without', memory_new_id(now() + n * interval '1 millisecond'), 'guest ' || n, 'prefers',
         'tea number ' || n || ' in the drawing room at five', kind.permanence, kind.decay_rate, at, at, at
       FROM generate_series($1::int, $2::int) n
         CROSS JOIN LATERAL (
           SELECT CASE WHEN n % 100 = 0 THEN 'ephemeral' ELSE 'standard' END AS permanence,
             CASE WHEN n % 100 = 0 THEN 0.1 ELSE 0.008 END AS decay_rate,
             now() - CASE WHEN n % 200 = 0 THEN 20 WHEN n % 100 = 0 THEN 40 ELSE n % 100 END * interval '1 day' AS at
         ) kind`,
      [first, first + factsPerInsert - 1],
    ),
  );
}

async function insertFactsWithVector({ db }: MemoryCore): Promise<void> {
  await db.asOwner(async (client) => {
    const version = '00000000-0000-7000-8000-000000000001';
    await client.query(
      `INSERT INTO embedding_versions (tenant_id, id, provider, model, dtype, digest, dimensions, slot, status, created_at)
       VALUES ('with', $1, 'hashing', 'bench', 'f32', 'none', 384, 'primary', 'active', now())`,
      [version],
    );
    await client.query(
      `INSERT INTO facts (tenant_id, id, subject, predicate, content, permanence, decay_rate, recorded_at, created_at,
         last_confirmed_at, embedding, embedding_version_id)
       SELECT 'with', memory_new_id(now() + n * interval '1 millisecond'), 'guest ' || n, 'prefers',
         'tea number ' || n || ' in the drawing room at five', 'ephemeral', 0.1, now(), now(),
         now() - CASE WHEN n % 10 = 0 THEN 20 ELSE 1 END * interval '1 day',
         (SELECT array_agg(random() - 0.5 + (n + place) * 0) FROM generate_series(1, 384) place)::vector(384), $2
       FROM generate_series(1, $1::int) n`,
      [factsWithVector, version],
    );
  });
}

async function measureSweeps(core: MemoryCore): Promise<Figure[]> {
  const context = contextOf(core, 'without');
  const foreseen = await time(() => sweepDecay(context, { dryRun: true }));
  const done = await time(() => sweepDecay(context, { dryRun: false }));
  const again = await time(() => sweepDecay(context, { dryRun: false }));
  return [
    { what: 'dry run', value: milliseconds(foreseen.milliseconds) },
    { what: `sweep: ${JSON.stringify(done.report)}`, value: milliseconds(done.milliseconds) },
    { what: 'sweep: memory of the process at its peak, above that before it', value: `${done.mebibytes} MiB` },
    { what: `second sweep: ${JSON.stringify(again.report)}`, value: milliseconds(again.milliseconds) },
  ];
}

async function measureWithVectors(core: MemoryCore): Promise<Figure[]> {
  const { report, milliseconds: taken } = await time(() => sweepDecay(contextOf(core, 'with'), { dryRun: false }));
  return [{ what: `10,000 facts with vectors: ${JSON.stringify(report)}`, value: milliseconds(taken) }];
}

interface Timed {
  report: Record<string, number>;
  milliseconds: number;
  mebibytes: number;
}

async function time(work: () => Promise<Record<string, number>>): Promise<Timed> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  const startedAt = performance.now();
  try {
    const report = await work();
    return { report, milliseconds: performance.now() - startedAt, mebibytes: Math.round((peak - before) / 2 ** 20) };
  } finally {
    clearInterval(sampler);
  }
}

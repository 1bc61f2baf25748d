import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { TenantDatabase } from '../../src/db/database.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { contentsOf, newTenant, useRetrieval } from './setup.ts';
import { storeEpisode } from '../support/writes.ts';

/** A neighbour is another tenant in the same tables: its rows are in the same indexes. */
const retrieval = useRetrieval();

const ownColumns = {
  episodes: { names: 'butler, expires_at', values: `'alfred', $2::timestamptz + interval '10 years'` },
  facts: { names: 'subject, predicate, recorded_at', values: `'room ' || content, 'has', $2::timestamptz` },
};

/** Rows with their vectors, in a tenant that has stored something before. */
async function insert(
  { db, principal, embedder, now }: MemoryContext,
  table: keyof typeof ownColumns,
  contents: readonly string[],
): Promise<void> {
  const version = await db.client.embeddingVersion.findFirstOrThrow();
  const vectors = (await embedder.embed(contents)).map(({ vector }) => `[${vector.join(',')}]`);
  const { names, values } = ownColumns[table];
  await db.database.asOwner((client) =>
    client.query(
      `INSERT INTO ${table} (tenant_id, id, content, created_at, embedding, embedding_version_id, ${names})
       SELECT $1, gen_random_uuid(), content, $2::timestamptz, vector::vector, $3::uuid, ${values}
       FROM unnest($4::text[], $5::text[]) AS given(content, vector)`,
      [principal.tenantId, now(), version.id, contents, vectors],
    ),
  );
}

function numbered(count: number, content: string): string[] {
  return Array.from({ length: count }, (_, number) => `${content} ${number}`);
}

async function newMember(): Promise<MemoryContext> {
  const context = retrieval.context({ principal: newTenant() });
  await storeEpisode(context, { butler: 'alfred', content: 'the first one registers the model' });
  return context;
}

describe('a tenant beside neighbours whose memories are nearer to the query', () => {
  let context: MemoryContext;

  beforeEach(async () => {
    await insert(await newMember(), 'episodes', numbered(150, 'green tea'));
    context = await newMember();
    await insert(context, 'episodes', numbered(20, 'green tea and a chair'));
    await insert(context, 'facts', numbered(30, 'a green table and a black chair by the window'));
  });

  /** The scans of indexes stop where those of a large fleet do: before they have come to the rows of the tenant. */
  function withShortScans(limits: { exactScanRows: number }): MemoryContext {
    const { db, principal } = context;
    const stop = Prisma.sql`SELECT set_config('hnsw.iterative_scan', 'off', true)`;
    const roundTrip: TenantDatabase['roundTrip'] = async (statements, settings) => {
      const answers = await db.roundTrip([...statements.slice(0, -1), stop, ...statements.slice(-1)], settings);
      return answers.toSpliced(statements.length - 1, 1);
    };
    return { ...retrieval.context({ principal, retrieval: limits }), db: { ...db, roundTrip } };
  }

  it('finds its nearest of each type, although those of another type fill the limit', async () => {
    const starving = withShortScans({ exactScanRows: 0 });
    const found = await searchMemories(starving, { query: 'green tea', mode: 'semantic', limit: 20 });

    expect(contentsOf(found).toSorted()).toEqual(numbered(20, 'green tea and a chair').toSorted());
  });
});

describe('a small tenant in large tables', () => {
  const rows = 100;
  let context: MemoryContext;

  interface IndexScans {
    name: string;
    scans: number;
  }

  /** Of the indexes that hold the words and vectors of all tenants. */
  const readScans = Prisma.sql`
    SELECT json_agg(json_build_object('name', relname, 'scans', pg_stat_get_xact_numscans(oid)))::text
    FROM pg_class WHERE relkind = 'i' AND relname ~ '^(episodes|facts|rules)_(search|embedding)$'`;

  beforeAll(async () => {
    context = await newMember();
    await insert(context, 'episodes', numbered(rows, 'green tea and a chair'));
    // As if so many rows of others were there: the planner's statistics are all that a tenant sees of those.
    await context.db.database.asOwner(async (client) => {
      await client.query('ALTER TABLE episodes SET (autovacuum_enabled = false)');
      await client.query(`UPDATE pg_class SET reltuples = 600000 WHERE oid = 'episodes'::regclass`);
    });
  });

  it('is searched row by row, and its words are counted so, without the indexes that all tenants share', async () => {
    const { db, principal } = context;
    const scanned: IndexScans[] = [];
    const roundTrip: TenantDatabase['roundTrip'] = async (statements, settings) => {
      const answers = await db.roundTrip([readScans, ...statements, readScans], settings);
      const [before, after] = [answers.at(0), answers.at(-1)].map((text) => JSON.parse(text ?? '[]') as IndexScans[]);
      scanned.push(...(after ?? []).filter(({ name, scans }) => scans > scansOf(before ?? [], name)));
      return answers.slice(1, -1);
    };
    const { results } = await searchMemories(
      { ...retrieval.context({ principal, retrieval: { exactScanRows: 10 } }), db: { ...db, roundTrip } },
      { query: 'green tea', limit: 50, types: ['episode'] },
    );

    expect(results).toHaveLength(50);
    expect(scanned).toEqual([]);
  });

  function scansOf(list: readonly IndexScans[], name: string): number {
    return list.find((one) => one.name === name)?.scans ?? 0;
  }
});

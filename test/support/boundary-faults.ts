import type { PoolClient } from 'pg';

/** What in the catalog would let a row be seen or referred to across tenants. Each fault names its table. */
export async function listBoundaryFaults(client: Pick<PoolClient, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ fault: string }>(`
    WITH tables AS (
      SELECT pg_class.oid, relname, relrowsecurity, relowner,
        (SELECT attnum FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'tenant_id' AND attnotnull) AS tenant
      FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'
    ),
    policies AS (
      SELECT polrelid, polname, pg_get_expr(polqual, polrelid) AS reads, pg_get_expr(polwithcheck, polrelid) AS writes
      FROM pg_policy
      -- A restrictive one can only narrow what these let through.
      WHERE polpermissive
    )
    SELECT format('%s has no tenant_id that is never null', relname) AS fault FROM tables WHERE tenant IS NULL
    UNION ALL
    SELECT format('%s does not enable row-level security', relname) FROM tables WHERE NOT relrowsecurity
    UNION ALL
    SELECT format('%s has no policy', relname) FROM tables
    WHERE NOT EXISTS (SELECT FROM policies WHERE polrelid = oid)
    UNION ALL
    SELECT format('%s: policy %s does not compare tenant_id for reading', relname, polname)
    FROM tables JOIN policies ON polrelid = oid WHERE reads IS DISTINCT FROM ${theComparison}
    UNION ALL
    SELECT format('%s: policy %s does not compare tenant_id for writing', relname, polname)
    FROM tables JOIN policies ON polrelid = oid WHERE writes IS DISTINCT FROM ${theComparison}
    UNION ALL
    SELECT format('%s: unique index %s lacks tenant_id', relname, indexrelid::regclass)
    FROM tables JOIN pg_index ON indrelid = oid WHERE indisunique AND tenant <> ALL (indkey::smallint[])
    UNION ALL
    SELECT format('%s: foreign key %s lacks tenant_id on a side', tables.relname, conname)
    FROM pg_constraint JOIN tables ON tables.oid = conrelid LEFT JOIN tables target ON target.oid = confrelid
    WHERE contype = 'f' AND NOT EXISTS (
      SELECT FROM unnest(conkey, confkey) AS pair (own, other) WHERE own = tables.tenant AND other = target.tenant
    )
    UNION ALL
    SELECT format('%s belongs to a role of the server', relname) FROM tables
    WHERE pg_has_role('butler_memory_app', relowner, 'MEMBER') OR pg_has_role('butler_memory_maintenance', relowner, 'MEMBER')
    UNION ALL
    SELECT format('role %s passes by row-level security', rolname) FROM pg_roles
    WHERE rolname IN ('butler_memory_app', 'butler_memory_maintenance') AND (rolsuper OR rolbypassrls)
    ORDER BY fault`);
  return rows.map(({ fault }) => fault);
}

/** Exactly: of two permissive policies, one that adds OR true opens the table. */
const theComparison = `'(tenant_id = current_setting(''app.tenant''::text, true))'`;

-- The tenant boundary, a second time, in the database. The server never works as the owner of these tables: each
-- transaction takes one of two roles that own nothing.
--   butler_memory_app          reads and writes the rows of the tenant that the transaction has set, and no others.
--   butler_memory_maintenance  sees no tenant's rows; it may list the tenants and work the job queue.
-- Roles belong to the whole cluster, so another database of it may have made them already, or be making them now.
DO $$
DECLARE
  role_name text;
  own_role text := quote_ident(current_setting('role'));
BEGIN
  FOREACH role_name IN ARRAY ARRAY['butler_memory_app', 'butler_memory_maintenance'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', role_name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END IF;
    -- A superuser may take any role. Who made a role may hand it out but, since PostgreSQL 16, not take it; who was
    -- given it may take it but not hand it out. Whether it can be taken shows in the line after.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
      BEGIN
        EXECUTE format('GRANT %I TO %I', role_name, current_user);
      EXCEPTION WHEN insufficient_privilege THEN
        NULL;
      END;
    END IF;
    EXECUTE format('SET LOCAL ROLE %I', role_name);
    EXECUTE format('SET LOCAL ROLE %s', own_role);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role_name);
  END LOOP;
END
$$;

DO $$
DECLARE
  table_name text;
BEGIN
  FOREACH table_name IN ARRAY ARRAY[
    'episodes', 'facts', 'rules', 'memory_links', 'memory_events', 'rule_applications', 'embedding_versions',
    'episode_tombstones', 'consolidation_runs', 'context_receipts', 'idempotency_keys', 'api_tokens'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format(
      'CREATE POLICY tenant_boundary ON %I TO butler_memory_app
         USING (tenant_id = current_setting(''app.tenant'', true))
         WITH CHECK (tenant_id = current_setting(''app.tenant'', true))',
      table_name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO butler_memory_app', table_name);
  END LOOP;
END
$$;

-- Append-only for the server by right as well as by trigger.
REVOKE UPDATE, DELETE ON memory_events FROM butler_memory_app;

-- Sweeps visit tenant after tenant, each within its own boundary; this list is all that they see across it. It runs
-- as the owner of the tables, whom row-level security does not bind. Each step jumps to the next tenant through the
-- primary key, so its cost grows with the tenants and not with their rows.
CREATE FUNCTION memory_tenants() RETURNS SETOF text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    WITH RECURSIVE
      of_episodes AS (
        (SELECT tenant_id FROM episodes ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM episodes e WHERE e.tenant_id > o.tenant_id ORDER BY e.tenant_id LIMIT 1)
        FROM of_episodes o WHERE o.tenant_id IS NOT NULL
      ),
      of_facts AS (
        (SELECT tenant_id FROM facts ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT f.tenant_id FROM facts f WHERE f.tenant_id > o.tenant_id ORDER BY f.tenant_id LIMIT 1)
        FROM of_facts o WHERE o.tenant_id IS NOT NULL
      ),
      of_rules AS (
        (SELECT tenant_id FROM rules ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT r.tenant_id FROM rules r WHERE r.tenant_id > o.tenant_id ORDER BY r.tenant_id LIMIT 1)
        FROM of_rules o WHERE o.tenant_id IS NOT NULL
      )
    SELECT tenant_id FROM (
      SELECT tenant_id FROM of_episodes
      UNION SELECT tenant_id FROM of_facts
      UNION SELECT tenant_id FROM of_rules
      UNION SELECT tenant_id FROM embedding_versions
    ) tenants
    WHERE tenant_id IS NOT NULL
    ORDER BY tenant_id
  $$;
REVOKE ALL ON FUNCTION memory_tenants() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_tenants() TO butler_memory_maintenance;

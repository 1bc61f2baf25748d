-- A token may reach into other tenants: those that it names, or all ('*'). Only an admin's, to read unless it says more.
ALTER TABLE api_tokens
  ADD COLUMN across text[] NOT NULL DEFAULT '{}',
  ADD COLUMN across_write boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT api_tokens_across_check CHECK (across = '{}' OR role = 'admin'),
  ADD CONSTRAINT api_tokens_across_write_check CHECK (NOT across_write OR across <> '{}');

-- Its answer has more columns than before, which takes another function. Servers that ask for the old ones still can.
DROP FUNCTION memory_token(text, timestamptz);
CREATE FUNCTION memory_token(hash text, at timestamptz)
  RETURNS TABLE (
    tenant_id text, id uuid, butler text, role text, last_used_at timestamptz,
    expires_at timestamptz, across text[], across_write boolean)
  LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path FROM CURRENT
  AS $$
    SELECT tenant_id, id, butler, role, last_used_at, expires_at, across, across_write FROM api_tokens
    WHERE token_hash = hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > at)
  $$;
REVOKE ALL ON FUNCTION memory_token(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_token(text, timestamptz) TO butler_memory_maintenance;

-- Whether a tenant is there to be entered, without listing those that are.
CREATE FUNCTION memory_tenant_exists(tenant text) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    SELECT EXISTS (SELECT FROM api_tokens WHERE tenant_id = tenant)
      OR EXISTS (SELECT FROM embedding_versions WHERE tenant_id = tenant)
      OR EXISTS (SELECT FROM episodes WHERE tenant_id = tenant)
      OR EXISTS (SELECT FROM facts WHERE tenant_id = tenant)
      OR EXISTS (SELECT FROM rules WHERE tenant_id = tenant)
  $$;
REVOKE ALL ON FUNCTION memory_tenant_exists(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_tenant_exists(text) TO butler_memory_maintenance;

-- Who looked at what: an admin's reads, and every request that crossed into a tenant or out of it. No content of a
-- memory and no text of a question; kept for a while only.
CREATE TABLE access_records (
  tenant_id text NOT NULL CONSTRAINT access_records_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  accessed_at timestamptz(3) NOT NULL,
  kind text NOT NULL CONSTRAINT access_records_kind_check CHECK (kind IN ('read', 'write', 'feed')),
  actor text NOT NULL CONSTRAINT access_records_actor_check CHECK (actor <> ''),
  request_id text NOT NULL,
  operations text[] NOT NULL,
  ids text[] NOT NULL DEFAULT '{}',
  digest text NOT NULL,
  -- The tenant that whoever it was came from; in the books of that tenant, the one that was entered.
  home_tenant text,
  entered_tenant text,
  CONSTRAINT access_records_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX access_records_by_time ON access_records (tenant_id, accessed_at DESC, id DESC);

ALTER TABLE access_records ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON access_records TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
CREATE POLICY butler_reach ON access_records AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '') WITH CHECK ((SELECT memory_butler()) = '');
GRANT SELECT, INSERT, DELETE ON access_records TO butler_memory_app;

-- A tenant in which somebody only looked is one too: its records are to be removed when their time has come.
CREATE OR REPLACE FUNCTION memory_tenants() RETURNS SETOF text
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
      ),
      of_accesses AS (
        (SELECT tenant_id FROM access_records ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT a.tenant_id FROM access_records a WHERE a.tenant_id > o.tenant_id ORDER BY a.tenant_id LIMIT 1)
        FROM of_accesses o WHERE o.tenant_id IS NOT NULL
      )
    SELECT tenant_id FROM (
      SELECT tenant_id FROM of_episodes
      UNION SELECT tenant_id FROM of_facts
      UNION SELECT tenant_id FROM of_rules
      UNION SELECT tenant_id FROM of_accesses
      UNION SELECT tenant_id FROM embedding_versions
      UNION SELECT tenant_id FROM api_tokens
    ) tenants
    WHERE tenant_id IS NOT NULL
    ORDER BY tenant_id
  $$;

-- Whose a token is: asked before there is a tenant, so it runs as the owner of the tables and tells of that token alone.
-- Who does not know the token cannot know its hash.
CREATE INDEX api_tokens_by_hash_alone ON api_tokens (token_hash);

CREATE FUNCTION memory_token(hash text, at timestamptz)
  RETURNS TABLE (tenant_id text, id uuid, butler text, role text, last_used_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path FROM CURRENT
  AS $$
    SELECT tenant_id, id, butler, role, last_used_at FROM api_tokens
    WHERE token_hash = hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > at)
  $$;

REVOKE ALL ON FUNCTION memory_token(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_token(text, timestamptz) TO butler_memory_maintenance;

-- A tenant that has tokens and has stored nothing yet is one too.
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
      )
    SELECT tenant_id FROM (
      SELECT tenant_id FROM of_episodes
      UNION SELECT tenant_id FROM of_facts
      UNION SELECT tenant_id FROM of_rules
      UNION SELECT tenant_id FROM embedding_versions
      UNION SELECT tenant_id FROM api_tokens
    ) tenants
    WHERE tenant_id IS NOT NULL
    ORDER BY tenant_id
  $$;

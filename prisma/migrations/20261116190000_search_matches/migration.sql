-- Full-text search through its index. Row-level security hides the index from the server's role: the operator @@ is not
-- leakproof, so PostgreSQL may evaluate it only after the tenant's condition, row by row. These two functions run as the
-- owner of the tables, whom row-level security does not bind, and take the tenant from the transaction, never from an
-- argument. They tell ids and counts only; the rows themselves are read within the tenant's boundary again.
-- IS TRUE keeps the index of expiry out of it: nearly all rows pass, and scanning it costs more than the words do.

-- The ids of the memories of one type that match, the newest `most` of them. Filters that need no index come later.
CREATE FUNCTION memory_matches(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER ROWS 500 SET search_path FROM CURRENT
  AS $$
    SELECT id FROM (
      SELECT id, created_at FROM episodes
      WHERE memory_type = 'episode' AND tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
        AND of_butler IS NULL AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
      UNION ALL
      -- Apart, so that the index of the words and that of the butler can be used together.
      SELECT id, created_at FROM episodes
      WHERE memory_type = 'episode' AND tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
        AND butler = of_butler AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
      UNION ALL
      SELECT id, created_at FROM facts
      WHERE memory_type = 'fact' AND tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
        AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity <> 'retracted'
      UNION ALL
      SELECT id, created_at FROM rules
      WHERE memory_type = 'rule' AND tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
        AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND forgotten_at IS NULL
    ) matches
    ORDER BY created_at DESC, id LIMIT most
  $$;

-- How many memories of one type, of those that a search may find at all, match.
CREATE FUNCTION memory_match_count(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz
) RETURNS bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    SELECT CASE memory_type
      WHEN 'episode' THEN (
        SELECT count(*) FROM episodes
        WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
          AND of_butler IS NULL AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
      ) + (
        SELECT count(*) FROM episodes
        WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
          AND butler = of_butler AND forgotten_at IS NULL AND (expires_at > at) IS TRUE)
      WHEN 'fact' THEN (
        SELECT count(*) FROM facts
        WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
          AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity IN ('active', 'fading'))
      WHEN 'rule' THEN (
        SELECT count(*) FROM rules
        WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
          AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity IN ('active', 'fading') AND forgotten_at IS NULL)
    END
  $$;

REVOKE ALL ON FUNCTION memory_matches(text, tsquery, text, text[], timestamptz, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION memory_match_count(text, tsquery, text, text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_matches(text, tsquery, text, text[], timestamptz, integer) TO butler_memory_app;
GRANT EXECUTE ON FUNCTION memory_match_count(text, tsquery, text, text[], timestamptz) TO butler_memory_app;

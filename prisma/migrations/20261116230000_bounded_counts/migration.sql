-- What a search counts and takes of a frequent word must not take longer the more there is. The functions run as the
-- owner of the tables and take the tenant from the transaction, as those of search_matches do.

-- They are in PL/pgSQL, which keeps the plan of a statement for as long as the connection lasts: to plan one of them takes
-- longer than to run it.

-- How many memories of one type, of those that a search may find at all, match: exactly, up to `most`. With a table scan
-- out of the question the index brings the matches, and reading the rows ends at `most`.
DROP FUNCTION memory_match_count(text, tsquery, text, text[], timestamptz);
CREATE FUNCTION memory_match_count(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS bigint
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off
  AS $$
    BEGIN
      IF memory_type = 'episode' AND of_butler IS NULL THEN
        RETURN (SELECT count(*) FROM (
          SELECT FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          LIMIT most) found);
      -- Apart, so that the index of the words and that of the butler can be used together.
      ELSIF memory_type = 'episode' THEN
        RETURN (SELECT count(*) FROM (
          SELECT FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND butler = of_butler AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          LIMIT most) found);
      ELSIF memory_type = 'fact' THEN
        RETURN (SELECT count(*) FROM (
          SELECT FROM facts
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity IN ('active', 'fading')
          LIMIT most) found);
      ELSIF memory_type = 'rule' THEN
        RETURN (SELECT count(*) FROM (
          SELECT FROM rules
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity IN ('active', 'fading') AND forgotten_at IS NULL
          LIMIT most) found);
      END IF;
      RETURN 0;
    END
  $$;

-- As before, with plans that are kept.
CREATE OR REPLACE FUNCTION memory_matches(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET search_path FROM CURRENT SET enable_seqscan = off
  AS $$
    BEGIN
      IF memory_type = 'episode' AND of_butler IS NULL THEN
        RETURN QUERY SELECT id FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'episode' THEN
        RETURN QUERY SELECT id FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND butler = of_butler AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'fact' THEN
        RETURN QUERY SELECT id FROM facts
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity <> 'retracted'
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'rule' THEN
        RETURN QUERY SELECT id FROM rules
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND forgotten_at IS NULL
          ORDER BY created_at DESC, id LIMIT most;
      END IF;
    END
  $$;

-- How many rows of one type the tenant has, as the planner estimates it from the statistics of the table.
CREATE FUNCTION memory_rows_estimate(memory_type text) RETURNS bigint
  -- Volatile, although it changes nothing: EXPLAIN is not allowed in any other.
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    DECLARE
      plan json;
    BEGIN
      EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM %I WHERE tenant_id = %L',
        CASE memory_type WHEN 'episode' THEN 'episodes' WHEN 'fact' THEN 'facts' WHEN 'rule' THEN 'rules' END,
        current_setting('app.tenant', true)) INTO plan;
      RETURN (plan->0->'Plan'->>'Plan Rows')::bigint;
    END
  $$;

-- As memory_matches, for a word that so many memories have that its newest ones are soon found among the newest of all:
-- the index of the words would bring every match before the first could be left out.
CREATE FUNCTION memory_newest_matches(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500
  SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off
  AS $$
    BEGIN
      IF memory_type = 'episode' AND of_butler IS NULL THEN
        RETURN QUERY SELECT id FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'episode' THEN
        RETURN QUERY SELECT id FROM episodes
          WHERE tenant_id = current_setting('app.tenant', true) AND butler = of_butler AND search_vector @@ wanted
            AND forgotten_at IS NULL AND (expires_at > at) IS TRUE
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'fact' THEN
        RETURN QUERY SELECT id FROM facts
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity <> 'retracted'
          ORDER BY created_at DESC, id LIMIT most;
      ELSIF memory_type = 'rule' THEN
        RETURN QUERY SELECT id FROM rules
          WHERE tenant_id = current_setting('app.tenant', true) AND search_vector @@ wanted
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND forgotten_at IS NULL
          ORDER BY created_at DESC, id LIMIT most;
      END IF;
    END
  $$;

REVOKE ALL ON FUNCTION memory_match_count(text, tsquery, text, text[], timestamptz, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION memory_rows_estimate(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_match_count(text, tsquery, text, text[], timestamptz, integer) TO butler_memory_app;
GRANT EXECUTE ON FUNCTION memory_rows_estimate(text) TO butler_memory_app;
REVOKE ALL ON FUNCTION memory_newest_matches(text, tsquery, text, text[], timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_newest_matches(text, tsquery, text, text[], timestamptz, integer) TO butler_memory_app;

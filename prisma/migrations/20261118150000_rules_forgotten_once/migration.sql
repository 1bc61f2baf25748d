-- Whether a rule is forgotten was kept twice, as the validity `retracted` and as the time of it. The validity stays; the
-- time is that of the event that forgot the rule. Events from before keep the column in their snapshots.

-- As before, but for that column of rules.
CREATE OR REPLACE FUNCTION memory_match_count(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS bigint
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off
  SET plan_cache_mode = 'force_custom_plan'
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
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity IN ('active', 'fading')
          LIMIT most) found);
      END IF;
      RETURN 0;
    END
  $$;

CREATE OR REPLACE FUNCTION memory_matches(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500 SET search_path FROM CURRENT SET enable_seqscan = off
  SET plan_cache_mode = 'force_custom_plan' SET enable_sort = 'on'
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
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity <> 'retracted'
          ORDER BY created_at DESC, id LIMIT most;
      END IF;
    END
  $$;

CREATE OR REPLACE FUNCTION memory_newest_matches(
  memory_type text, wanted tsquery, of_butler text, in_scopes text[], at timestamptz, most integer
) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 500
  SET search_path FROM CURRENT SET enable_seqscan = off SET enable_bitmapscan = off
  SET plan_cache_mode = 'force_custom_plan' SET enable_sort = 'off'
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
            AND (in_scopes IS NULL OR scope = ANY (in_scopes)) AND validity <> 'retracted'
          ORDER BY created_at DESC, id LIMIT most;
      END IF;
    END
  $$;

ALTER TABLE rules DROP COLUMN forgotten_at;

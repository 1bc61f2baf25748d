CREATE INDEX consolidation_runs_of_models ON consolidation_runs (started_at) WHERE engine = 'llm';

-- The limit of what models may cost in a day is one for all tenants, whose runs nobody sees together. This sum is all
-- that is seen across their boundary. A run that is under way, or whose worker was lost, may have used any number of
-- tokens: such runs are counted.
CREATE FUNCTION consolidation_spending(since timestamptz, except_run uuid)
  RETURNS TABLE (input_tokens bigint, output_tokens bigint, unsettled_runs bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    SELECT coalesce(sum(r.input_tokens), 0)::bigint, coalesce(sum(r.output_tokens), 0)::bigint,
      count(*) FILTER (WHERE r.input_tokens IS NULL AND r.status IN ('running', 'lost'))
    FROM consolidation_runs r
    WHERE r.engine = 'llm' AND r.started_at >= since AND r.id IS DISTINCT FROM except_run
  $$;
REVOKE ALL ON FUNCTION consolidation_spending(timestamptz, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION consolidation_spending(timestamptz, uuid) TO butler_memory_maintenance;

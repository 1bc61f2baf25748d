-- How much of its tenant a butler sees: what is global, and what is its own. The setting app.butler says that a
-- transaction is a butler's; empty or not set, it is that of somebody who works for the whole tenant. These policies
-- narrow what the boundary of the tenant lets through. The subselect is evaluated once for a statement, not for a row.
CREATE FUNCTION memory_butler() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT coalesce(current_setting('app.butler', true), '') $$;

DO $$
DECLARE
  reach record;
BEGIN
  FOR reach IN SELECT * FROM (VALUES
    ('episodes', 'butler = (SELECT memory_butler())'),
    ('episode_tombstones', 'butler = (SELECT memory_butler())'),
    ('context_receipts', 'butler = (SELECT memory_butler())'),
    ('consolidation_runs', 'butler = (SELECT memory_butler())'),
    ('facts', 'scope = ''global'' OR scope = (SELECT memory_butler())'),
    ('rules', 'scope = ''global'' OR scope = (SELECT memory_butler())'),
    -- A link or a use says something of its ends: who may not see both sees neither it. The tables they are looked up
    -- in have policies of their own.
    ('rule_applications', 'memory_exists(tenant_id, ''rule'', rule_id)'),
    ('memory_links',
      'memory_exists(tenant_id, source_type, source_id) AND memory_exists(tenant_id, target_type, target_id)'),
    -- For those who run the server.
    ('job_runs', 'false'),
    ('event_days', 'false'),
    ('api_tokens', 'false')
  ) AS reaches (table_name, of_butler) LOOP
    EXECUTE format(
      'CREATE POLICY butler_reach ON %I AS RESTRICTIVE TO butler_memory_app
         USING ((SELECT memory_butler()) = '''' OR %2$s) WITH CHECK ((SELECT memory_butler()) = '''' OR %2$s)',
      reach.table_name, reach.of_butler);
  END LOOP;
END
$$;

-- What was done to a memory is seen by who sees the memory. Of what concerns the whole tenant a butler may cause events
-- (the first that stores something registers the model), but it does not see them.
CREATE FUNCTION memory_event_ends_exist(tenant text, link jsonb) RETURNS boolean LANGUAGE sql STABLE
  AS $$
    SELECT memory_exists(tenant, link ->> 'sourceType', (link ->> 'sourceId')::uuid)
      AND memory_exists(tenant, link ->> 'targetType', (link ->> 'targetId')::uuid)
  $$;
CREATE POLICY butler_reach ON memory_events AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '' OR CASE
    WHEN entity_type IN ('episode', 'fact', 'rule') THEN memory_exists(tenant_id, entity_type, entity_id::uuid)
    WHEN entity_type = 'link' THEN
      memory_event_ends_exist(tenant_id, coalesce(nullif(payload -> 'after', 'null'), payload -> 'before'))
    WHEN entity_type = 'consolidation_run' THEN EXISTS (
      SELECT FROM consolidation_runs AS run WHERE run.tenant_id = memory_events.tenant_id AND run.id::text = entity_id)
    ELSE false
  END)
  WITH CHECK (true);

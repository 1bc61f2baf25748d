-- What is left of a fact or rule whose row retention has removed: enough to answer a citation, nothing of what it said.
CREATE TABLE memory_tombstones (
  tenant_id text NOT NULL CONSTRAINT memory_tombstones_tenant_check CHECK (tenant_id <> ''),
  type text NOT NULL CONSTRAINT memory_tombstones_type_check CHECK (type IN ('fact', 'rule')),
  id uuid NOT NULL,
  scope text NOT NULL CONSTRAINT memory_tombstones_scope_check CHECK (scope <> ''),
  reason text NOT NULL CONSTRAINT memory_tombstones_reason_check CHECK (reason IN ('retention', 'erased')),
  created_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  CONSTRAINT memory_tombstones_pkey PRIMARY KEY (tenant_id, type, id)
);

ALTER TABLE memory_tombstones ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON memory_tombstones TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
CREATE POLICY butler_reach ON memory_tombstones AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '' OR scope = 'global' OR scope = (SELECT memory_butler()))
  WITH CHECK ((SELECT memory_butler()) = '' OR scope = 'global' OR scope = (SELECT memory_butler()));
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_tombstones TO butler_memory_app;

-- Links to what was removed stay, and its events are seen by who saw it.
CREATE OR REPLACE FUNCTION memory_exists(tenant text, memory_type text, memory_id uuid) RETURNS boolean
  LANGUAGE sql STABLE STRICT
  AS $$
    SELECT CASE memory_type
      WHEN 'fact' THEN EXISTS (SELECT FROM facts WHERE tenant_id = tenant AND id = memory_id)
        OR EXISTS (SELECT FROM memory_tombstones WHERE tenant_id = tenant AND type = 'fact' AND id = memory_id)
      WHEN 'rule' THEN EXISTS (SELECT FROM rules WHERE tenant_id = tenant AND id = memory_id)
        OR EXISTS (SELECT FROM memory_tombstones WHERE tenant_id = tenant AND type = 'rule' AND id = memory_id)
      ELSE EXISTS (SELECT FROM episodes WHERE tenant_id = tenant AND id = memory_id)
        OR EXISTS (SELECT FROM episode_tombstones WHERE tenant_id = tenant AND id = memory_id)
    END
  $$;

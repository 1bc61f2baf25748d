-- Facts whose content is encrypted by the server. The database sees ciphertext and never a key: a data key is kept
-- wrapped by the master key, which is not in the database.
CREATE TABLE data_keys (
  tenant_id text NOT NULL CONSTRAINT data_keys_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  wrapped_key bytea NOT NULL CONSTRAINT data_keys_wrapped_key_check CHECK (octet_length(wrapped_key) > 32),
  -- A fingerprint, by which a wrong master key is told before anything is read with it.
  master_key_id text NOT NULL CONSTRAINT data_keys_master_key_check CHECK (master_key_id <> ''),
  -- Nothing is sealed under a retired key any more; events may hold what was. The master key of a lost one is gone.
  status text NOT NULL CONSTRAINT data_keys_status_check CHECK (status IN ('active', 'retired', 'lost')),
  created_at timestamptz(3) NOT NULL,
  retired_at timestamptz(3),
  CONSTRAINT data_keys_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT data_keys_retired_check CHECK ((status = 'active') = (retired_at IS NULL))
);
CREATE UNIQUE INDEX data_keys_one_active ON data_keys (tenant_id) WHERE status = 'active';

ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON data_keys TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON data_keys TO butler_memory_app;

-- The fact keeps its subject and predicate. What was its content, tags and metadata is in sealed_content, and nothing of
-- it may stand beside that.
ALTER TABLE facts
  ADD COLUMN sealed_content bytea,
  ADD COLUMN data_key_id uuid,
  ADD CONSTRAINT facts_sealed_check CHECK ((sealed_content IS NULL) = (data_key_id IS NULL)),
  ADD CONSTRAINT facts_sealed_content_check
    CHECK (sealed_content IS NULL OR (content = '***' AND tags = '[]' AND metadata = '{}')),
  ADD CONSTRAINT facts_data_key_fkey FOREIGN KEY (tenant_id, data_key_id) REFERENCES data_keys (tenant_id, id);
CREATE INDEX facts_by_data_key ON facts (tenant_id, data_key_id, id) WHERE data_key_id IS NOT NULL;

-- At the start the server asks which master keys it has to have. It runs as the owner, whom row-level security does
-- not bind, and tells fingerprints only.
CREATE FUNCTION memory_master_keys() RETURNS TABLE (master_key_id text, data_keys integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$ SELECT k.master_key_id, count(*)::integer FROM data_keys k WHERE k.status <> 'lost' GROUP BY 1 ORDER BY 1 $$;
REVOKE ALL ON FUNCTION memory_master_keys() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_master_keys() TO butler_memory_maintenance;

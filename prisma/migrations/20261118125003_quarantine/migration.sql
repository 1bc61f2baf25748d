-- What consolidation found in text that neither the user nor the butler said, for an operator to approve or refuse. It
-- goes with its episode, so that expiry and erasure leave nothing of it. Its events keep no text.
CREATE TABLE quarantined_items (
  tenant_id text NOT NULL CONSTRAINT quarantined_items_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  episode_id uuid NOT NULL,
  butler text NOT NULL CONSTRAINT quarantined_items_butler_check CHECK (butler <> ''),
  kind text NOT NULL CONSTRAINT quarantined_items_kind_check CHECK (kind IN ('fact', 'rule')),
  content text NOT NULL CONSTRAINT quarantined_items_content_check CHECK (content <> ''),
  status text NOT NULL DEFAULT 'waiting'
    CONSTRAINT quarantined_items_status_check CHECK (status IN ('waiting', 'approved', 'refused')),
  memory_id uuid,
  decided_by text,
  created_at timestamptz(3) NOT NULL,
  decided_at timestamptz(3),
  CONSTRAINT quarantined_items_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT quarantined_items_decided_check CHECK ((status = 'waiting') = (decided_at IS NULL)),
  CONSTRAINT quarantined_items_episode_fkey FOREIGN KEY (tenant_id, episode_id)
    REFERENCES episodes (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX quarantined_items_by_episode ON quarantined_items (tenant_id, episode_id);
CREATE INDEX quarantined_items_by_status ON quarantined_items (tenant_id, status, created_at DESC, id DESC);

ALTER TABLE quarantined_items ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON quarantined_items TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
-- A butler may cause entries when it submits, and sees none.
CREATE POLICY butler_reach ON quarantined_items AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '')
  WITH CHECK ((SELECT memory_butler()) = '' OR butler = (SELECT memory_butler()));
GRANT SELECT, INSERT, UPDATE, DELETE ON quarantined_items TO butler_memory_app;

ALTER TABLE memory_events DROP CONSTRAINT memory_events_entity_type_check;
ALTER TABLE memory_events ADD CONSTRAINT memory_events_entity_type_check CHECK (entity_type IN
  ('episode', 'fact', 'rule', 'link', 'review', 'quarantined_item', 'embedding_version', 'consolidation_run', 'token', 'tenant'));

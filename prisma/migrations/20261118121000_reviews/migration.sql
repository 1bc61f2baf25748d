-- Pairs of facts that somebody should look at: two that may say the same, or a note that may have changed. No text of a
-- memory. An entry goes with either of its facts, so that erasure and retention leave nothing of it.
CREATE TABLE reviews (
  tenant_id text NOT NULL CONSTRAINT reviews_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT reviews_kind_check CHECK (kind IN ('same_thing', 'note_change')),
  -- That of the facts, or, where one of them is global, of the other.
  scope text NOT NULL CONSTRAINT reviews_scope_check CHECK (scope <> ''),
  newer_id uuid NOT NULL,
  older_id uuid NOT NULL,
  reason text NOT NULL CONSTRAINT reviews_reason_check CHECK (reason <> ''),
  status text NOT NULL DEFAULT 'open' CONSTRAINT reviews_status_check CHECK (status IN ('open', 'settled')),
  outcome text CONSTRAINT reviews_outcome_check
    CHECK (outcome IN ('keep_both', 'newer_supersedes', 'older_supersedes', 'withdrawn')),
  settled_by text,
  opened_at timestamptz(3) NOT NULL,
  settled_at timestamptz(3),
  CONSTRAINT reviews_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT reviews_ends_check CHECK (newer_id <> older_id),
  CONSTRAINT reviews_settled_check CHECK ((status = 'open') = (outcome IS NULL) AND (status = 'open') = (settled_at IS NULL)),
  CONSTRAINT reviews_newer_fkey FOREIGN KEY (tenant_id, newer_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT reviews_older_fkey FOREIGN KEY (tenant_id, older_id) REFERENCES facts (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX reviews_one_per_pair ON reviews (tenant_id, kind, newer_id, older_id);
CREATE INDEX reviews_by_newer ON reviews (tenant_id, newer_id);
CREATE INDEX reviews_by_older ON reviews (tenant_id, older_id);
CREATE INDEX reviews_by_status ON reviews (tenant_id, status, opened_at DESC, id DESC);

ALTER TABLE reviews ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON reviews TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
CREATE POLICY butler_reach ON reviews AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '' OR scope = 'global' OR scope = (SELECT memory_butler()))
  WITH CHECK ((SELECT memory_butler()) = '' OR scope = 'global' OR scope = (SELECT memory_butler()));
GRANT SELECT, INSERT, UPDATE, DELETE ON reviews TO butler_memory_app;

ALTER TABLE memory_events DROP CONSTRAINT memory_events_entity_type_check;
ALTER TABLE memory_events ADD CONSTRAINT memory_events_entity_type_check CHECK (entity_type IN
  ('episode', 'fact', 'rule', 'link', 'review', 'embedding_version', 'consolidation_run', 'token', 'tenant'));

-- The events of a review are seen by who sees the review.
DROP POLICY butler_reach ON memory_events;
CREATE POLICY butler_reach ON memory_events AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '' OR CASE
    WHEN entity_type IN ('episode', 'fact', 'rule') THEN memory_exists(tenant_id, entity_type, entity_id::uuid)
    WHEN entity_type = 'link' THEN
      memory_event_ends_exist(tenant_id, coalesce(nullif(payload -> 'after', 'null'), payload -> 'before'))
    WHEN entity_type = 'review' THEN EXISTS (
      SELECT FROM reviews AS review WHERE review.tenant_id = memory_events.tenant_id AND review.id::text = entity_id)
    WHEN entity_type = 'consolidation_run' THEN EXISTS (
      SELECT FROM consolidation_runs AS run WHERE run.tenant_id = memory_events.tenant_id AND run.id::text = entity_id)
    ELSE false
  END)
  WITH CHECK (true);

-- How many events of which type there were on a day that is over, in UTC. Made from memory_events, and can be made again.
CREATE TABLE event_days (
  tenant_id text NOT NULL CONSTRAINT event_days_tenant_check CHECK (tenant_id <> ''),
  day date NOT NULL,
  event_type text NOT NULL,
  count integer NOT NULL CONSTRAINT event_days_count_check CHECK (count > 0),
  CONSTRAINT event_days_pkey PRIMARY KEY (tenant_id, day, event_type)
);

ALTER TABLE event_days ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON event_days TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON event_days TO butler_memory_app;

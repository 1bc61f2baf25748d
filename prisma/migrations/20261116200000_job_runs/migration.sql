-- One row for each run of a job in a tenant: what started it, how far it came, what it did. Dry runs leave none.
CREATE TABLE job_runs (
  tenant_id text NOT NULL CONSTRAINT job_runs_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  job text NOT NULL CONSTRAINT job_runs_job_check CHECK (job <> ''),
  started_by text NOT NULL CONSTRAINT job_runs_started_by_check CHECK (started_by IN ('schedule', 'person')),
  actor text NOT NULL,
  request_id text NOT NULL,
  status text NOT NULL CONSTRAINT job_runs_status_check CHECK (status IN ('running', 'succeeded', 'failed')),
  started_at timestamptz(3) NOT NULL,
  -- A run whose process died says nothing more: it counts as lost once this is old.
  last_sign_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  done integer NOT NULL DEFAULT 0 CONSTRAINT job_runs_done_check CHECK (done >= 0),
  total integer CONSTRAINT job_runs_total_check CHECK (total >= 0),
  report jsonb NOT NULL DEFAULT '{}' CONSTRAINT job_runs_report_check CHECK (jsonb_typeof(report) = 'object'),
  error text,
  CONSTRAINT job_runs_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT job_runs_finished_check CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX job_runs_by_start ON job_runs (tenant_id, started_at DESC, id DESC);
CREATE INDEX job_runs_by_job ON job_runs (tenant_id, job, started_at DESC, id DESC);

ALTER TABLE job_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON job_runs TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON job_runs TO butler_memory_app;

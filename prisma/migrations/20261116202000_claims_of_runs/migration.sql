-- A claim is a row of consolidation_runs and nothing else: it names its episodes. To mark each episode instead would
-- write it anew, with its entry in every index, the one of its vector included, only to say for how long it is taken.
ALTER TABLE consolidation_runs ADD COLUMN episode_ids uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE episodes DROP COLUMN lease_expires_at;

-- One run a butler at a time: its episodes are consolidated in the order in which they were stored, and no two workers
-- ever share one.
CREATE UNIQUE INDEX consolidation_runs_one_running ON consolidation_runs (tenant_id, butler) WHERE status = 'running';

-- Newest first, over all butlers.
CREATE INDEX consolidation_runs_by_start ON consolidation_runs (tenant_id, started_at DESC, id DESC);

-- Those that a run dealt with, to be requeued by what it was done with.
CREATE INDEX episodes_by_consolidation_run ON episodes (tenant_id, consolidation_run_id) WHERE consolidation_run_id IS NOT NULL;

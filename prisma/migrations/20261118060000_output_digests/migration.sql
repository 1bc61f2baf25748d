-- The digest of the output that a run was applied with: a second submit of the same is a replay, of another a conflict.
ALTER TABLE consolidation_runs ADD COLUMN output_digest text;

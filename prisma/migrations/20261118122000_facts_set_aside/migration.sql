-- A live fact that is not the current one of its key: its time has not come, or another stands in for it. An index cannot
-- compare with now(), so writes and the daily sweep keep this mark; reads decide by the valid time.
ALTER TABLE facts ADD COLUMN set_aside boolean NOT NULL DEFAULT false;

DROP INDEX facts_one_live_per_key;
CREATE UNIQUE INDEX facts_one_live_per_key ON facts (tenant_id, scope, subject_key, predicate_key)
  WHERE validity IN ('active', 'fading') AND kind = 'state' AND NOT set_aside;

CREATE INDEX facts_set_aside ON facts (tenant_id, scope, subject_key, predicate_key)
  WHERE validity IN ('active', 'fading') AND kind = 'state' AND set_aside;
CREATE INDEX facts_by_end ON facts (tenant_id, valid_to)
  WHERE validity IN ('active', 'fading') AND kind = 'state' AND valid_to IS NOT NULL;

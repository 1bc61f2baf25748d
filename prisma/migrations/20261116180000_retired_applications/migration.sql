-- A judgement that no longer counts (its mark was undone, or the text that it judged was edited) is kept with the event
-- that retired it (no foreign key: events are never deleted, and the judgement is written before them). The counters of a rule count the others.
ALTER TABLE rule_applications ADD COLUMN retired_by_event_id uuid;
CREATE INDEX rule_applications_by_retirement ON rule_applications (tenant_id, retired_by_event_id)
  WHERE retired_by_event_id IS NOT NULL;

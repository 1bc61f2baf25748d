-- Whether the engine that consolidated an episode kept nothing of it. Such an episode lives longer, so that another engine
-- can read it.
ALTER TABLE episodes
  ADD COLUMN nothing_found boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT episodes_nothing_found_check CHECK (NOT nothing_found OR consolidation_status = 'consolidated');

-- Promotion counts the distinct sessions that a fact was returned to. They are counted in the write of the reference, in
-- the row itself: digests of at most as many sessions as promotion asks for, empty again after each promotion. Before, they
-- were counted by receipts, which searches and gets do not keep.
ALTER TABLE facts
  ADD COLUMN reference_sessions text[] NOT NULL DEFAULT '{}'
    CONSTRAINT facts_reference_sessions_check CHECK (cardinality(reference_sessions) <= 100),
  ADD COLUMN last_shown_at timestamptz(3);

-- When a context last showed it: eviction goes by it, and nothing else does.
ALTER TABLE episodes ADD COLUMN last_shown_at timestamptz(3);
ALTER TABLE rules ADD COLUMN last_shown_at timestamptz(3);

DROP FUNCTION memory_session_count(uuid, timestamptz, timestamptz);

-- When the user asked for a rule. Null for a rule that was learned: the two read alike otherwise, and an order of the user
-- is no advice.
ALTER TABLE rules ADD COLUMN asked_by_user_at timestamptz(3);

-- A page of a list is the first few of its order: with these it is read from the index, however many there are.
CREATE INDEX episodes_by_creation ON episodes (tenant_id, created_at DESC, id DESC);
CREATE INDEX facts_by_creation ON facts (tenant_id, created_at DESC, id DESC);
CREATE INDEX rules_by_creation ON rules (tenant_id, created_at DESC, id DESC);

-- A handle stands for the last seven hexadecimal digits of an id, which are random: by these a memory is looked up.
CREATE INDEX episodes_by_handle ON episodes (tenant_id, right(id::text, 7));
CREATE INDEX facts_by_handle ON facts (tenant_id, right(id::text, 7));
CREATE INDEX rules_by_handle ON rules (tenant_id, right(id::text, 7));

-- HNSW and not ivfflat: ivfflat built on an empty table has meaningless lists. NULL vectors are not indexed, so the
-- slot that no model uses costs nothing.
CREATE INDEX episodes_embedding ON episodes USING hnsw (embedding vector_cosine_ops);
CREATE INDEX episodes_alternate_embedding ON episodes USING hnsw (alternate_embedding vector_cosine_ops);
CREATE INDEX facts_embedding ON facts USING hnsw (embedding vector_cosine_ops);
CREATE INDEX facts_alternate_embedding ON facts USING hnsw (alternate_embedding vector_cosine_ops);
CREATE INDEX rules_embedding ON rules USING hnsw (embedding vector_cosine_ops);
CREATE INDEX rules_alternate_embedding ON rules USING hnsw (alternate_embedding vector_cosine_ops);

CREATE INDEX episodes_search ON episodes USING gin (search_vector);
CREATE INDEX facts_search ON facts USING gin (search_vector);
CREATE INDEX rules_search ON rules USING gin (search_vector);

CREATE INDEX episodes_tags ON episodes USING gin (tags jsonb_path_ops);
CREATE INDEX facts_tags ON facts USING gin (tags jsonb_path_ops);
CREATE INDEX rules_tags ON rules USING gin (tags jsonb_path_ops);

CREATE INDEX context_receipts_by_memory ON context_receipts USING gin (memory_ids);

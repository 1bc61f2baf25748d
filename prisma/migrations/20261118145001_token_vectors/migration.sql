-- The words of a memory as the model sees them: one bit for each dimension of each word piece, which says whether the value is
-- negative, piece after piece. Belongs to the vector beside it: the same text, the same version.
CREATE DOMAIN token_signs AS bytea;

ALTER TABLE episodes ADD COLUMN embedding_tokens token_signs, ADD COLUMN alternate_embedding_tokens token_signs;
ALTER TABLE facts ADD COLUMN embedding_tokens token_signs, ADD COLUMN alternate_embedding_tokens token_signs;
ALTER TABLE rules ADD COLUMN embedding_tokens token_signs, ADD COLUMN alternate_embedding_tokens token_signs;

ALTER TABLE episodes
  ADD CONSTRAINT episodes_embedding_tokens_check CHECK (embedding_tokens IS NULL OR embedding_version_id IS NOT NULL),
  ADD CONSTRAINT episodes_alternate_embedding_tokens_check
    CHECK (alternate_embedding_tokens IS NULL OR alternate_embedding_version_id IS NOT NULL);
ALTER TABLE facts
  ADD CONSTRAINT facts_embedding_tokens_check CHECK (embedding_tokens IS NULL OR embedding_version_id IS NOT NULL),
  ADD CONSTRAINT facts_alternate_embedding_tokens_check
    CHECK (alternate_embedding_tokens IS NULL OR alternate_embedding_version_id IS NOT NULL);
ALTER TABLE rules
  ADD CONSTRAINT rules_embedding_tokens_check CHECK (embedding_tokens IS NULL OR embedding_version_id IS NOT NULL),
  ADD CONSTRAINT rules_alternate_embedding_tokens_check
    CHECK (alternate_embedding_tokens IS NULL OR alternate_embedding_version_id IS NOT NULL);

-- Where a row is too long for its page, these go out of line and the vectors stay: each search reads vectors, few read these.
ALTER TABLE episodes ALTER COLUMN embedding_tokens SET STORAGE EXTERNAL, ALTER COLUMN alternate_embedding_tokens SET STORAGE EXTERNAL,
  ALTER COLUMN embedding SET STORAGE MAIN, ALTER COLUMN alternate_embedding SET STORAGE MAIN;
ALTER TABLE facts ALTER COLUMN embedding_tokens SET STORAGE EXTERNAL, ALTER COLUMN alternate_embedding_tokens SET STORAGE EXTERNAL,
  ALTER COLUMN embedding SET STORAGE MAIN, ALTER COLUMN alternate_embedding SET STORAGE MAIN;
ALTER TABLE rules ALTER COLUMN embedding_tokens SET STORAGE EXTERNAL, ALTER COLUMN alternate_embedding_tokens SET STORAGE EXTERNAL,
  ALTER COLUMN embedding SET STORAGE MAIN, ALTER COLUMN alternate_embedding SET STORAGE MAIN;

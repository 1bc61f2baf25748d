-- A note is a fact whose subject is "note" and whose predicate ends in a digest of its text. Neither is part of what it says,
-- so a note is indexed by its content alone.
CREATE FUNCTION memory_is_note(subject text, predicate text) RETURNS boolean
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT subject = 'note' AND predicate ~ '(^|_)([0-9a-f]{8}){1,2}$' $$;

-- What a fact is indexed by. Expanded in line where it is called, so it must not name other functions of this schema.
CREATE FUNCTION memory_fact_text(subject text, predicate text, content text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$
    SELECT CASE
      WHEN subject = 'note' AND predicate ~ '(^|_)([0-9a-f]{8}){1,2}$' THEN content
      ELSE subject || ' ' || replace(predicate, '_', ' ') || ' ' || content
    END
  $$;

-- Made anew instead of altered: only PostgreSQL 17 can change the expression of a generated column.
ALTER TABLE facts DROP COLUMN search_vector;
ALTER TABLE facts ADD COLUMN search_vector tsvector NOT NULL GENERATED ALWAYS AS (
  to_tsvector(memory_text_search(language), memory_fact_text(subject, predicate, content))
) STORED;
CREATE INDEX facts_search ON facts USING gin (search_vector);

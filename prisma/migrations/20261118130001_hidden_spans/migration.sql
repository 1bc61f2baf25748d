-- What of the text of an episode is hidden because a fact or rule that it says was forgotten: {"<id of that memory>":
-- [[start, end], ...]}, in characters, end exclusive.
ALTER TABLE episodes ADD COLUMN hidden_spans jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(hidden_spans) = 'object');

-- The text without its hidden spans. Names no other function of this schema.
CREATE FUNCTION memory_shown_text(content text, hidden jsonb) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  AS $$
    DECLARE
      kept text := '';
      done integer := 0;
      span record;
    BEGIN
      -- The check of the column refuses what is no object, and runs after this.
      IF hidden = '{}' OR jsonb_typeof(hidden) <> 'object' THEN RETURN content; END IF;
      FOR span IN
        SELECT (part->>0)::integer AS first, (part->>1)::integer AS last
        FROM jsonb_each(hidden) AS by_memory, jsonb_array_elements(by_memory.value) AS part ORDER BY 1, 2
      LOOP
        IF span.first > done THEN kept := kept || substr(content, done + 1, span.first - done) || ' '; END IF;
        done := greatest(done, span.last);
      END LOOP;
      RETURN kept || substr(content, done + 1);
    END
  $$;

-- Made anew instead of altered: only PostgreSQL 17 can change the expression of a generated column.
ALTER TABLE episodes DROP COLUMN search_vector;
ALTER TABLE episodes ADD COLUMN search_vector tsvector NOT NULL GENERATED ALWAYS AS (
  to_tsvector(memory_text_search(language), memory_shown_text(content, hidden_spans))
) STORED;
CREATE INDEX episodes_search ON episodes USING gin (search_vector);

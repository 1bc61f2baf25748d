-- The key of a predicate is the canonical name of its group in the lexicon, which only the server knows. A row that is
-- written without one gets the plain key form.
ALTER TABLE facts ALTER COLUMN predicate_key DROP EXPRESSION;
CREATE FUNCTION memory_fill_predicate_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.predicate_key := coalesce(NEW.predicate_key, memory_key(NEW.predicate));
  RETURN NEW;
END
$$;
CREATE TRIGGER facts_predicate_key BEFORE INSERT ON facts
  FOR EACH ROW EXECUTE FUNCTION memory_fill_predicate_key();

-- A predicate that holds several values has a live fact for each: a digest of the value, keyed where the fact is sealed.
-- Empty for all other predicates.
ALTER TABLE facts ADD COLUMN value_key text NOT NULL DEFAULT '';
DROP INDEX facts_one_live_per_key;
CREATE UNIQUE INDEX facts_one_live_per_key ON facts (tenant_id, scope, subject_key, predicate_key, value_key)
  WHERE validity IN ('active', 'fading') AND kind = 'state' AND NOT set_aside;

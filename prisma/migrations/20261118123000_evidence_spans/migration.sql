-- Where in the text of an episode it says what was learned from it: [[start, end], ...] in characters, end exclusive.
ALTER TABLE memory_links ADD COLUMN spans jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(spans) = 'array');

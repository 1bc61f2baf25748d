-- The parts of an episode by speaker, as the caller gave them: [{"speaker": "user", "text": "…"}]. Empty for most.
ALTER TABLE episodes
  ADD COLUMN segments jsonb NOT NULL DEFAULT '[]',
  ADD CONSTRAINT episodes_segments_check CHECK (jsonb_typeof(segments) = 'array');

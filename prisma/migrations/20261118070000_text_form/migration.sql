-- What is embedded of a memory, beside the model: a change of it makes a new version, and embeds all memories anew.
ALTER TABLE embedding_versions ADD COLUMN text_form text NOT NULL DEFAULT '';
DROP INDEX embedding_versions_one_per_model;
CREATE UNIQUE INDEX embedding_versions_one_per_model
  ON embedding_versions (tenant_id, provider, model, dtype, digest, dimensions, text_form) WHERE status <> 'retired';

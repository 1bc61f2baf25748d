-- Every table of the data model. Tenant id leads every key, so that no reference can cross a tenant: foreign keys are
-- composite, and a row of another tenant simply is not there to be referred to.

CREATE EXTENSION IF NOT EXISTS vector;

-- The key form of a subject or predicate: "Favourite Food", "favourite-food" and "favourite_food" are one key.
-- In the database, so that a row written by raw SQL obeys the same uniqueness.
CREATE FUNCTION memory_key(written text) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT btrim(regexp_replace(lower(written), '[[:space:]_-]+', '_', 'g'), '_') $$;

-- A generated column needs an immutable expression, and a cast from text to regconfig is not one: hence the list.
-- It holds the languages that PostgreSQL has since version 14.
CREATE FUNCTION memory_text_search(language text) RETURNS regconfig
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$
    SELECT CASE language
      WHEN 'arabic' THEN 'pg_catalog.arabic'::regconfig
      WHEN 'armenian' THEN 'pg_catalog.armenian'::regconfig
      WHEN 'basque' THEN 'pg_catalog.basque'::regconfig
      WHEN 'catalan' THEN 'pg_catalog.catalan'::regconfig
      WHEN 'danish' THEN 'pg_catalog.danish'::regconfig
      WHEN 'dutch' THEN 'pg_catalog.dutch'::regconfig
      WHEN 'english' THEN 'pg_catalog.english'::regconfig
      WHEN 'finnish' THEN 'pg_catalog.finnish'::regconfig
      WHEN 'french' THEN 'pg_catalog.french'::regconfig
      WHEN 'german' THEN 'pg_catalog.german'::regconfig
      WHEN 'greek' THEN 'pg_catalog.greek'::regconfig
      WHEN 'hindi' THEN 'pg_catalog.hindi'::regconfig
      WHEN 'hungarian' THEN 'pg_catalog.hungarian'::regconfig
      WHEN 'indonesian' THEN 'pg_catalog.indonesian'::regconfig
      WHEN 'irish' THEN 'pg_catalog.irish'::regconfig
      WHEN 'italian' THEN 'pg_catalog.italian'::regconfig
      WHEN 'lithuanian' THEN 'pg_catalog.lithuanian'::regconfig
      WHEN 'nepali' THEN 'pg_catalog.nepali'::regconfig
      WHEN 'norwegian' THEN 'pg_catalog.norwegian'::regconfig
      WHEN 'portuguese' THEN 'pg_catalog.portuguese'::regconfig
      WHEN 'romanian' THEN 'pg_catalog.romanian'::regconfig
      WHEN 'russian' THEN 'pg_catalog.russian'::regconfig
      WHEN 'serbian' THEN 'pg_catalog.serbian'::regconfig
      WHEN 'spanish' THEN 'pg_catalog.spanish'::regconfig
      WHEN 'swedish' THEN 'pg_catalog.swedish'::regconfig
      WHEN 'tamil' THEN 'pg_catalog.tamil'::regconfig
      WHEN 'turkish' THEN 'pg_catalog.turkish'::regconfig
      WHEN 'yiddish' THEN 'pg_catalog.yiddish'::regconfig
      WHEN 'simple' THEN 'pg_catalog.simple'::regconfig
    END
  $$;

-- Two slots hold vectors, so that a new model can fill one while search serves the other; the switch is one row here.
CREATE TABLE embedding_versions (
  tenant_id text NOT NULL CONSTRAINT embedding_versions_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  dtype text NOT NULL,
  digest text NOT NULL,
  dimensions integer NOT NULL CONSTRAINT embedding_versions_dimensions_check CHECK (dimensions > 0),
  slot text NOT NULL CONSTRAINT embedding_versions_slot_check CHECK (slot IN ('primary', 'alternate')),
  status text NOT NULL CONSTRAINT embedding_versions_status_check CHECK (status IN ('building', 'active', 'retired')),
  created_at timestamptz(3) NOT NULL,
  activated_at timestamptz(3),
  retired_at timestamptz(3),
  CONSTRAINT embedding_versions_pkey PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX embedding_versions_one_active ON embedding_versions (tenant_id) WHERE status = 'active';
CREATE UNIQUE INDEX embedding_versions_one_per_slot ON embedding_versions (tenant_id, slot) WHERE status <> 'retired';
CREATE UNIQUE INDEX embedding_versions_one_per_model
  ON embedding_versions (tenant_id, provider, model, dtype, digest, dimensions) WHERE status <> 'retired';

CREATE TABLE consolidation_runs (
  tenant_id text NOT NULL CONSTRAINT consolidation_runs_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  butler text NOT NULL,
  engine text NOT NULL CONSTRAINT consolidation_runs_engine_check CHECK (engine IN ('patterns', 'llm', 'command', 'agent')),
  status text NOT NULL CONSTRAINT consolidation_runs_status_check CHECK (status IN ('running', 'succeeded', 'failed', 'lost')),
  worker text NOT NULL,
  lease_expires_at timestamptz(3),
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  episode_count integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_episode_count_check CHECK (episode_count >= 0),
  facts_created integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_facts_created_check CHECK (facts_created >= 0),
  facts_updated integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_facts_updated_check CHECK (facts_updated >= 0),
  rules_created integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_rules_created_check CHECK (rules_created >= 0),
  confirmations integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_confirmations_check CHECK (confirmations >= 0),
  links_created integer NOT NULL DEFAULT 0 CONSTRAINT consolidation_runs_links_created_check CHECK (links_created >= 0),
  refused_items jsonb NOT NULL DEFAULT '[]' CONSTRAINT consolidation_runs_refused_items_check CHECK (jsonb_typeof(refused_items) = 'array'),
  error text,
  model text,
  input_tokens integer CONSTRAINT consolidation_runs_input_tokens_check CHECK (input_tokens >= 0),
  output_tokens integer CONSTRAINT consolidation_runs_output_tokens_check CHECK (output_tokens >= 0),
  CONSTRAINT consolidation_runs_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX consolidation_runs_by_butler ON consolidation_runs (tenant_id, butler, started_at DESC);

CREATE TABLE episodes (
  tenant_id text NOT NULL CONSTRAINT episodes_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  butler text NOT NULL CONSTRAINT episodes_butler_check CHECK (butler <> ''),
  session_id uuid,
  content text NOT NULL CONSTRAINT episodes_content_check CHECK (content <> ''),
  importance double precision NOT NULL DEFAULT 5 CONSTRAINT episodes_importance_check CHECK (importance BETWEEN 1 AND 10),
  consolidation_status text NOT NULL DEFAULT 'pending'
    CONSTRAINT episodes_consolidation_status_check CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
  consolidated boolean NOT NULL GENERATED ALWAYS AS (consolidation_status = 'consolidated') STORED,
  consolidation_attempts integer NOT NULL DEFAULT 0 CONSTRAINT episodes_consolidation_attempts_check CHECK (consolidation_attempts >= 0),
  last_consolidation_error text,
  next_consolidation_retry_at timestamptz(3),
  consolidation_run_id uuid,
  lease_expires_at timestamptz(3),
  reference_count integer NOT NULL DEFAULT 0 CONSTRAINT episodes_reference_count_check CHECK (reference_count >= 0),
  last_referenced_at timestamptz(3),
  observed_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  forgotten_at timestamptz(3),
  request_id text,
  version integer NOT NULL DEFAULT 1 CONSTRAINT episodes_version_check CHECK (version >= 1),
  tags jsonb NOT NULL DEFAULT '[]' CONSTRAINT episodes_tags_check CHECK (jsonb_typeof(tags) = 'array'),
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT episodes_metadata_check CHECK (jsonb_typeof(metadata) = 'object'),
  language text NOT NULL DEFAULT 'english' CONSTRAINT episodes_language_check CHECK (memory_text_search(language) IS NOT NULL),
  embedding vector(384),
  embedding_version_id uuid,
  alternate_embedding vector(384),
  alternate_embedding_version_id uuid,
  search_vector tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector(memory_text_search(language), content)) STORED,
  CONSTRAINT episodes_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT episodes_embedding_check CHECK ((embedding IS NULL) = (embedding_version_id IS NULL)),
  CONSTRAINT episodes_alternate_embedding_check CHECK ((alternate_embedding IS NULL) = (alternate_embedding_version_id IS NULL)),
  CONSTRAINT episodes_embedding_version_fkey FOREIGN KEY (tenant_id, embedding_version_id) REFERENCES embedding_versions (tenant_id, id),
  CONSTRAINT episodes_alternate_embedding_version_fkey FOREIGN KEY (tenant_id, alternate_embedding_version_id) REFERENCES embedding_versions (tenant_id, id),
  CONSTRAINT episodes_consolidation_run_fkey FOREIGN KEY (tenant_id, consolidation_run_id) REFERENCES consolidation_runs (tenant_id, id)
);
CREATE INDEX episodes_by_butler ON episodes (tenant_id, butler, created_at DESC, id);
CREATE INDEX episodes_by_session ON episodes (tenant_id, session_id, created_at, id) WHERE session_id IS NOT NULL;
CREATE INDEX episodes_by_expiry ON episodes (tenant_id, expires_at);
CREATE INDEX episodes_to_consolidate ON episodes (tenant_id, butler, created_at, id) WHERE consolidation_status = 'pending';

-- What is left of a deleted episode: enough to answer a citation, nothing of what it said.
CREATE TABLE episode_tombstones (
  tenant_id text NOT NULL CONSTRAINT episode_tombstones_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  butler text NOT NULL,
  session_id uuid,
  reason text NOT NULL CONSTRAINT episode_tombstones_reason_check CHECK (reason IN ('expired', 'capacity', 'erased')),
  created_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  CONSTRAINT episode_tombstones_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE facts (
  tenant_id text NOT NULL CONSTRAINT facts_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  subject text NOT NULL CONSTRAINT facts_subject_check CHECK (subject <> ''),
  predicate text NOT NULL CONSTRAINT facts_predicate_check CHECK (predicate <> ''),
  content text NOT NULL CONSTRAINT facts_content_check CHECK (content <> ''),
  subject_key text NOT NULL GENERATED ALWAYS AS (memory_key(subject)) STORED,
  predicate_key text NOT NULL GENERATED ALWAYS AS (memory_key(predicate)) STORED,
  scope text NOT NULL DEFAULT 'global' CONSTRAINT facts_scope_check CHECK (scope <> ''),
  kind text NOT NULL DEFAULT 'state' CONSTRAINT facts_kind_check CHECK (kind IN ('state', 'event')),
  validity text NOT NULL DEFAULT 'active'
    CONSTRAINT facts_validity_check CHECK (validity IN ('active', 'fading', 'superseded', 'expired', 'retracted')),
  importance double precision NOT NULL DEFAULT 5 CONSTRAINT facts_importance_check CHECK (importance BETWEEN 1 AND 10),
  confidence double precision NOT NULL DEFAULT 1 CONSTRAINT facts_confidence_check CHECK (confidence BETWEEN 0 AND 1),
  permanence text NOT NULL DEFAULT 'standard'
    CONSTRAINT facts_permanence_check CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
  decay_rate double precision NOT NULL DEFAULT 0.008 CONSTRAINT facts_decay_rate_check CHECK (decay_rate >= 0),
  source_butler text,
  source_episode_id uuid,
  supersedes_id uuid,
  observed_at timestamptz(3),
  valid_from timestamptz(3),
  valid_to timestamptz(3),
  recorded_at timestamptz(3) NOT NULL,
  superseded_at timestamptz(3),
  reference_count integer NOT NULL DEFAULT 0 CONSTRAINT facts_reference_count_check CHECK (reference_count >= 0),
  created_at timestamptz(3) NOT NULL,
  last_referenced_at timestamptz(3),
  last_confirmed_at timestamptz(3),
  request_id text,
  version integer NOT NULL DEFAULT 1 CONSTRAINT facts_version_check CHECK (version >= 1),
  tags jsonb NOT NULL DEFAULT '[]' CONSTRAINT facts_tags_check CHECK (jsonb_typeof(tags) = 'array'),
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT facts_metadata_check CHECK (jsonb_typeof(metadata) = 'object'),
  language text NOT NULL DEFAULT 'english' CONSTRAINT facts_language_check CHECK (memory_text_search(language) IS NOT NULL),
  embedding vector(384),
  embedding_version_id uuid,
  alternate_embedding vector(384),
  alternate_embedding_version_id uuid,
  search_vector tsvector NOT NULL GENERATED ALWAYS AS (
    to_tsvector(memory_text_search(language), subject || ' ' || replace(predicate, '_', ' ') || ' ' || content)
  ) STORED,
  CONSTRAINT facts_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT facts_supersedes_check CHECK (supersedes_id <> id),
  CONSTRAINT facts_valid_time_check CHECK (valid_to >= valid_from),
  CONSTRAINT facts_event_check CHECK (kind = 'state' OR observed_at IS NOT NULL),
  CONSTRAINT facts_embedding_check CHECK ((embedding IS NULL) = (embedding_version_id IS NULL)),
  CONSTRAINT facts_alternate_embedding_check CHECK ((alternate_embedding IS NULL) = (alternate_embedding_version_id IS NULL)),
  CONSTRAINT facts_supersedes_fkey FOREIGN KEY (tenant_id, supersedes_id) REFERENCES facts (tenant_id, id),
  CONSTRAINT facts_embedding_version_fkey FOREIGN KEY (tenant_id, embedding_version_id) REFERENCES embedding_versions (tenant_id, id),
  CONSTRAINT facts_alternate_embedding_version_fkey FOREIGN KEY (tenant_id, alternate_embedding_version_id) REFERENCES embedding_versions (tenant_id, id)
);
-- Live is active or fading: were only active facts unique, a fading fact and its successor would stand side by side.
-- Events are points in time (two meals on two days) and share a key freely.
CREATE UNIQUE INDEX facts_one_live_per_key ON facts (tenant_id, scope, subject_key, predicate_key)
  WHERE validity IN ('active', 'fading') AND kind = 'state';
CREATE INDEX facts_by_key ON facts (tenant_id, subject_key, predicate_key);
CREATE INDEX facts_by_validity ON facts (tenant_id, validity, scope, created_at DESC, id);
CREATE INDEX facts_by_supersedes ON facts (tenant_id, supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX facts_by_source_episode ON facts (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;

CREATE TABLE rules (
  tenant_id text NOT NULL CONSTRAINT rules_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  content text NOT NULL CONSTRAINT rules_content_check CHECK (content <> ''),
  -- What an anti-pattern said before it was turned into a warning.
  original_content text,
  scope text NOT NULL DEFAULT 'global' CONSTRAINT rules_scope_check CHECK (scope <> ''),
  maturity text NOT NULL DEFAULT 'candidate'
    CONSTRAINT rules_maturity_check CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
  validity text NOT NULL DEFAULT 'active' CONSTRAINT rules_validity_check CHECK (validity IN ('active', 'fading', 'expired', 'retracted')),
  importance double precision NOT NULL DEFAULT 5 CONSTRAINT rules_importance_check CHECK (importance BETWEEN 1 AND 10),
  confidence double precision NOT NULL DEFAULT 0.5 CONSTRAINT rules_confidence_check CHECK (confidence BETWEEN 0 AND 1),
  permanence text NOT NULL DEFAULT 'standard'
    CONSTRAINT rules_permanence_check CHECK (permanence IN ('permanent', 'stable', 'standard', 'volatile', 'ephemeral')),
  decay_rate double precision NOT NULL DEFAULT 0.008 CONSTRAINT rules_decay_rate_check CHECK (decay_rate >= 0),
  effectiveness_score double precision NOT NULL DEFAULT 0 CONSTRAINT rules_effectiveness_score_check CHECK (effectiveness_score BETWEEN 0 AND 1),
  applied_count integer NOT NULL DEFAULT 0 CONSTRAINT rules_applied_count_check CHECK (applied_count >= 0),
  success_count integer NOT NULL DEFAULT 0 CONSTRAINT rules_success_count_check CHECK (success_count >= 0),
  harmful_count integer NOT NULL DEFAULT 0 CONSTRAINT rules_harmful_count_check CHECK (harmful_count >= 0),
  source_butler text,
  source_episode_id uuid,
  reference_count integer NOT NULL DEFAULT 0 CONSTRAINT rules_reference_count_check CHECK (reference_count >= 0),
  created_at timestamptz(3) NOT NULL,
  last_referenced_at timestamptz(3),
  last_applied_at timestamptz(3),
  last_evaluated_at timestamptz(3),
  last_confirmed_at timestamptz(3),
  disabled_at timestamptz(3),
  forgotten_at timestamptz(3),
  request_id text,
  version integer NOT NULL DEFAULT 1 CONSTRAINT rules_version_check CHECK (version >= 1),
  tags jsonb NOT NULL DEFAULT '[]' CONSTRAINT rules_tags_check CHECK (jsonb_typeof(tags) = 'array'),
  metadata jsonb NOT NULL DEFAULT '{}' CONSTRAINT rules_metadata_check CHECK (jsonb_typeof(metadata) = 'object'),
  language text NOT NULL DEFAULT 'english' CONSTRAINT rules_language_check CHECK (memory_text_search(language) IS NOT NULL),
  embedding vector(384),
  embedding_version_id uuid,
  alternate_embedding vector(384),
  alternate_embedding_version_id uuid,
  search_vector tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector(memory_text_search(language), content)) STORED,
  CONSTRAINT rules_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT rules_anti_pattern_check CHECK (maturity <> 'anti_pattern' OR original_content IS NOT NULL),
  CONSTRAINT rules_embedding_check CHECK ((embedding IS NULL) = (embedding_version_id IS NULL)),
  CONSTRAINT rules_alternate_embedding_check CHECK ((alternate_embedding IS NULL) = (alternate_embedding_version_id IS NULL)),
  CONSTRAINT rules_embedding_version_fkey FOREIGN KEY (tenant_id, embedding_version_id) REFERENCES embedding_versions (tenant_id, id),
  CONSTRAINT rules_alternate_embedding_version_fkey FOREIGN KEY (tenant_id, alternate_embedding_version_id) REFERENCES embedding_versions (tenant_id, id)
);
CREATE INDEX rules_by_maturity ON rules (tenant_id, scope, maturity, created_at DESC, id);
CREATE INDEX rules_by_source_episode ON rules (tenant_id, source_episode_id) WHERE source_episode_id IS NOT NULL;

CREATE TABLE rule_applications (
  tenant_id text NOT NULL CONSTRAINT rule_applications_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  rule_id uuid NOT NULL,
  outcome text NOT NULL CONSTRAINT rule_applications_outcome_check CHECK (outcome IN ('helpful', 'harmful')),
  reason text,
  evidence jsonb NOT NULL DEFAULT '{}' CONSTRAINT rule_applications_evidence_check CHECK (jsonb_typeof(evidence) = 'object'),
  butler text,
  session_id uuid,
  request_id text,
  applied_at timestamptz(3) NOT NULL,
  CONSTRAINT rule_applications_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT rule_applications_rule_fkey FOREIGN KEY (tenant_id, rule_id) REFERENCES rules (tenant_id, id)
);
CREATE INDEX rule_applications_by_rule ON rule_applications (tenant_id, rule_id, applied_at DESC, id);

CREATE TABLE memory_links (
  tenant_id text NOT NULL CONSTRAINT memory_links_tenant_check CHECK (tenant_id <> ''),
  source_type text NOT NULL CONSTRAINT memory_links_source_type_check CHECK (source_type IN ('episode', 'fact', 'rule')),
  source_id uuid NOT NULL,
  target_type text NOT NULL CONSTRAINT memory_links_target_type_check CHECK (target_type IN ('episode', 'fact', 'rule')),
  target_id uuid NOT NULL,
  relation text NOT NULL
    CONSTRAINT memory_links_relation_check CHECK (relation IN ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT memory_links_pkey PRIMARY KEY (tenant_id, source_type, source_id, target_type, target_id, relation),
  CONSTRAINT memory_links_ends_check CHECK (source_type <> target_type OR source_id <> target_id)
);
CREATE INDEX memory_links_by_target ON memory_links (tenant_id, target_type, target_id);

CREATE TABLE memory_events (
  tenant_id text NOT NULL CONSTRAINT memory_events_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  sequence bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- A feed that resumes from a position must not pass an event whose transaction is still open: readers stop at the
  -- oldest open transaction, which they find by this id.
  transaction_id bigint NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
  event_type text NOT NULL CONSTRAINT memory_events_event_type_check CHECK (event_type ~ '^[a-z_]+\.[a-z_]+$'),
  entity_type text NOT NULL
    CONSTRAINT memory_events_entity_type_check CHECK (entity_type IN ('episode', 'fact', 'rule', 'link', 'embedding_version', 'consolidation_run', 'token', 'tenant')),
  entity_id text NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  actor text NOT NULL CONSTRAINT memory_events_actor_check CHECK (actor <> ''),
  request_id text NOT NULL,
  subrequest_id text,
  segment_id text,
  -- The event of the write that this one followed from, such as the storing of the fact that superseded another.
  cause_event_id uuid,
  reverts_event_id uuid,
  payload jsonb NOT NULL CONSTRAINT memory_events_payload_check CHECK (jsonb_typeof(payload) = 'object'),
  CONSTRAINT memory_events_pkey PRIMARY KEY (tenant_id, id),
  -- A consequence may be written before its cause, in one transaction.
  CONSTRAINT memory_events_cause_fkey FOREIGN KEY (tenant_id, cause_event_id) REFERENCES memory_events (tenant_id, id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT memory_events_reverts_fkey FOREIGN KEY (tenant_id, reverts_event_id) REFERENCES memory_events (tenant_id, id)
);
CREATE UNIQUE INDEX memory_events_by_sequence ON memory_events (tenant_id, sequence);
CREATE INDEX memory_events_by_entity ON memory_events (tenant_id, entity_type, entity_id, sequence);
CREATE INDEX memory_events_by_cause ON memory_events (tenant_id, cause_event_id) WHERE cause_event_id IS NOT NULL;
CREATE INDEX memory_events_by_reverted ON memory_events (tenant_id, reverts_event_id) WHERE reverts_event_id IS NOT NULL;
CREATE INDEX memory_events_by_time ON memory_events (tenant_id, occurred_at, sequence);

CREATE TABLE context_receipts (
  tenant_id text NOT NULL CONSTRAINT context_receipts_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  kind text NOT NULL CONSTRAINT context_receipts_kind_check CHECK (kind IN ('context', 'recall', 'search')),
  butler text,
  session_id uuid,
  request_id text,
  query text NOT NULL,
  intent text,
  candidates jsonb NOT NULL DEFAULT '[]' CONSTRAINT context_receipts_candidates_check CHECK (jsonb_typeof(candidates) = 'array'),
  chosen jsonb NOT NULL DEFAULT '[]' CONSTRAINT context_receipts_chosen_check CHECK (jsonb_typeof(chosen) = 'array'),
  dropped jsonb NOT NULL DEFAULT '[]' CONSTRAINT context_receipts_dropped_check CHECK (jsonb_typeof(dropped) = 'array'),
  memory_ids uuid[] NOT NULL DEFAULT '{}',
  fingerprints text[] NOT NULL DEFAULT '{}',
  token_budget integer CONSTRAINT context_receipts_token_budget_check CHECK (token_budget >= 0),
  tokens_used integer CONSTRAINT context_receipts_tokens_used_check CHECK (tokens_used >= 0),
  tokenizer text,
  configuration_digest text NOT NULL,
  stage_milliseconds jsonb NOT NULL DEFAULT '{}'
    CONSTRAINT context_receipts_stage_milliseconds_check CHECK (jsonb_typeof(stage_milliseconds) = 'object'),
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT context_receipts_pkey PRIMARY KEY (tenant_id, id)
);
CREATE INDEX context_receipts_by_session ON context_receipts (tenant_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX context_receipts_by_expiry ON context_receipts (tenant_id, expires_at);

CREATE TABLE idempotency_keys (
  tenant_id text NOT NULL CONSTRAINT idempotency_keys_tenant_check CHECK (tenant_id <> ''),
  key text NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (key <> ''),
  operation text NOT NULL,
  input_digest text NOT NULL,
  response jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, key)
);

CREATE TABLE api_tokens (
  tenant_id text NOT NULL CONSTRAINT api_tokens_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  name text NOT NULL,
  token_hash text NOT NULL,
  butler text,
  role text NOT NULL CONSTRAINT api_tokens_role_check CHECK (role IN ('butler', 'operator', 'admin')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  CONSTRAINT api_tokens_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT api_tokens_butler_check CHECK (role <> 'butler' OR butler IS NOT NULL)
);
CREATE UNIQUE INDEX api_tokens_by_hash ON api_tokens (tenant_id, token_hash);

-- A citation must name something that is or was: a deleted episode answers through its tombstone. Foreign keys cannot
-- say "one of these tables", so triggers do. They run with the writer's rights, hence within the writer's tenant.
CREATE FUNCTION memory_exists(tenant text, memory_type text, memory_id uuid) RETURNS boolean
  LANGUAGE sql STABLE STRICT
  AS $$
    SELECT CASE memory_type
      WHEN 'fact' THEN EXISTS (SELECT FROM facts WHERE tenant_id = tenant AND id = memory_id)
      WHEN 'rule' THEN EXISTS (SELECT FROM rules WHERE tenant_id = tenant AND id = memory_id)
      ELSE EXISTS (SELECT FROM episodes WHERE tenant_id = tenant AND id = memory_id)
        OR EXISTS (SELECT FROM episode_tombstones WHERE tenant_id = tenant AND id = memory_id)
    END
  $$;

CREATE FUNCTION memory_check_source_episode() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.source_episode_id IS NOT NULL AND NOT memory_exists(NEW.tenant_id, 'episode', NEW.source_episode_id) THEN
      RAISE EXCEPTION 'source episode % does not exist', NEW.source_episode_id
        USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_TABLE_NAME || '_source_episode';
    END IF;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER facts_source_episode BEFORE INSERT OR UPDATE OF source_episode_id ON facts
  FOR EACH ROW EXECUTE FUNCTION memory_check_source_episode();
CREATE TRIGGER rules_source_episode BEFORE INSERT OR UPDATE OF source_episode_id ON rules
  FOR EACH ROW EXECUTE FUNCTION memory_check_source_episode();

CREATE FUNCTION memory_check_link_ends() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT memory_exists(NEW.tenant_id, NEW.source_type, NEW.source_id) THEN
      RAISE EXCEPTION 'link source % % does not exist', NEW.source_type, NEW.source_id
        USING ERRCODE = 'foreign_key_violation', TABLE = 'memory_links', CONSTRAINT = 'memory_links_source';
    END IF;
    IF NOT memory_exists(NEW.tenant_id, NEW.target_type, NEW.target_id) THEN
      RAISE EXCEPTION 'link target % % does not exist', NEW.target_type, NEW.target_id
        USING ERRCODE = 'foreign_key_violation', TABLE = 'memory_links', CONSTRAINT = 'memory_links_target';
    END IF;
    RETURN NEW;
  END
  $$;
CREATE TRIGGER memory_links_ends BEFORE INSERT OR UPDATE ON memory_links
  FOR EACH ROW EXECUTE FUNCTION memory_check_link_ends();

-- An episode that anything may still cite goes only by leaving its tombstone.
CREATE FUNCTION memory_require_tombstone() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM episode_tombstones WHERE tenant_id = OLD.tenant_id AND id = OLD.id) THEN
      RAISE EXCEPTION 'episode % has no tombstone: write one before deleting it', OLD.id
        USING ERRCODE = 'restrict_violation', TABLE = 'episodes', CONSTRAINT = 'episodes_tombstone';
    END IF;
    RETURN OLD;
  END
  $$;
CREATE TRIGGER episodes_tombstone BEFORE DELETE ON episodes
  FOR EACH ROW EXECUTE FUNCTION memory_require_tombstone();

CREATE FUNCTION memory_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'memory_events is append-only: % is refused', TG_OP
      USING ERRCODE = 'restrict_violation', TABLE = 'memory_events', CONSTRAINT = 'memory_events_append_only';
  END
  $$;
CREATE TRIGGER memory_events_append_only BEFORE UPDATE OR DELETE ON memory_events
  FOR EACH ROW EXECUTE FUNCTION memory_refuse_event_change();
CREATE TRIGGER memory_events_append_only_truncate BEFORE TRUNCATE ON memory_events
  FOR EACH STATEMENT EXECUTE FUNCTION memory_refuse_event_change();

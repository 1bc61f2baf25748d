-- The receipt of an erasure: what was erased, when, by whom and how much, and nothing of what it said. `blanked` has the
-- digest of each payload that was erased, by its position in the chain of events: who has the payload elsewhere can prove
-- that it was this one. The event of the erasure names the hash, and the chain vouches for that event.
CREATE TABLE erasures (
  tenant_id text NOT NULL CONSTRAINT erasures_tenant_check CHECK (tenant_id <> ''),
  id uuid NOT NULL,
  erased_at timestamptz(3) NOT NULL,
  actor text NOT NULL CONSTRAINT erasures_actor_check CHECK (actor <> ''),
  request_id text NOT NULL,
  memories jsonb NOT NULL CONSTRAINT erasures_memories_check CHECK (jsonb_typeof(memories) = 'array'),
  counts jsonb NOT NULL CONSTRAINT erasures_counts_check CHECK (jsonb_typeof(counts) = 'object'),
  blanked jsonb NOT NULL CONSTRAINT erasures_blanked_check CHECK (jsonb_typeof(blanked) = 'object'),
  hash bytea NOT NULL CONSTRAINT erasures_hash_check CHECK (length(hash) = 32),
  CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, id)
);

ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON erasures TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
CREATE POLICY butler_reach ON erasures AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '') WITH CHECK ((SELECT memory_butler()) = '');
-- Written by memory_erase_events() alone.
GRANT SELECT ON erasures TO butler_memory_app;

CREATE FUNCTION memory_refuse_erasure_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'erasures is append-only: % is refused', TG_OP
      USING ERRCODE = 'restrict_violation', TABLE = 'erasures', CONSTRAINT = 'erasures_append_only';
  END
  $$;
CREATE TRIGGER erasures_append_only BEFORE UPDATE OR DELETE ON erasures
  FOR EACH ROW EXECUTE FUNCTION memory_refuse_erasure_change();
CREATE TRIGGER erasures_append_only_truncate BEFORE TRUNCATE ON erasures
  FOR EACH STATEMENT EXECUTE FUNCTION memory_refuse_erasure_change();

CREATE FUNCTION memory_erasure_hash(erasure erasures) RETURNS bytea
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$
    SELECT sha256(convert_to(jsonb_build_array(
      erasure.tenant_id, erasure.id, floor(extract(epoch FROM erasure.erased_at) * 1000)::bigint, erasure.actor,
      erasure.request_id, erasure.memories, erasure.counts, erasure.blanked
    )::text, 'UTF8'))
  $$;

-- Events stay append-only, with one exception: a payload may be put out of the world, for a fixed text that names the
-- erasure. The erasure must be there and list the event by its place in the chain; nothing else of the event may change.
CREATE OR REPLACE FUNCTION memory_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      IF NEW.payload = jsonb_build_object('erased', NEW.payload -> 'erased')
        AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload'
        AND EXISTS (
          SELECT FROM erasures JOIN event_chain entry ON entry.event_id = OLD.id AND entry.tenant_id = OLD.tenant_id
          WHERE erasures.tenant_id = OLD.tenant_id AND erasures.id::text = NEW.payload ->> 'erased'
            AND erasures.blanked ->> entry.position::text = encode(entry.payload_digest, 'hex'))
      THEN
        RETURN NEW;
      END IF;
    END IF;
    RAISE EXCEPTION 'memory_events is append-only: % is refused', TG_OP
      USING ERRCODE = 'restrict_violation', TABLE = 'memory_events', CONSTRAINT = 'memory_events_append_only';
  END
  $$;

-- Blanks the payloads of events and leaves the receipt of it; gives its hash. As the owner of the tables, in the tenant of
-- the transaction and for nobody who is confined to a butler. Only of memories whose rows are gone, and of runs: the
-- events of a memory that is there must still add up to it.
CREATE FUNCTION memory_erase_events(
  erasure_id uuid, at timestamptz, actor text, request_id text, memories jsonb, counts jsonb, event_ids uuid[]
) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE
    tenant text := current_setting('app.tenant', true);
    kept erasures;
  BEGIN
    IF coalesce(tenant, '') = '' OR memory_butler() <> '' THEN
      RAISE EXCEPTION 'an erasure is for those who work for a whole tenant' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF EXISTS (
      SELECT FROM memory_events e WHERE e.tenant_id = tenant AND e.id = ANY (event_ids) AND CASE e.entity_type
        WHEN 'episode' THEN EXISTS (SELECT FROM episodes m WHERE m.tenant_id = tenant AND m.id::text = e.entity_id)
        WHEN 'fact' THEN EXISTS (SELECT FROM facts m WHERE m.tenant_id = tenant AND m.id::text = e.entity_id)
        WHEN 'rule' THEN EXISTS (SELECT FROM rules m WHERE m.tenant_id = tenant AND m.id::text = e.entity_id)
        ELSE e.entity_type <> 'consolidation_run'
      END
    ) THEN
      RAISE EXCEPTION 'only events of memories that are gone, and of runs, can be erased' USING ERRCODE = 'restrict_violation';
    END IF;
    kept := ROW(tenant, erasure_id, at::timestamptz(3), actor, request_id, memories, counts, coalesce((
      SELECT jsonb_object_agg(entry.position::text, encode(entry.payload_digest, 'hex'))
      FROM event_chain entry WHERE entry.tenant_id = tenant AND entry.event_id = ANY (event_ids)), '{}'), NULL);
    kept.hash := memory_erasure_hash(kept);
    INSERT INTO erasures SELECT kept.*;
    UPDATE memory_events SET payload = jsonb_build_object('erased', erasure_id)
    WHERE memory_events.tenant_id = tenant AND memory_events.id = ANY (event_ids);
    RETURN encode(kept.hash, 'hex');
  END
  $$;
REVOKE ALL ON FUNCTION memory_erase_events(uuid, timestamptz, text, text, jsonb, jsonb, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_erase_events(uuid, timestamptz, text, text, jsonb, jsonb, uuid[]) TO butler_memory_app;

DO $$
BEGIN
  EXECUTE format(
    'ALTER FUNCTION memory_erase_events(uuid, timestamptz, text, text, jsonb, jsonb, uuid[]) SET search_path = %I, pg_temp',
    current_schema());
END
$$;

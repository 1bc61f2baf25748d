-- The chain of events: each entry hashes one event together with the entry before it, so that what is changed, removed,
-- put in or moved later does not fit any more. It hashes a digest of the payload and not the payload, so that a payload
-- may be erased and the rest still be checked. One chain a tenant, in the order in which transactions commit.
CREATE TABLE event_chain (
  tenant_id text NOT NULL CONSTRAINT event_chain_tenant_check CHECK (tenant_id <> ''),
  position bigint NOT NULL CONSTRAINT event_chain_position_check CHECK (position >= 1),
  -- No foreign key: the chain has to be able to tell of an event that is gone.
  event_id uuid NOT NULL,
  payload_digest bytea NOT NULL CONSTRAINT event_chain_payload_digest_check CHECK (length(payload_digest) = 32),
  hash bytea NOT NULL CONSTRAINT event_chain_hash_check CHECK (length(hash) = 32),
  CONSTRAINT event_chain_pkey PRIMARY KEY (tenant_id, position)
);
-- The event leads: only the primary key begins with the tenant, so that no plan looks for the head in another index.
CREATE UNIQUE INDEX event_chain_by_event ON event_chain (event_id, tenant_id);

ALTER TABLE event_chain ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_boundary ON event_chain TO butler_memory_app
  USING (tenant_id = current_setting('app.tenant', true))
  WITH CHECK (tenant_id = current_setting('app.tenant', true));
CREATE POLICY butler_reach ON event_chain AS RESTRICTIVE TO butler_memory_app
  USING ((SELECT memory_butler()) = '') WITH CHECK ((SELECT memory_butler()) = '');
-- Written by the trigger below alone.
GRANT SELECT ON event_chain TO butler_memory_app;

CREATE FUNCTION memory_refuse_chain_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'event_chain is append-only: % is refused', TG_OP
      USING ERRCODE = 'restrict_violation', TABLE = 'event_chain', CONSTRAINT = 'event_chain_append_only';
  END
  $$;
CREATE TRIGGER event_chain_append_only BEFORE UPDATE OR DELETE ON event_chain
  FOR EACH ROW EXECUTE FUNCTION memory_refuse_chain_change();
CREATE TRIGGER event_chain_append_only_truncate BEFORE TRUNCATE ON event_chain
  FOR EACH STATEMENT EXECUTE FUNCTION memory_refuse_chain_change();

-- The text of a jsonb value is the same wherever the value is the same.
CREATE FUNCTION memory_payload_digest(payload jsonb) RETURNS bytea
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  AS $$ SELECT sha256(convert_to(payload::text, 'UTF8')) $$;

-- All that an entry vouches for, as a JSON array: strings are quoted and null is null, so no two events write the same.
-- Not the transaction: its number means something in this cluster only.
CREATE FUNCTION memory_event_content(event memory_events, payload_digest bytea) RETURNS bytea
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$
    SELECT convert_to(jsonb_build_array(
      event.id, event.sequence, event.event_type, event.entity_type, event.entity_id,
      floor(extract(epoch FROM event.occurred_at) * 1000)::bigint, event.actor, event.request_id, event.subrequest_id,
      event.segment_id, event.cause_event_id, event.reverts_event_id, encode(payload_digest, 'hex')
    )::text, 'UTF8')
  $$;

-- What the first entry follows: a chain of one tenant cannot stand for that of another.
CREATE FUNCTION memory_chain_start(tenant text) RETURNS bytea
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  AS $$ SELECT sha256(convert_to('butler-memory event chain 1 ' || tenant, 'UTF8')) $$;

-- The hash of an entry: of the one before it, or of the start, and of the event.
CREATE FUNCTION memory_chain_step(previous bytea, start bytea, content bytea) RETURNS bytea
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT sha256(coalesce(previous, start) || content) $$;
-- The same after several events, in their order.
CREATE AGGREGATE memory_chain(start bytea, content bytea) (SFUNC = memory_chain_step, STYPE = bytea);

-- Runs at the commit, once for each event, in their order. Only then is the lock on the tenant's chain taken, when the
-- transaction waits for no other any more: it cannot be part of a deadlock, and writers take turns for their commits alone.
-- As the owner of the tables: nobody else may write the chain.
CREATE FUNCTION memory_chain_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE
    head event_chain;
    digest bytea := memory_payload_digest(NEW.payload);
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(jsonb_build_array(NEW.tenant_id)::text, 2));
    SELECT * INTO head FROM event_chain WHERE tenant_id = NEW.tenant_id ORDER BY position DESC LIMIT 1;
    INSERT INTO event_chain (tenant_id, position, event_id, payload_digest, hash)
      VALUES (NEW.tenant_id, coalesce(head.position, 0) + 1, NEW.id, digest,
        memory_chain_step(head.hash, memory_chain_start(NEW.tenant_id), memory_event_content(NEW, digest)));
    RETURN NULL;
  END
  $$;
REVOKE ALL ON FUNCTION memory_chain_event() FROM PUBLIC;

-- The schema is named, and temporary tables come last: no caller can put another table in the place of one of these.
-- Without sorting the head is looked up in the primary key, also by a plan that was made when the table was empty.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION memory_chain_event() SET search_path = %I, pg_temp', current_schema());
END
$$;
ALTER FUNCTION memory_chain_event() SET enable_sort = off;

-- Locks out writers until the events that are there are chained.
CREATE CONSTRAINT TRIGGER memory_events_chain AFTER INSERT ON memory_events DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION memory_chain_event();

INSERT INTO event_chain (tenant_id, position, event_id, payload_digest, hash)
  SELECT tenant_id, row_number() OVER in_order, id, payload_digest,
    memory_chain(memory_chain_start(tenant_id), content) OVER in_order
  FROM (
    SELECT e.tenant_id, e.transaction_id, e.sequence, e.id, digest.payload_digest,
      memory_event_content(e, digest.payload_digest) AS content
    FROM memory_events e CROSS JOIN LATERAL (SELECT memory_payload_digest(e.payload) AS payload_digest) digest
  ) told
  WINDOW in_order AS (PARTITION BY tenant_id ORDER BY transaction_id, sequence ROWS UNBOUNDED PRECEDING);

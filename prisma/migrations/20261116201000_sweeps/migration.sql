-- A UUID of version 7, as the server makes them, for statements that write many events at once: the milliseconds of the
-- moment in 48 bits, the version, and random bits.
CREATE FUNCTION memory_new_id(at timestamptz) RETURNS uuid
  LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
  AS $$
    SELECT encode(
      -- A random UUID has the version 0100; these two bits make it 0111.
      set_bit(set_bit(
        overlay(uuid_send(gen_random_uuid())
          PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
        52, 1), 53, 1),
      'hex')::uuid
  $$;

-- In how many sessions a memory was returned to a recall or a search since a moment, by the receipts that are left.
-- Those of a butler that name no session count as one for each day (UTC). As the owner of the tables and for the tenant
-- of the transaction, because row-level security hides the index from the server's role.
CREATE FUNCTION memory_session_count(shown uuid, since timestamptz, at timestamptz) RETURNS bigint
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$
    SELECT count(DISTINCT coalesce(session_id::text, coalesce(butler, '') || ' ' || (created_at AT TIME ZONE 'UTC')::date))
    FROM context_receipts
    WHERE tenant_id = current_setting('app.tenant', true) AND memory_ids @> ARRAY[shown] AND kind IN ('recall', 'search')
      AND created_at > since AND expires_at > at
  $$;
REVOKE ALL ON FUNCTION memory_session_count(uuid, timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_session_count(uuid, timestamptz, timestamptz) TO butler_memory_app;

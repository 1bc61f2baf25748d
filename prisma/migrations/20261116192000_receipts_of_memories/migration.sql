-- The receipts that show a memory, newest first, through their index. Row-level security hides the index from the
-- server's role: the operator @> is not leakproof, so PostgreSQL would read every receipt of the tenant. This runs as the
-- owner of the tables and takes the tenant from the transaction, never from an argument. It tells ids only; the receipts
-- themselves are read within the tenant's boundary again.
CREATE FUNCTION memory_receipts(shown uuid, of_butler text, at timestamptz, most integer) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path FROM CURRENT
  AS $$
    SELECT id FROM context_receipts
    WHERE tenant_id = current_setting('app.tenant', true) AND memory_ids @> ARRAY[shown] AND expires_at > at
      AND (of_butler IS NULL OR butler = of_butler)
    ORDER BY created_at DESC, id LIMIT most
  $$;

REVOKE ALL ON FUNCTION memory_receipts(uuid, text, timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_receipts(uuid, text, timestamptz, integer) TO butler_memory_app;

-- Whose a token is: asked before there is a tenant, so it runs as the owner of the tables and tells of that token alone.
-- Who does not know the token cannot know its hash.
CREATE INDEX api_tokens_by_hash_alone ON api_tokens (token_hash);

CREATE FUNCTION memory_token(hash text, at timestamptz)
  RETURNS TABLE (tenant_id text, id uuid, butler text, role text, last_used_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path FROM CURRENT
  AS $$
    SELECT tenant_id, id, butler, role, last_used_at FROM api_tokens
    WHERE token_hash = hash AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > at)
  $$;

REVOKE ALL ON FUNCTION memory_token(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_token(text, timestamptz) TO butler_memory_maintenance;

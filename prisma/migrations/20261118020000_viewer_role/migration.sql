-- The role viewer reads its tenant and changes nothing.
ALTER TABLE api_tokens
  DROP CONSTRAINT api_tokens_role_check,
  ADD CONSTRAINT api_tokens_role_check CHECK (role IN ('viewer', 'butler', 'operator', 'admin'));

-- Each role's rights to what its task changes, column by column, and by rows where a statement names no row.

-- A key is revoked and not changed: with its scopes in reach, its holder could make it an administrator's. Whoever
-- looks at keys sees no hash.
REVOKE SELECT, UPDATE ON app.api_keys FROM palimpsest_app;
GRANT SELECT (tenant_id, key_id, user_id, name, prefix, scopes, created_at, created_by, expires_at, revoked_at,
  last_used_at), UPDATE (revoked_at) ON app.api_keys TO palimpsest_app;
DROP POLICY keys_touch ON app.api_keys;
CREATE POLICY keys_touch ON app.api_keys FOR UPDATE TO palimpsest_auth
  USING (tenant_id = (SELECT app.asking_tenant()));

-- What an entry is, whose and since when stays as it was written; its counters are moved by feedback alone.
REVOKE UPDATE ON app.memories FROM palimpsest_app;
GRANT UPDATE (type, content, content_hash, metadata, tags, source_kind, source_ref, importance, status, confirmed_at,
  confirmed_by, superseded_by, superseded_at, observed_at, updated_at, expires_at, deleted_at, version)
  ON app.memories TO palimpsest_app;
REVOKE UPDATE ON app.namespaces FROM palimpsest_app;
GRANT UPDATE (version, updated_at) ON app.namespaces TO palimpsest_app;
REVOKE UPDATE ON app.memory_embeddings FROM palimpsest_app;
GRANT UPDATE (embedding, coverage) ON app.memory_embeddings TO palimpsest_app;
REVOKE UPDATE ON app.users FROM palimpsest_app;
GRANT UPDATE (allow_admin_memory) ON app.users TO palimpsest_app;

-- PostgreSQL looks at the policy of reading where an update reads, and one that sets a counter to a number does not.
-- So these say themselves that feedback is about what its giver may read.
DROP POLICY memories_feedback ON app.memories;
CREATE POLICY memories_feedback ON app.memories FOR UPDATE TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user()) OR is_global
    OR (owner_id IS NULL AND namespace ~ (SELECT app.read_grants()))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));
DROP POLICY namespaces_feedback ON app.namespaces;
CREATE POLICY namespaces_feedback ON app.namespaces FOR UPDATE TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user()) OR is_global
    OR (owner_id IS NULL AND path ~ (SELECT app.read_grants()))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));

-- Feedback is given in one's own name.
DROP POLICY memory_feedback_all ON app.memory_feedback;
CREATE POLICY memory_feedback_read ON app.memory_feedback FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY memory_feedback_insert ON app.memory_feedback FOR INSERT TO palimpsest_feedback
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND user_id = (SELECT app.asking_user()));

-- Entries, their namespaces, embeddings, rules and audit, behind row-level security.
--
-- Every key starts with tenant_id, so that all tables can be distributed by tenant.
--
-- A request runs in one transaction under the role palimpsest_app (or palimpsest_feedback), which can't
-- bypass row-level security, with these settings made local to the transaction:
--   palimpsest.tenant_id      who is asking: the tenant
--   palimpsest.user_id        who is asking: the user
--   palimpsest.is_admin       'on' for an administrator of the tenant
--   palimpsest.tenant_wide    'on' for the operator of the store (embedded library, loopback single-user mode)
--   palimpsest.read_grants    regular expression of the namespaces a policy opens for reading, '' for none
--   palimpsest.write_grants   the same for writing
-- Grants never open a namespace that belongs to another user.

CREATE EXTENSION IF NOT EXISTS vector;

-- Roles belong to the whole cluster: another database may have made them, even at this very moment.
DO $$ BEGIN
  CREATE ROLE palimpsest_app NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
  CREATE ROLE palimpsest_feedback NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT palimpsest_app, palimpsest_feedback TO CURRENT_USER;
GRANT USAGE ON SCHEMA app TO palimpsest_app, palimpsest_feedback;

-- Who is asking. Policies call these as (SELECT app.…()), which Postgres evaluates once a query, not once a row.

CREATE FUNCTION app.asking_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('palimpsest.tenant_id', true), '');
CREATE FUNCTION app.asking_user() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('palimpsest.user_id', true), '');
CREATE FUNCTION app.is_admin() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN current_setting('palimpsest.is_admin', true) IS NOT DISTINCT FROM 'on';
CREATE FUNCTION app.is_tenant_wide() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN current_setting('palimpsest.tenant_wide', true) IS NOT DISTINCT FROM 'on';
CREATE FUNCTION app.read_grants() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('palimpsest.read_grants', true), '');
CREATE FUNCTION app.write_grants() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('palimpsest.write_grants', true), '');

-- Whose a namespace is. The same rule as core/namespace.ts; a contract test compares the two.

CREATE FUNCTION app.namespace_owner(path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN split_part(path, '.', 1) = 'vector' AND split_part(path, '.', 2) IN ('user', 'agent')
    THEN nullif(split_part(path, '.', 3), '') END;
CREATE FUNCTION app.namespace_is_global(path text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN path = 'vector.global' OR starts_with(path, 'vector.global.');

CREATE TABLE app.tenants (
  tenant_id text PRIMARY KEY,
  created_at timestamptz NOT NULL
);

CREATE TABLE app.users (
  tenant_id text NOT NULL REFERENCES app.tenants,
  user_id text NOT NULL,
  -- The user's own consent that administrators may read the user's private namespaces.
  allow_admin_memory boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
);

CREATE TABLE app.namespaces (
  tenant_id text NOT NULL REFERENCES app.tenants,
  path text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(path)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(path)) STORED,
  -- Rises in the same transaction as any change that can alter a ranking. The row's lock also orders the
  -- writers of one namespace, so versions become visible in order.
  version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, path)
);

CREATE TABLE app.memories (
  tenant_id text NOT NULL REFERENCES app.tenants,
  id uuid NOT NULL,
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  created_by text NOT NULL,
  type text NOT NULL,
  content text NOT NULL,
  content_hash text NOT NULL CHECK (content_hash ~ '^[0-9a-f]{64}$'),
  metadata jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
  tags text[] NOT NULL,
  source_kind text,
  source_ref text,
  importance double precision NOT NULL CHECK (importance >= 0 AND importance <= 1),
  status text NOT NULL CHECK (status IN ('unconfirmed', 'confirmed', 'superseded')),
  confirmed_at timestamptz,
  confirmed_by text,
  -- No foreign key: purging the newest of a chain must not revive the older one.
  superseded_by uuid,
  superseded_at timestamptz,
  observed_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz,
  deleted_at timestamptz,
  access_count bigint NOT NULL DEFAULT 0 CHECK (access_count >= 0),
  validated_access_count bigint NOT NULL DEFAULT 0 CHECK (validated_access_count >= 0),
  -- The namespace's version when this entry last changed.
  version bigint NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, namespace) REFERENCES app.namespaces (tenant_id, path),
  CHECK ((status = 'superseded') = (superseded_by IS NOT NULL)),
  CHECK (status <> 'confirmed' OR confirmed_at IS NOT NULL),
  -- Repeated writes merge tags and metadata: these bound what merging can grow an entry to.
  CONSTRAINT memories_tags_bounded CHECK (cardinality(tags) <= 64),
  CONSTRAINT memories_metadata_bounded CHECK (octet_length(metadata::text) <= 131072)
);

-- One live entry per content and namespace. By hash, since a B-tree row holds 2,704 bytes at most. Expiry
-- can't be part of it (it depends on the clock); SPEC section 1 is kept by the write statement.
CREATE UNIQUE INDEX memories_live_content ON app.memories (tenant_id, namespace, content_hash)
  WHERE deleted_at IS NULL AND superseded_by IS NULL;
CREATE INDEX memories_by_namespace ON app.memories (tenant_id, namespace, version);
CREATE INDEX memories_by_creation ON app.memories (tenant_id, created_at DESC, id DESC);
CREATE INDEX memories_by_successor ON app.memories (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE app.embedding_models (
  tenant_id text NOT NULL REFERENCES app.tenants,
  model_id text NOT NULL,
  dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 16000),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, model_id)
);

CREATE TABLE app.memory_embeddings (
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  memory_id uuid NOT NULL,
  -- Repeated from the entry (a namespace never changes), so that row-level security needs no join.
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  embedding vector NOT NULL,
  -- How much of the text the vector stands for.
  coverage text NOT NULL CHECK (coverage IN ('whole', 'chunked', 'truncated')),
  -- No foreign key to memories: its check, a look-up for each row, took 60 % of a bulk import's time. Purging
  -- removes an entry's vectors itself.
  PRIMARY KEY (tenant_id, model_id, memory_id),
  FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models
);
-- Vectors of up to about 2,000 dimensions stay in the row: out of line, each would cost an exact scan a
-- second look-up (the default target is 2 KB, less than 512 dimensions take).
ALTER TABLE app.memory_embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
ALTER TABLE app.memory_embeddings SET (toast_tuple_target = 8160);
CREATE INDEX memory_embeddings_by_memory ON app.memory_embeddings (tenant_id, memory_id);

CREATE TABLE app.vector_namespace_rules (
  tenant_id text NOT NULL REFERENCES app.tenants,
  pattern text NOT NULL,
  bonus double precision NOT NULL DEFAULT 0 CHECK (bonus >= 0 AND bonus <= 1),
  description text,
  instruction_template text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, pattern)
);

CREATE TABLE app.memory_feedback (
  tenant_id text NOT NULL,
  trace_id uuid NOT NULL,
  memory_id uuid NOT NULL,
  signal text NOT NULL CHECK (signal IN ('accessed', 'useful', 'not_useful', 'wrong')),
  user_id text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, trace_id, memory_id, signal),
  FOREIGN KEY (tenant_id, memory_id) REFERENCES app.memories ON DELETE CASCADE
);
CREATE INDEX memory_feedback_by_memory ON app.memory_feedback (tenant_id, memory_id);

CREATE TABLE app.memory_audit (
  tenant_id text NOT NULL REFERENCES app.tenants,
  audit_id uuid NOT NULL,
  occurred_at timestamptz NOT NULL,
  action text NOT NULL CHECK (action IN ('read', 'write', 'delete', 'status', 'feedback', 'warning', 'admin')),
  -- For a write: create, refresh, update, import, restore. For a delete: forget, purge.
  operation text,
  actor_id text NOT NULL,
  namespace text,
  -- No foreign key: the audit outlives a purge.
  memory_id uuid,
  detail jsonb NOT NULL,
  PRIMARY KEY (tenant_id, audit_id)
);
CREATE INDEX memory_audit_by_memory ON app.memory_audit (tenant_id, memory_id) WHERE memory_id IS NOT NULL;

-- Row-level security.

ALTER TABLE app.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.tenants FORCE ROW LEVEL SECURITY;
ALTER TABLE app.users ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.users FORCE ROW LEVEL SECURITY;
ALTER TABLE app.namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.namespaces FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memories FORCE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_models FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memory_embeddings ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_embeddings FORCE ROW LEVEL SECURITY;
ALTER TABLE app.vector_namespace_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.vector_namespace_rules FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memory_feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_feedback FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memory_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_audit FORCE ROW LEVEL SECURITY;

CREATE POLICY tenants_all ON app.tenants
  USING (tenant_id = (SELECT app.asking_tenant())) WITH CHECK (tenant_id = (SELECT app.asking_tenant()));

-- One's own row, or all rows of the tenant for its administrators. Only the user gives or takes the consent.
CREATE POLICY users_read ON app.users FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY users_insert ON app.users FOR INSERT
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY users_update ON app.users FOR UPDATE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR user_id = (SELECT app.asking_user())));

-- Readable: one's own namespaces, the global ones, what a policy opens of the tenant's, and for an
-- administrator those of users who allow it. The three tables below carry the same conditions.
CREATE POLICY namespaces_read ON app.namespaces FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide())
    OR owner_id = (SELECT app.asking_user())
    OR is_global
    OR (owner_id IS NULL AND (path ~ (SELECT app.read_grants()) OR path ~ (SELECT app.write_grants())))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));
CREATE POLICY memories_read ON app.memories FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide())
    OR owner_id = (SELECT app.asking_user())
    OR is_global
    OR (owner_id IS NULL AND (namespace ~ (SELECT app.read_grants()) OR namespace ~ (SELECT app.write_grants())))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));
CREATE POLICY memory_embeddings_read ON app.memory_embeddings FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide())
    OR owner_id = (SELECT app.asking_user())
    OR is_global
    OR (owner_id IS NULL AND (namespace ~ (SELECT app.read_grants()) OR namespace ~ (SELECT app.write_grants())))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));

-- Writable: one's own namespaces, and what a policy opens of the tenant's and the global ones.
CREATE POLICY namespaces_insert ON app.namespaces FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND path ~ (SELECT app.write_grants()))));
CREATE POLICY namespaces_update ON app.namespaces FOR UPDATE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND path ~ (SELECT app.write_grants()))));
CREATE POLICY memories_insert ON app.memories FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY memories_update ON app.memories FOR UPDATE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY memories_delete ON app.memories FOR DELETE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY memory_embeddings_insert ON app.memory_embeddings FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY memory_embeddings_update ON app.memory_embeddings FOR UPDATE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY memory_embeddings_delete ON app.memory_embeddings FOR DELETE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));

-- Feedback: whoever may read an entry may say whether it helped, and so moves counters (by column grants,
-- see below) without being allowed to change anything else of it.
CREATE POLICY namespaces_feedback ON app.namespaces FOR UPDATE TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY memories_feedback ON app.memories FOR UPDATE TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY memory_feedback_all ON app.memory_feedback
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin()) OR user_id = (SELECT app.asking_user())));

CREATE POLICY embedding_models_all ON app.embedding_models
  USING (tenant_id = (SELECT app.asking_tenant()));

-- Rules shape every user's ranking, so all may read them and administrators alone write them.
CREATE POLICY rules_read ON app.vector_namespace_rules FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY rules_insert ON app.vector_namespace_rules FOR INSERT
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin())));
CREATE POLICY rules_update ON app.vector_namespace_rules FOR UPDATE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin())));
CREATE POLICY rules_delete ON app.vector_namespace_rules FOR DELETE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin())));

-- The audit only grows: nobody has the right to change it, and administrators alone read it.
CREATE POLICY audit_insert ON app.memory_audit FOR INSERT
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND actor_id = (SELECT app.asking_user()));
CREATE POLICY audit_read ON app.memory_audit FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR (SELECT app.is_admin())));

GRANT SELECT ON app.schema_migrations TO palimpsest_app;
GRANT SELECT, INSERT ON app.tenants TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE ON app.users TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE ON app.namespaces TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.memories TO palimpsest_app;
GRANT SELECT, INSERT ON app.embedding_models TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.memory_embeddings TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.vector_namespace_rules TO palimpsest_app;
GRANT SELECT ON app.memory_feedback TO palimpsest_app;
GRANT SELECT, INSERT ON app.memory_audit TO palimpsest_app;

GRANT SELECT ON app.users, app.namespaces, app.memories TO palimpsest_feedback;
GRANT UPDATE (version, updated_at) ON app.namespaces TO palimpsest_feedback;
GRANT UPDATE (access_count, validated_access_count, version) ON app.memories TO palimpsest_feedback;
GRANT SELECT, INSERT ON app.memory_feedback TO palimpsest_feedback;
GRANT INSERT ON app.memory_audit TO palimpsest_feedback;

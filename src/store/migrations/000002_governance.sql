-- Keys, policies, profiles, traces and idempotent answers.

-- Finds a key before anybody is known; may read nothing else.
DO $$ BEGIN
  CREATE ROLE palimpsest_auth NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
-- Removes what retention lets go; may read no content.
DO $$ BEGIN
  CREATE ROLE palimpsest_upkeep NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT palimpsest_auth, palimpsest_upkeep TO CURRENT_USER;
GRANT USAGE ON SCHEMA app TO palimpsest_auth, palimpsest_upkeep;

CREATE TABLE app.api_keys (
  tenant_id text NOT NULL REFERENCES app.tenants,
  key_id uuid NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  secret_hash text NOT NULL CHECK (secret_hash ~ '^[0-9a-f]{64}$'),
  scopes text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'write', 'feedback', 'admin'] AND cardinality(scopes) > 0),
  created_at timestamptz NOT NULL,
  created_by text NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  PRIMARY KEY (tenant_id, key_id)
);
-- Not unique: a prefix belongs to no tenant, so a table distributed by tenant could not check it.
CREATE INDEX api_keys_by_prefix ON app.api_keys (prefix);

CREATE TABLE app.memory_policies (
  tenant_id text NOT NULL REFERENCES app.tenants,
  subject_kind text NOT NULL CHECK (subject_kind IN ('agent', 'task')),
  subject_id text NOT NULL,
  read_namespaces text[] NOT NULL,
  write_namespace text,
  allowed_write_namespaces text[] NOT NULL,
  allow_write boolean NOT NULL,
  allow_tool_write boolean NOT NULL,
  allow_tool_delete boolean NOT NULL,
  profile text,
  top_k integer CHECK (top_k BETWEEN 1 AND 200),
  min_score double precision CHECK (min_score >= 0),
  relative_cutoff double precision CHECK (relative_cutoff BETWEEN 0 AND 1),
  token_budget integer CHECK (token_budget >= 0),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, subject_kind, subject_id)
);

CREATE TABLE app.ranking_profiles (
  tenant_id text NOT NULL REFERENCES app.tenants,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('boosted', 'weighted')),
  -- The parameters of the kind, by the names of core/types.ts.
  parameters jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, name)
);

CREATE TABLE app.memory_traces (
  tenant_id text NOT NULL REFERENCES app.tenants,
  trace_id uuid NOT NULL,
  user_id text NOT NULL,
  created_at timestamptz NOT NULL,
  query text,
  trace jsonb NOT NULL,
  PRIMARY KEY (tenant_id, trace_id)
);
CREATE INDEX memory_traces_by_time ON app.memory_traces (tenant_id, created_at DESC, trace_id DESC);
CREATE INDEX memory_audit_by_time ON app.memory_audit (tenant_id, occurred_at DESC, audit_id DESC);

CREATE TABLE app.idempotency_keys (
  tenant_id text NOT NULL REFERENCES app.tenants,
  user_id text NOT NULL,
  idempotency_key text NOT NULL,
  request_hash text NOT NULL,
  claimed_at timestamptz NOT NULL,
  -- Null until the first request has been answered.
  status integer,
  body jsonb,
  PRIMARY KEY (tenant_id, user_id, idempotency_key)
);

ALTER TABLE app.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.api_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memory_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_policies FORCE ROW LEVEL SECURITY;
ALTER TABLE app.ranking_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.ranking_profiles FORCE ROW LEVEL SECURITY;
ALTER TABLE app.memory_traces ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_traces FORCE ROW LEVEL SECURITY;
ALTER TABLE app.idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.idempotency_keys FORCE ROW LEVEL SECURITY;

-- Whoever governs the tenant.
CREATE FUNCTION app.governs() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  RETURN app.is_tenant_wide() OR app.is_admin();

-- Administrators make keys; their holders see them and may revoke them.
CREATE POLICY keys_read ON app.api_keys FOR SELECT TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.governs()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY keys_insert ON app.api_keys FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));
CREATE POLICY keys_update ON app.api_keys FOR UPDATE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.governs()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY keys_lookup ON app.api_keys FOR SELECT TO palimpsest_auth USING (true);
CREATE POLICY keys_touch ON app.api_keys FOR UPDATE TO palimpsest_auth USING (true);

CREATE POLICY policies_read ON app.memory_policies FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY policies_insert ON app.memory_policies FOR INSERT
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));
CREATE POLICY policies_update ON app.memory_policies FOR UPDATE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));
CREATE POLICY policies_delete ON app.memory_policies FOR DELETE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));

CREATE POLICY profiles_read ON app.ranking_profiles FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY profiles_insert ON app.ranking_profiles FOR INSERT
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));
CREATE POLICY profiles_update ON app.ranking_profiles FOR UPDATE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));
CREATE POLICY profiles_delete ON app.ranking_profiles FOR DELETE
  USING (tenant_id = (SELECT app.asking_tenant()) AND (SELECT app.governs()));

CREATE POLICY traces_read ON app.memory_traces FOR SELECT TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.governs()) OR user_id = (SELECT app.asking_user())));
CREATE POLICY traces_insert ON app.memory_traces FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND user_id = (SELECT app.asking_user()));

CREATE POLICY idempotency_all ON app.idempotency_keys TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND user_id = (SELECT app.asking_user()));

-- Upkeep works on one tenant at a time, and sees of a row what it needs to find it.
CREATE POLICY tenants_upkeep ON app.tenants FOR SELECT TO palimpsest_upkeep USING (true);
CREATE POLICY traces_upkeep_find ON app.memory_traces FOR SELECT TO palimpsest_upkeep
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY traces_upkeep ON app.memory_traces FOR DELETE TO palimpsest_upkeep
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY audit_upkeep_find ON app.memory_audit FOR SELECT TO palimpsest_upkeep
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY audit_upkeep ON app.memory_audit FOR DELETE TO palimpsest_upkeep
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY idempotency_upkeep ON app.idempotency_keys TO palimpsest_upkeep
  USING (tenant_id = (SELECT app.asking_tenant()));

GRANT SELECT, INSERT, UPDATE ON app.api_keys TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.memory_policies, app.ranking_profiles TO palimpsest_app;
GRANT SELECT, INSERT ON app.memory_traces TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.idempotency_keys TO palimpsest_app;

GRANT SELECT ON app.api_keys TO palimpsest_auth;
GRANT UPDATE (last_used_at) ON app.api_keys TO palimpsest_auth;

GRANT SELECT ON app.tenants TO palimpsest_upkeep;
GRANT SELECT (tenant_id, trace_id, created_at), DELETE ON app.memory_traces TO palimpsest_upkeep;
GRANT SELECT (tenant_id, audit_id, occurred_at), DELETE ON app.memory_audit TO palimpsest_upkeep;
GRANT SELECT (tenant_id, user_id, idempotency_key, claimed_at), DELETE ON app.idempotency_keys TO palimpsest_upkeep;

-- The schema that the migrations make, as text. Made by "npm run schema": do not edit.
-- It is for reading and comparing: databases are made by the migrations.

CREATE EXTENSION vector;

CREATE ROLE palimpsest_app NOLOGIN NOBYPASSRLS;

CREATE ROLE palimpsest_auth NOLOGIN NOBYPASSRLS;

CREATE ROLE palimpsest_embedding NOLOGIN NOBYPASSRLS;

CREATE ROLE palimpsest_feedback NOLOGIN NOBYPASSRLS;

CREATE ROLE palimpsest_refusals NOLOGIN NOBYPASSRLS;

CREATE ROLE palimpsest_upkeep NOLOGIN NOBYPASSRLS;

CREATE OR REPLACE FUNCTION app.asking_tenant()
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('palimpsest.tenant_id'::text, true), ''::text);

CREATE OR REPLACE FUNCTION app.asking_user()
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('palimpsest.user_id'::text, true), ''::text);

CREATE OR REPLACE FUNCTION app.governs()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (app.is_tenant_wide() OR app.is_admin());

CREATE OR REPLACE FUNCTION app.is_admin()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NOT (current_setting('palimpsest.is_admin'::text, true) IS DISTINCT FROM 'on'::text));

CREATE OR REPLACE FUNCTION app.is_tenant_wide()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NOT (current_setting('palimpsest.tenant_wide'::text, true) IS DISTINCT FROM 'on'::text));

CREATE OR REPLACE FUNCTION app.namespace_is_global(path text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((path = 'vector.global'::text) OR starts_with(path, 'vector.global.'::text));

CREATE OR REPLACE FUNCTION app.namespace_owner(path text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN ((split_part(path, '.'::text, 1) = 'vector'::text) AND (split_part(path, '.'::text, 2) = ANY (ARRAY['user'::text, 'agent'::text]))) THEN NULLIF(split_part(path, '.'::text, 3), ''::text) ELSE NULL::text END;

CREATE OR REPLACE FUNCTION app.read_grants()
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('palimpsest.read_grants'::text, true), ''::text);

CREATE OR REPLACE FUNCTION app.write_grants()
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('palimpsest.write_grants'::text, true), ''::text);

CREATE TABLE app.api_keys (
  tenant_id text NOT NULL,
  key_id uuid NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  secret_hash text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL,
  created_by text NOT NULL,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, key_id),
  CONSTRAINT api_keys_scopes_check CHECK (((scopes <@ ARRAY['read'::text, 'write'::text, 'feedback'::text, 'admin'::text]) AND (cardinality(scopes) > 0))),
  CONSTRAINT api_keys_secret_hash_check CHECK ((secret_hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT api_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.api_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE app.embedding_gaps (
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  memory_id uuid NOT NULL,
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  reason text NOT NULL,
  claim_id uuid,
  claimed_until timestamp with time zone,
  error text,
  CONSTRAINT embedding_gaps_pkey PRIMARY KEY (tenant_id, model_id, memory_id),
  CONSTRAINT embedding_gaps_reason_check CHECK ((reason = ANY (ARRAY['waiting'::text, 'empty'::text, 'refused'::text])))
);
ALTER TABLE app.embedding_gaps ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_gaps FORCE ROW LEVEL SECURITY;

CREATE TABLE app.embedding_jobs (
  tenant_id text NOT NULL,
  job_id uuid NOT NULL,
  kind text NOT NULL,
  scope text NOT NULL,
  model_id text NOT NULL,
  status text NOT NULL,
  switches_itself boolean NOT NULL,
  purges_old boolean NOT NULL,
  created_by text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  scanned_to uuid,
  is_scanned boolean DEFAULT false NOT NULL,
  run_started_at timestamp with time zone,
  run_updated_at timestamp with time zone,
  run_settled bigint DEFAULT 0 NOT NULL,
  previous_model_id text,
  verification jsonb,
  CONSTRAINT embedding_jobs_pkey PRIMARY KEY (tenant_id, job_id),
  CONSTRAINT embedding_jobs_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'fill'::text]))),
  CONSTRAINT embedding_jobs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'paused'::text, 'done'::text, 'cancelled'::text]))),
  CONSTRAINT embedding_jobs_tenant_id_model_id_fkey FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models(tenant_id, model_id)
);
ALTER TABLE app.embedding_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE app.embedding_models (
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  dimensions integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  settings jsonb,
  failures integer DEFAULT 0 NOT NULL,
  retry_at timestamp with time zone,
  last_error text,
  CONSTRAINT embedding_models_pkey PRIMARY KEY (tenant_id, model_id),
  CONSTRAINT embedding_models_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 16000))),
  CONSTRAINT embedding_models_failures_check CHECK ((failures >= 0)),
  CONSTRAINT embedding_models_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.embedding_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_models FORCE ROW LEVEL SECURITY;

CREATE TABLE app.embedding_state (
  tenant_id text NOT NULL,
  role text NOT NULL,
  scope text NOT NULL,
  model_id text NOT NULL,
  is_caught_up boolean DEFAULT false NOT NULL,
  since timestamp with time zone NOT NULL,
  CONSTRAINT embedding_state_pkey PRIMARY KEY (tenant_id, role, scope),
  CONSTRAINT embedding_state_role_check CHECK ((role = ANY (ARRAY['active'::text, 'fallback'::text, 'target'::text]))),
  CONSTRAINT embedding_state_tenant_id_model_id_fkey FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models(tenant_id, model_id)
);
ALTER TABLE app.embedding_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_state FORCE ROW LEVEL SECURITY;

CREATE TABLE app.idempotency_keys (
  tenant_id text NOT NULL,
  user_id text NOT NULL,
  idempotency_key text NOT NULL,
  request_hash text NOT NULL,
  claimed_at timestamp with time zone NOT NULL,
  status integer,
  body jsonb,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (tenant_id, user_id, idempotency_key),
  CONSTRAINT idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memories (
  tenant_id text NOT NULL,
  id uuid NOT NULL,
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  created_by text NOT NULL,
  type text NOT NULL,
  content text NOT NULL,
  content_hash text NOT NULL,
  metadata jsonb NOT NULL,
  tags text[] NOT NULL,
  source_kind text,
  source_ref text,
  importance double precision NOT NULL,
  status text NOT NULL,
  confirmed_at timestamp with time zone,
  confirmed_by text,
  superseded_by uuid,
  superseded_at timestamp with time zone,
  observed_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone,
  deleted_at timestamp with time zone,
  access_count bigint DEFAULT 0 NOT NULL,
  validated_access_count bigint DEFAULT 0 NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT memories_access_count_check CHECK ((access_count >= 0)),
  CONSTRAINT memories_check CHECK (((status = 'superseded'::text) = (superseded_by IS NOT NULL))),
  CONSTRAINT memories_check1 CHECK (((status <> 'confirmed'::text) OR (confirmed_at IS NOT NULL))),
  CONSTRAINT memories_content_hash_check CHECK ((content_hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT memories_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (1)::double precision))),
  CONSTRAINT memories_metadata_bounded CHECK ((octet_length((metadata)::text) <= 131072)),
  CONSTRAINT memories_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  CONSTRAINT memories_status_check CHECK ((status = ANY (ARRAY['unconfirmed'::text, 'confirmed'::text, 'superseded'::text]))),
  CONSTRAINT memories_tags_bounded CHECK ((cardinality(tags) <= 64)),
  CONSTRAINT memories_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id),
  CONSTRAINT memories_tenant_id_namespace_fkey FOREIGN KEY (tenant_id, namespace) REFERENCES app.namespaces(tenant_id, path),
  CONSTRAINT memories_validated_access_count_check CHECK ((validated_access_count >= 0))
);
ALTER TABLE app.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memories FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memory_audit (
  tenant_id text NOT NULL,
  audit_id uuid NOT NULL,
  occurred_at timestamp with time zone NOT NULL,
  action text NOT NULL,
  operation text,
  actor_id text NOT NULL,
  namespace text,
  memory_id uuid,
  detail jsonb NOT NULL,
  CONSTRAINT memory_audit_pkey PRIMARY KEY (tenant_id, audit_id),
  CONSTRAINT memory_audit_action_check CHECK ((action = ANY (ARRAY['read'::text, 'write'::text, 'delete'::text, 'status'::text, 'feedback'::text, 'warning'::text, 'admin'::text]))),
  CONSTRAINT memory_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.memory_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_audit FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memory_embeddings (
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  memory_id uuid NOT NULL,
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  embedding vector NOT NULL,
  coverage text NOT NULL,
  CONSTRAINT memory_embeddings_pkey PRIMARY KEY (tenant_id, model_id, memory_id),
  CONSTRAINT memory_embeddings_coverage_check CHECK ((coverage = ANY (ARRAY['whole'::text, 'chunked'::text, 'truncated'::text]))),
  CONSTRAINT memory_embeddings_tenant_id_model_id_fkey FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models(tenant_id, model_id)
) WITH (toast_tuple_target=8160);
ALTER TABLE app.memory_embeddings ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_embeddings FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memory_feedback (
  tenant_id text NOT NULL,
  trace_id uuid NOT NULL,
  memory_id uuid NOT NULL,
  signal text NOT NULL,
  user_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT memory_feedback_pkey PRIMARY KEY (tenant_id, trace_id, memory_id, signal),
  CONSTRAINT memory_feedback_signal_check CHECK ((signal = ANY (ARRAY['accessed'::text, 'useful'::text, 'not_useful'::text, 'wrong'::text]))),
  CONSTRAINT memory_feedback_tenant_id_memory_id_fkey FOREIGN KEY (tenant_id, memory_id) REFERENCES app.memories(tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE app.memory_feedback ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_feedback FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memory_policies (
  tenant_id text NOT NULL,
  subject_kind text NOT NULL,
  subject_id text NOT NULL,
  read_namespaces text[] NOT NULL,
  write_namespace text,
  allowed_write_namespaces text[] NOT NULL,
  allow_write boolean NOT NULL,
  allow_tool_write boolean NOT NULL,
  allow_tool_delete boolean NOT NULL,
  profile text,
  top_k integer,
  min_score double precision,
  relative_cutoff double precision,
  token_budget integer,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT memory_policies_pkey PRIMARY KEY (tenant_id, subject_kind, subject_id),
  CONSTRAINT memory_policies_min_score_check CHECK ((min_score >= (0)::double precision)),
  CONSTRAINT memory_policies_relative_cutoff_check CHECK (((relative_cutoff >= (0)::double precision) AND (relative_cutoff <= (1)::double precision))),
  CONSTRAINT memory_policies_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['agent'::text, 'task'::text]))),
  CONSTRAINT memory_policies_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id),
  CONSTRAINT memory_policies_token_budget_check CHECK ((token_budget >= 0)),
  CONSTRAINT memory_policies_top_k_check CHECK (((top_k >= 1) AND (top_k <= 200)))
);
ALTER TABLE app.memory_policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_policies FORCE ROW LEVEL SECURITY;

CREATE TABLE app.memory_traces (
  tenant_id text NOT NULL,
  trace_id uuid NOT NULL,
  user_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  query text,
  trace jsonb NOT NULL,
  CONSTRAINT memory_traces_pkey PRIMARY KEY (tenant_id, trace_id),
  CONSTRAINT memory_traces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.memory_traces ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.memory_traces FORCE ROW LEVEL SECURITY;

CREATE TABLE app.namespaces (
  tenant_id text NOT NULL,
  path text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(path)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(path)) STORED,
  version bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT namespaces_pkey PRIMARY KEY (tenant_id, path),
  CONSTRAINT namespaces_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.namespaces FORCE ROW LEVEL SECURITY;

CREATE TABLE app.ranking_profiles (
  tenant_id text NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  parameters jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT ranking_profiles_pkey PRIMARY KEY (tenant_id, name),
  CONSTRAINT ranking_profiles_kind_check CHECK ((kind = ANY (ARRAY['boosted'::text, 'weighted'::text]))),
  CONSTRAINT ranking_profiles_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.ranking_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.ranking_profiles FORCE ROW LEVEL SECURITY;

CREATE TABLE app.schema_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (version),
  CONSTRAINT schema_migrations_version_check CHECK ((version > 0))
);

CREATE TABLE app.tenants (
  tenant_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id)
);
ALTER TABLE app.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.tenants FORCE ROW LEVEL SECURITY;

CREATE TABLE app.users (
  tenant_id text NOT NULL,
  user_id text NOT NULL,
  allow_admin_memory boolean DEFAULT false NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (tenant_id, user_id),
  CONSTRAINT users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.users ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.users FORCE ROW LEVEL SECURITY;

CREATE TABLE app.vector_namespace_rules (
  tenant_id text NOT NULL,
  pattern text NOT NULL,
  bonus double precision DEFAULT 0 NOT NULL,
  description text,
  instruction_template text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT vector_namespace_rules_pkey PRIMARY KEY (tenant_id, pattern),
  CONSTRAINT vector_namespace_rules_bonus_check CHECK (((bonus >= (0)::double precision) AND (bonus <= (1)::double precision))),
  CONSTRAINT vector_namespace_rules_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES app.tenants(tenant_id)
);
ALTER TABLE app.vector_namespace_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.vector_namespace_rules FORCE ROW LEVEL SECURITY;

CREATE INDEX api_keys_by_prefix ON app.api_keys USING btree (prefix);

CREATE INDEX embedding_gaps_by_memory ON app.embedding_gaps USING btree (tenant_id, memory_id);

CREATE INDEX embedding_gaps_waiting ON app.embedding_gaps USING btree (tenant_id, model_id, memory_id) WHERE (reason = 'waiting'::text);

CREATE UNIQUE INDEX embedding_jobs_one_change ON app.embedding_jobs USING btree (tenant_id) WHERE ((kind = 'change'::text) AND (status = ANY (ARRAY['running'::text, 'paused'::text])));

CREATE UNIQUE INDEX embedding_jobs_one_fill ON app.embedding_jobs USING btree (tenant_id, model_id) WHERE ((kind = 'fill'::text) AND (status = ANY (ARRAY['running'::text, 'paused'::text])));

CREATE INDEX memories_by_creation ON app.memories USING btree (tenant_id, created_at DESC, id DESC);

CREATE INDEX memories_by_namespace ON app.memories USING btree (tenant_id, namespace, version);

CREATE INDEX memories_by_successor ON app.memories USING btree (tenant_id, superseded_by) WHERE (superseded_by IS NOT NULL);

CREATE UNIQUE INDEX memories_live_content ON app.memories USING btree (tenant_id, namespace, content_hash) WHERE ((deleted_at IS NULL) AND (superseded_by IS NULL));

CREATE INDEX memory_audit_by_memory ON app.memory_audit USING btree (tenant_id, memory_id) WHERE (memory_id IS NOT NULL);

CREATE INDEX memory_audit_by_time ON app.memory_audit USING btree (tenant_id, occurred_at DESC, audit_id DESC);

CREATE INDEX memory_embeddings_by_memory ON app.memory_embeddings USING btree (tenant_id, memory_id);

CREATE INDEX memory_feedback_by_memory ON app.memory_feedback USING btree (tenant_id, memory_id);

CREATE INDEX memory_traces_by_time ON app.memory_traces USING btree (tenant_id, created_at DESC, trace_id DESC);

CREATE POLICY keys_insert ON app.api_keys FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY keys_lookup ON app.api_keys FOR SELECT TO palimpsest_auth
  USING true;

CREATE POLICY keys_read ON app.api_keys FOR SELECT TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.governs() AS governs) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY keys_touch ON app.api_keys FOR UPDATE TO palimpsest_auth
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY keys_update ON app.api_keys FOR UPDATE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.governs() AS governs) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY embedding_gaps_delete ON app.embedding_gaps FOR DELETE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY embedding_gaps_find ON app.embedding_gaps FOR SELECT TO palimpsest_embedding
  USING (( SELECT app.asking_tenant() AS asking_tenant) IS NULL);

CREATE POLICY embedding_gaps_insert ON app.embedding_gaps FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY embedding_gaps_read ON app.embedding_gaps FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND ((namespace ~ ( SELECT app.read_grants() AS read_grants)) OR (namespace ~ ( SELECT app.write_grants() AS write_grants)))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY embedding_gaps_update ON app.embedding_gaps FOR UPDATE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY embedding_gaps_work ON app.embedding_gaps FOR ALL TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY embedding_jobs_all ON app.embedding_jobs FOR ALL TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY embedding_jobs_find ON app.embedding_jobs FOR SELECT TO palimpsest_embedding
  USING (( SELECT app.asking_tenant() AS asking_tenant) IS NULL);

CREATE POLICY embedding_models_all ON app.embedding_models FOR ALL TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY embedding_models_find ON app.embedding_models FOR SELECT TO palimpsest_embedding
  USING (( SELECT app.asking_tenant() AS asking_tenant) IS NULL);

CREATE POLICY embedding_state_decide ON app.embedding_state FOR ALL TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY embedding_state_read ON app.embedding_state FOR SELECT TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY idempotency_all ON app.idempotency_keys FOR ALL TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (user_id = ( SELECT app.asking_user() AS asking_user)));

CREATE POLICY idempotency_upkeep ON app.idempotency_keys FOR ALL TO palimpsest_upkeep
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY memories_delete ON app.memories FOR DELETE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY memories_embedding ON app.memories FOR SELECT TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY memories_feedback ON app.memories FOR UPDATE TO palimpsest_feedback
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.read_grants() AS read_grants))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY memories_insert ON app.memories FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY memories_read ON app.memories FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND ((namespace ~ ( SELECT app.read_grants() AS read_grants)) OR (namespace ~ ( SELECT app.write_grants() AS write_grants)))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY memories_refusals ON app.memories FOR SELECT TO palimpsest_refusals
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY memories_update ON app.memories FOR UPDATE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY audit_insert ON app.memory_audit FOR INSERT TO public
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (actor_id = ( SELECT app.asking_user() AS asking_user)));

CREATE POLICY audit_read ON app.memory_audit FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin)));

CREATE POLICY audit_upkeep ON app.memory_audit FOR DELETE TO palimpsest_upkeep
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY audit_upkeep_find ON app.memory_audit FOR SELECT TO palimpsest_upkeep
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY memory_embeddings_delete ON app.memory_embeddings FOR DELETE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY memory_embeddings_embedding ON app.memory_embeddings FOR ALL TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY memory_embeddings_insert ON app.memory_embeddings FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY memory_embeddings_read ON app.memory_embeddings FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND ((namespace ~ ( SELECT app.read_grants() AS read_grants)) OR (namespace ~ ( SELECT app.write_grants() AS write_grants)))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY memory_embeddings_update ON app.memory_embeddings FOR UPDATE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (namespace ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY memory_feedback_counts ON app.memory_feedback FOR SELECT TO palimpsest_feedback
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (EXISTS ( SELECT
   FROM app.memories m
  WHERE ((m.tenant_id = memory_feedback.tenant_id) AND (m.id = memory_feedback.memory_id)))));

CREATE POLICY memory_feedback_insert ON app.memory_feedback FOR INSERT TO palimpsest_feedback
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (user_id = ( SELECT app.asking_user() AS asking_user)));

CREATE POLICY memory_feedback_read ON app.memory_feedback FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY policies_delete ON app.memory_policies FOR DELETE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY policies_insert ON app.memory_policies FOR INSERT TO public
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY policies_read ON app.memory_policies FOR SELECT TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY policies_update ON app.memory_policies FOR UPDATE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY traces_feedback ON app.memory_traces FOR SELECT TO palimpsest_feedback
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY traces_insert ON app.memory_traces FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (user_id = ( SELECT app.asking_user() AS asking_user)));

CREATE POLICY traces_read ON app.memory_traces FOR SELECT TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.governs() AS governs) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY traces_refusals ON app.memory_traces FOR SELECT TO palimpsest_refusals
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY traces_upkeep ON app.memory_traces FOR DELETE TO palimpsest_upkeep
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY traces_upkeep_find ON app.memory_traces FOR SELECT TO palimpsest_upkeep
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY namespaces_embedding ON app.namespaces FOR SELECT TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY namespaces_embedding_update ON app.namespaces FOR UPDATE TO palimpsest_embedding
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY namespaces_feedback ON app.namespaces FOR UPDATE TO palimpsest_feedback
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND (path ~ ( SELECT app.read_grants() AS read_grants))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY namespaces_insert ON app.namespaces FOR INSERT TO palimpsest_app
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (path ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY namespaces_read ON app.namespaces FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR is_global OR ((owner_id IS NULL) AND ((path ~ ( SELECT app.read_grants() AS read_grants)) OR (path ~ ( SELECT app.write_grants() AS write_grants)))) OR (( SELECT app.is_admin() AS is_admin) AND (owner_id IN ( SELECT u.user_id
   FROM app.users u
  WHERE ((u.tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND u.allow_admin_memory))))));

CREATE POLICY namespaces_update ON app.namespaces FOR UPDATE TO palimpsest_app
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (owner_id = ( SELECT app.asking_user() AS asking_user)) OR ((owner_id IS NULL) AND (path ~ ( SELECT app.write_grants() AS write_grants)))));

CREATE POLICY profiles_delete ON app.ranking_profiles FOR DELETE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY profiles_insert ON app.ranking_profiles FOR INSERT TO public
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY profiles_read ON app.ranking_profiles FOR SELECT TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY profiles_update ON app.ranking_profiles FOR UPDATE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND ( SELECT app.governs() AS governs));

CREATE POLICY tenants_all ON app.tenants FOR ALL TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant))
  WITH CHECK (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY tenants_upkeep ON app.tenants FOR SELECT TO palimpsest_upkeep
  USING true;

CREATE POLICY users_insert ON app.users FOR INSERT TO public
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY users_read ON app.users FOR SELECT TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY users_refusals ON app.users FOR SELECT TO palimpsest_refusals
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY users_update ON app.users FOR UPDATE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR (user_id = ( SELECT app.asking_user() AS asking_user))));

CREATE POLICY rules_delete ON app.vector_namespace_rules FOR DELETE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin)));

CREATE POLICY rules_insert ON app.vector_namespace_rules FOR INSERT TO public
  WITH CHECK ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin)));

CREATE POLICY rules_read ON app.vector_namespace_rules FOR SELECT TO public
  USING (tenant_id = ( SELECT app.asking_tenant() AS asking_tenant));

CREATE POLICY rules_update ON app.vector_namespace_rules FOR UPDATE TO public
  USING ((tenant_id = ( SELECT app.asking_tenant() AS asking_tenant)) AND (( SELECT app.is_tenant_wide() AS is_tenant_wide) OR ( SELECT app.is_admin() AS is_admin)));

GRANT USAGE ON SCHEMA app TO palimpsest_app;

GRANT USAGE ON SCHEMA app TO palimpsest_auth;

GRANT USAGE ON SCHEMA app TO palimpsest_embedding;

GRANT USAGE ON SCHEMA app TO palimpsest_feedback;

GRANT USAGE ON SCHEMA app TO palimpsest_refusals;

GRANT USAGE ON SCHEMA app TO palimpsest_upkeep;

GRANT INSERT, SELECT (created_at), SELECT (created_by), SELECT (expires_at), SELECT (key_id), SELECT (last_used_at), SELECT (name), SELECT (prefix), SELECT (revoked_at), SELECT (scopes), SELECT (tenant_id), SELECT (user_id), UPDATE (revoked_at) ON app.api_keys TO palimpsest_app;

GRANT SELECT, UPDATE (last_used_at) ON app.api_keys TO palimpsest_auth;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.embedding_gaps TO palimpsest_app;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.embedding_gaps TO palimpsest_embedding;

GRANT INSERT, SELECT, UPDATE ON app.embedding_jobs TO palimpsest_embedding;

GRANT INSERT, SELECT ON app.embedding_models TO palimpsest_app;

GRANT INSERT, SELECT, UPDATE ON app.embedding_models TO palimpsest_embedding;

GRANT SELECT ON app.embedding_state TO palimpsest_app;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.embedding_state TO palimpsest_embedding;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.idempotency_keys TO palimpsest_app;

GRANT DELETE, SELECT (claimed_at), SELECT (idempotency_key), SELECT (tenant_id), SELECT (user_id) ON app.idempotency_keys TO palimpsest_upkeep;

GRANT DELETE, INSERT, SELECT, UPDATE (confirmed_at), UPDATE (confirmed_by), UPDATE (content), UPDATE (content_hash), UPDATE (deleted_at), UPDATE (expires_at), UPDATE (importance), UPDATE (metadata), UPDATE (observed_at), UPDATE (source_kind), UPDATE (source_ref), UPDATE (status), UPDATE (superseded_at), UPDATE (superseded_by), UPDATE (tags), UPDATE (type), UPDATE (updated_at), UPDATE (version) ON app.memories TO palimpsest_app;

GRANT SELECT (content), SELECT (content_hash), SELECT (deleted_at), SELECT (expires_at), SELECT (id), SELECT (metadata), SELECT (namespace), SELECT (source_kind), SELECT (source_ref), SELECT (superseded_by), SELECT (tenant_id), SELECT (type) ON app.memories TO palimpsest_embedding;

GRANT SELECT, UPDATE (access_count), UPDATE (validated_access_count), UPDATE (version) ON app.memories TO palimpsest_feedback;

GRANT SELECT (id), SELECT (namespace), SELECT (tenant_id) ON app.memories TO palimpsest_refusals;

GRANT INSERT, SELECT ON app.memory_audit TO palimpsest_app;

GRANT INSERT ON app.memory_audit TO palimpsest_embedding;

GRANT INSERT ON app.memory_audit TO palimpsest_feedback;

GRANT INSERT ON app.memory_audit TO palimpsest_refusals;

GRANT DELETE, SELECT (audit_id), SELECT (occurred_at), SELECT (tenant_id) ON app.memory_audit TO palimpsest_upkeep;

GRANT DELETE, INSERT, SELECT, UPDATE (coverage), UPDATE (embedding) ON app.memory_embeddings TO palimpsest_app;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.memory_embeddings TO palimpsest_embedding;

GRANT SELECT ON app.memory_feedback TO palimpsest_app;

GRANT INSERT, SELECT ON app.memory_feedback TO palimpsest_feedback;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.memory_policies TO palimpsest_app;

GRANT SELECT ON app.memory_policies TO palimpsest_feedback;

GRANT INSERT, SELECT ON app.memory_traces TO palimpsest_app;

GRANT SELECT (tenant_id), SELECT (trace_id), SELECT (user_id) ON app.memory_traces TO palimpsest_feedback;

GRANT SELECT (tenant_id), SELECT (trace_id) ON app.memory_traces TO palimpsest_refusals;

GRANT DELETE, SELECT (created_at), SELECT (tenant_id), SELECT (trace_id) ON app.memory_traces TO palimpsest_upkeep;

GRANT INSERT, SELECT, UPDATE (updated_at), UPDATE (version) ON app.namespaces TO palimpsest_app;

GRANT SELECT, UPDATE (version) ON app.namespaces TO palimpsest_embedding;

GRANT SELECT, UPDATE (updated_at), UPDATE (version) ON app.namespaces TO palimpsest_feedback;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.ranking_profiles TO palimpsest_app;

GRANT SELECT ON app.schema_migrations TO palimpsest_app;

GRANT INSERT, SELECT ON app.tenants TO palimpsest_app;

GRANT INSERT, SELECT ON app.tenants TO palimpsest_embedding;

GRANT INSERT, SELECT ON app.tenants TO palimpsest_refusals;

GRANT SELECT ON app.tenants TO palimpsest_upkeep;

GRANT INSERT, SELECT, UPDATE (allow_admin_memory) ON app.users TO palimpsest_app;

GRANT SELECT (allow_admin_memory), SELECT (tenant_id), SELECT (user_id) ON app.users TO palimpsest_embedding;

GRANT SELECT ON app.users TO palimpsest_feedback;

GRANT SELECT (allow_admin_memory), SELECT (tenant_id), SELECT (user_id) ON app.users TO palimpsest_refusals;

GRANT DELETE, INSERT, SELECT, UPDATE ON app.vector_namespace_rules TO palimpsest_app;

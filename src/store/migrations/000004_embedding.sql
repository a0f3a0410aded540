-- Which model searches use, which entries have no vector yet, and changes of the model.

-- Embeds in the background and switches models: reads every content of a tenant. Never a request's role.
DO $$ BEGIN
  CREATE ROLE palimpsest_embedding NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT palimpsest_embedding TO CURRENT_USER;
GRANT USAGE ON SCHEMA app TO palimpsest_embedding;

ALTER TABLE app.embedding_models
  -- What another process opens the model with; null where only the program that brought it can.
  ADD COLUMN settings jsonb,
  -- While its provider is down: failures in a row, and when it is asked again in the background.
  ADD COLUMN failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
  ADD COLUMN retry_at timestamptz,
  ADD COLUMN last_error text;

CREATE TABLE app.embedding_state (
  tenant_id text NOT NULL,
  role text NOT NULL CHECK (role IN ('active', 'fallback', 'target')),
  -- '*', a namespace, or a namespace and '.*'. The most specific one that covers a namespace holds.
  scope text NOT NULL,
  model_id text NOT NULL,
  -- Of a target: whether the entries that were there are done, so that writes embed under it at once.
  is_caught_up boolean NOT NULL DEFAULT false,
  since timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, role, scope),
  FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models
);

CREATE TABLE app.embedding_jobs (
  tenant_id text NOT NULL,
  job_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('change', 'fill')),
  scope text NOT NULL,
  model_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'paused', 'done', 'cancelled')),
  switches_itself boolean NOT NULL,
  purges_old boolean NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- Entries up to this id have been looked at.
  scanned_to uuid,
  is_scanned boolean NOT NULL DEFAULT false,
  -- Entries settled in the current run of work, for the rate; a pause of a minute begins a new run.
  run_started_at timestamptz,
  run_updated_at timestamptz,
  run_settled bigint NOT NULL DEFAULT 0,
  -- Set by the switch: what searches used before.
  previous_model_id text,
  verification jsonb,
  PRIMARY KEY (tenant_id, job_id),
  FOREIGN KEY (tenant_id, model_id) REFERENCES app.embedding_models
);
-- One change at a time, so that two never disagree about an entry.
CREATE UNIQUE INDEX embedding_jobs_one_change ON app.embedding_jobs (tenant_id)
  WHERE kind = 'change' AND status IN ('running', 'paused');
CREATE UNIQUE INDEX embedding_jobs_one_fill ON app.embedding_jobs (tenant_id, model_id)
  WHERE kind = 'fill' AND status IN ('running', 'paused');

-- Entries without a vector under a model they are kept under.
CREATE TABLE app.embedding_gaps (
  tenant_id text NOT NULL,
  model_id text NOT NULL,
  memory_id uuid NOT NULL,
  namespace text NOT NULL,
  owner_id text GENERATED ALWAYS AS (app.namespace_owner(namespace)) STORED,
  is_global boolean GENERATED ALWAYS AS (app.namespace_is_global(namespace)) STORED,
  -- waiting: still to be embedded; empty: nothing to embed in it; refused: the model refuses the text.
  reason text NOT NULL CHECK (reason IN ('waiting', 'empty', 'refused')),
  claim_id uuid,
  claimed_until timestamptz,
  -- Why it was refused.
  error text,
  PRIMARY KEY (tenant_id, model_id, memory_id)
);
CREATE INDEX embedding_gaps_waiting ON app.embedding_gaps (tenant_id, model_id, memory_id)
  WHERE reason = 'waiting';
CREATE INDEX embedding_gaps_by_memory ON app.embedding_gaps (tenant_id, memory_id);

-- Vectors made before there was a choice belong to the one model each tenant had.
INSERT INTO app.embedding_state (tenant_id, role, scope, model_id, since)
  SELECT DISTINCT ON (tenant_id) tenant_id, 'active', '*', model_id, created_at
  FROM app.embedding_models ORDER BY tenant_id, created_at, model_id;

ALTER TABLE app.embedding_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_state FORCE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_jobs FORCE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_gaps ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.embedding_gaps FORCE ROW LEVEL SECURITY;

-- Every search and write reads which models there are; the role above alone decides it.
CREATE POLICY embedding_state_read ON app.embedding_state FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY embedding_state_decide ON app.embedding_state TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY embedding_jobs_all ON app.embedding_jobs TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));
-- Without a tenant it may see which tenants have work: ids of models and jobs, and no row of an entry.
CREATE POLICY embedding_jobs_find ON app.embedding_jobs FOR SELECT TO palimpsest_embedding
  USING ((SELECT app.asking_tenant()) IS NULL);
CREATE POLICY embedding_gaps_find ON app.embedding_gaps FOR SELECT TO palimpsest_embedding
  USING ((SELECT app.asking_tenant()) IS NULL);
CREATE POLICY embedding_models_find ON app.embedding_models FOR SELECT TO palimpsest_embedding
  USING ((SELECT app.asking_tenant()) IS NULL);

-- A gap is as readable and as writable as its entry's vectors.
CREATE POLICY embedding_gaps_read ON app.embedding_gaps FOR SELECT
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide())
    OR owner_id = (SELECT app.asking_user())
    OR is_global
    OR (owner_id IS NULL AND (namespace ~ (SELECT app.read_grants()) OR namespace ~ (SELECT app.write_grants())))
    OR ((SELECT app.is_admin()) AND owner_id IN (SELECT u.user_id FROM app.users u
      WHERE u.tenant_id = (SELECT app.asking_tenant()) AND u.allow_admin_memory))));
CREATE POLICY embedding_gaps_insert ON app.embedding_gaps FOR INSERT TO palimpsest_app
  WITH CHECK (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY embedding_gaps_update ON app.embedding_gaps FOR UPDATE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY embedding_gaps_delete ON app.embedding_gaps FOR DELETE TO palimpsest_app
  USING (tenant_id = (SELECT app.asking_tenant()) AND (
    (SELECT app.is_tenant_wide()) OR owner_id = (SELECT app.asking_user())
    OR (owner_id IS NULL AND namespace ~ (SELECT app.write_grants()))));
CREATE POLICY embedding_gaps_work ON app.embedding_gaps TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));

CREATE POLICY memories_embedding ON app.memories FOR SELECT TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY memory_embeddings_embedding ON app.memory_embeddings TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY namespaces_embedding ON app.namespaces FOR SELECT TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY namespaces_embedding_update ON app.namespaces FOR UPDATE TO palimpsest_embedding
  USING (tenant_id = (SELECT app.asking_tenant()));

GRANT SELECT ON app.embedding_state TO palimpsest_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.embedding_gaps TO palimpsest_app;

GRANT SELECT, INSERT ON app.tenants TO palimpsest_embedding;
GRANT SELECT, INSERT, UPDATE ON app.embedding_models TO palimpsest_embedding;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.embedding_state, app.embedding_gaps TO palimpsest_embedding;
GRANT SELECT, INSERT, UPDATE ON app.embedding_jobs TO palimpsest_embedding;
GRANT SELECT, INSERT, UPDATE, DELETE ON app.memory_embeddings TO palimpsest_embedding;
GRANT SELECT (tenant_id, id, namespace, type, content, content_hash, metadata, source_kind, source_ref, expires_at,
  superseded_by, deleted_at) ON app.memories TO palimpsest_embedding;
-- The policies of every role look up who consents.
GRANT SELECT (tenant_id, user_id, allow_admin_memory) ON app.users TO palimpsest_embedding;
GRANT SELECT, UPDATE (version) ON app.namespaces TO palimpsest_embedding;
GRANT INSERT ON app.memory_audit TO palimpsest_embedding;

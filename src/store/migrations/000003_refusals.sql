-- Refused accesses, counts of feedback, and whose trace a signal names.

-- Writes down what was refused: may learn where an entry is and whether a user consents; reads no content.
DO $$ BEGIN
  CREATE ROLE palimpsest_refusals NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
GRANT palimpsest_refusals TO CURRENT_USER;
GRANT USAGE ON SCHEMA app TO palimpsest_refusals;

CREATE POLICY memories_refusals ON app.memories FOR SELECT TO palimpsest_refusals
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY users_refusals ON app.users FOR SELECT TO palimpsest_refusals
  USING (tenant_id = (SELECT app.asking_tenant()));
CREATE POLICY traces_refusals ON app.memory_traces FOR SELECT TO palimpsest_refusals
  USING (tenant_id = (SELECT app.asking_tenant()));

GRANT SELECT, INSERT ON app.tenants TO palimpsest_refusals;
GRANT SELECT (tenant_id, id, namespace) ON app.memories TO palimpsest_refusals;
GRANT SELECT (tenant_id, user_id, allow_admin_memory) ON app.users TO palimpsest_refusals;
GRANT SELECT (tenant_id, trace_id) ON app.memory_traces TO palimpsest_refusals;
GRANT INSERT ON app.memory_audit TO palimpsest_refusals;

-- A signal counts once per trace, entry and signal, so nobody may give one under somebody else's trace.
CREATE POLICY traces_feedback ON app.memory_traces FOR SELECT TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()));
GRANT SELECT (tenant_id, trace_id, user_id) ON app.memory_traces TO palimpsest_feedback;

-- Whoever may read an entry may know how often each signal was given for it, by anybody.
CREATE POLICY memory_feedback_counts ON app.memory_feedback FOR SELECT TO palimpsest_feedback
  USING (tenant_id = (SELECT app.asking_tenant()) AND EXISTS (SELECT FROM app.memories m
    WHERE m.tenant_id = memory_feedback.tenant_id AND m.id = memory_feedback.memory_id));

-- Feedback for an entry of the tenant's namespaces is given under what an agent's policy opens.
GRANT SELECT ON app.memory_policies TO palimpsest_feedback;

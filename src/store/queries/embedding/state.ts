import type { EmbeddingAssignment, EmbeddingRole, KnownModel } from '../../../core/embedding-state.ts';
import type { JsonObject } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

/** Which models a tenant keeps vectors under, and for what. */

export interface AssignmentRow extends SqlRow {
  role: EmbeddingRole;
  scope: string;
  is_caught_up: boolean;
  model_id: string;
  dimensions: number;
  settings: JsonObject | null;
}

export function toKnownModel(row: Pick<AssignmentRow, 'model_id' | 'dimensions' | 'settings'>): KnownModel {
  return { modelId: row.model_id, dimensions: row.dimensions, settings: row.settings };
}

export function toAssignment(row: AssignmentRow): EmbeddingAssignment {
  return { role: row.role, scope: row.scope, model: toKnownModel(row), isCaughtUp: row.is_caught_up };
}

export function selectAssignments(tenantId: string): SqlStatement {
  return {
    text: `SELECT s.role, s.scope, s.is_caught_up, s.model_id, d.dimensions, d.settings
      FROM app.embedding_state AS s
      JOIN app.embedding_models AS d ON d.tenant_id = s.tenant_id AND d.model_id = s.model_id
      WHERE s.tenant_id = $1 ORDER BY s.role, s.scope COLLATE "C"`,
    values: [tenantId],
  };
}

/** Models under which an entry the asker may read has no vector yet: `EXISTS` for each model in use, not a count. */
export function selectWaitingModels(tenantId: string): SqlStatement {
  return {
    text: `SELECT DISTINCT s.model_id FROM app.embedding_state AS s
      WHERE s.tenant_id = $1 AND EXISTS (SELECT FROM app.embedding_gaps AS g
        WHERE g.tenant_id = s.tenant_id AND g.model_id = s.model_id AND g.reason = 'waiting')`,
    values: [tenantId],
  };
}

export function upsertAssignment(
  tenantId: string,
  assignment: { readonly role: EmbeddingRole; readonly scope: string; readonly modelId: string },
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_state (tenant_id, role, scope, model_id, since)
      VALUES ($1, $2, $3, $4, $5::timestamptz)
      ON CONFLICT (tenant_id, role, scope) DO UPDATE
        SET model_id = excluded.model_id, since = excluded.since, is_caught_up = false`,
    values: [tenantId, assignment.role, assignment.scope, assignment.modelId, sqlTime(now)],
  };
}

export function deleteAssignment(tenantId: string, role: EmbeddingRole, scope: string): SqlStatement {
  return {
    text: 'DELETE FROM app.embedding_state WHERE tenant_id = $1 AND role = $2 AND scope = $3',
    values: [tenantId, role, scope],
  };
}

/** Writes embed under a target at once from now on. Nothing changes while its job has entries to look at. */
export function markCaughtUp(tenantId: string, modelId: string): SqlStatement {
  return {
    text: `UPDATE app.embedding_state AS s SET is_caught_up = true
      WHERE s.tenant_id = $1 AND s.model_id = $2 AND s.role = 'target' AND NOT s.is_caught_up
        AND NOT EXISTS (SELECT FROM app.embedding_jobs AS j WHERE j.tenant_id = $1 AND j.model_id = $2
          AND j.status IN ('running', 'paused') AND NOT j.is_scanned)`,
    values: [tenantId, modelId],
  };
}

/** Makes a model known; what it is opened with is as whoever configured it last says. */
export function upsertModel(tenantId: string, model: KnownModel, now: number): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_models AS d (tenant_id, model_id, dimensions, settings, created_at)
      VALUES ($1, $2, $3, $4::jsonb, $5::timestamptz)
      ON CONFLICT (tenant_id, model_id) DO UPDATE SET settings = excluded.settings
        WHERE d.settings IS DISTINCT FROM excluded.settings AND excluded.settings IS NOT NULL`,
    values: [tenantId, model.modelId, model.dimensions, model.settings, sqlTime(now)],
  };
}

export function selectModel(tenantId: string, modelId: string): SqlStatement {
  return {
    text: 'SELECT model_id, dimensions, settings FROM app.embedding_models WHERE tenant_id = $1 AND model_id = $2',
    values: [tenantId, modelId],
  };
}

export function selectHasEntries(tenantId: string): SqlStatement {
  return {
    text: 'SELECT EXISTS (SELECT FROM app.memories WHERE tenant_id = $1) AS has_entries',
    values: [tenantId],
  };
}

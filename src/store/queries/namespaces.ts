import { scopeRegexSource } from '../../core/namespace.ts';
import type { ScopePatterns } from '../../core/ports.ts';
import type { SqlStatement } from '../sql-database.ts';
import { SqlParameters, sqlTime } from '../sql-parameters.ts';

/** Namespaces of a scope that the asker may read, with their versions. */
export function selectNamespaces(tenantId: string, scope: ScopePatterns): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const inScope = scope === null ? '' : ` AND path ~ ${parameters.bind(scopeRegexSource(scope))}`;
  return parameters.statement(
    `SELECT path, version FROM app.namespaces WHERE tenant_id = ${tenant}${inScope} ORDER BY path COLLATE "C"`,
  );
}

/**
 * Makes the namespaces that are missing and raises the version of all. Locks them in the order of their
 * paths, so that two batches can't wait for each other.
 */
export function touchNamespaces(tenantId: string, paths: readonly string[], now: number): SqlStatement {
  return {
    text: `INSERT INTO app.namespaces AS n (tenant_id, path, version, created_at, updated_at)
      SELECT $1, path, 1, $3::timestamptz, $3::timestamptz FROM unnest($2::text[]) AS path ORDER BY path COLLATE "C"
      ON CONFLICT (tenant_id, path) DO UPDATE
        SET version = n.version + 1, updated_at = greatest(n.updated_at, excluded.updated_at)
      RETURNING path, version`,
    values: [tenantId, paths, sqlTime(now)],
  };
}

/** Raises the version of a namespace that exists. No row comes back when the asker may not write to it. */
export function bumpNamespace(tenantId: string, path: string, now: number): SqlStatement {
  return {
    text: `UPDATE app.namespaces SET version = version + 1, updated_at = greatest(updated_at, $3::timestamptz)
      WHERE tenant_id = $1 AND path = $2 RETURNING version`,
    values: [tenantId, path, sqlTime(now)],
  };
}

export function insertTenant(tenantId: string, now: number): SqlStatement {
  return {
    text: 'INSERT INTO app.tenants (tenant_id, created_at) VALUES ($1, $2::timestamptz) ON CONFLICT DO NOTHING',
    values: [tenantId, sqlTime(now)],
  };
}

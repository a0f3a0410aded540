import type { SqlRow, SqlStatement } from '../sql-database.ts';

export interface HealthRow extends SqlRow {
  server_version: string;
  vector_version: string | null;
  schema_version: number;
  role: string;
  role_bypasses_rls: boolean;
  database_time: Date;
}

/** State of the database under the role that requests run under. */
export function selectHealth(): SqlStatement {
  return {
    text: `SELECT current_setting('server_version') AS server_version,
        (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
        (SELECT max(version) FROM app.schema_migrations)::integer AS schema_version,
        current_user::text AS role,
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS role_bypasses_rls,
        clock_timestamp() AS database_time`,
    values: [],
  };
}

import type { SqlRow, SqlStatement } from '../sql-database.ts';

export interface ServerRow extends SqlRow {
  server_version: string;
  user_name: string;
  vector_installed: string | null;
  vector_available: string | null;
  database_time: Date;
}

export function selectServer(): SqlStatement {
  return {
    text: `SELECT current_setting('server_version') AS server_version,
        current_user::text AS user_name,
        (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_installed,
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
        clock_timestamp() AS database_time`,
    values: [],
  };
}

export interface RoleRow extends SqlRow {
  name: string;
  exists: boolean;
  bypasses_rls: boolean;
  may_be_entered: boolean;
}

export function selectRoles(names: readonly string[]): SqlStatement {
  return {
    text: `SELECT wanted.name, r.oid IS NOT NULL AS exists,
        coalesce(r.rolsuper OR r.rolbypassrls, false) AS bypasses_rls,
        coalesce(pg_has_role(current_user, r.oid, 'MEMBER'), false) AS may_be_entered
      FROM unnest($1::text[]) WITH ORDINALITY AS wanted(name, place)
      LEFT JOIN pg_roles AS r ON r.rolname = wanted.name
      ORDER BY wanted.place`,
    values: [names],
  };
}

/** The table of migrations holds nobody's rows. */
export function selectUnguardedTables(): SqlStatement {
  return {
    text: `SELECT c.relname::text AS name FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'app'
      WHERE c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
        AND c.relname <> 'schema_migrations'
      ORDER BY name`,
    values: [],
  };
}

export function selectLastMigration(): SqlStatement {
  return { text: 'SELECT max(applied_at) AS applied_at FROM app.schema_migrations', values: [] };
}

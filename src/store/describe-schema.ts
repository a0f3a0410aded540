import type { SqlDatabase, SqlRow, SqlTransaction } from './sql-database.ts';

/**
 * The schema `app` as text, read from the catalogs: what migrations made, in one order, whatever order they
 * made it in and on every server version. The repository keeps it as `schema.sql`, so that a change of schema
 * shows in review; comparing it with a live database finds drift.
 */
export function describeSchema(database: SqlDatabase): Promise<string> {
  return database.transaction(
    async (tx) => {
      const parts: string[] = [];
      for (const section of SECTIONS) parts.push(...(await readSection(tx, section)));
      return `${parts.join('\n\n')}\n`;
    },
    { readOnlySnapshot: true },
  );
}

/** A query whose rows each hold one object's `definition`, ordered by name in byte order. */
async function readSection(tx: SqlTransaction, text: string): Promise<string[]> {
  const rows = await tx.query<DefinitionRow>({ text, values: [] });
  return rows.map(({ definition }) => definition);
}

interface DefinitionRow extends SqlRow {
  definition: string;
}

const EXTENSIONS = `
  SELECT 'CREATE EXTENSION ' || extname || ';' AS definition
  FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY extname COLLATE "C"`;

/** Roles the schema's grants and policies name, beside whoever owns it. */
const ROLES = `
  SELECT 'CREATE ROLE ' || rolname || CASE WHEN rolcanlogin THEN ' LOGIN' ELSE ' NOLOGIN' END
    || CASE WHEN rolsuper THEN ' SUPERUSER' ELSE '' END
    || CASE WHEN rolbypassrls THEN ' BYPASSRLS' ELSE ' NOBYPASSRLS' END || ';' AS definition
  FROM pg_roles
  WHERE oid IN (
    SELECT (aclexplode(c.relacl)).grantee FROM pg_class AS c WHERE c.relnamespace = 'app'::regnamespace
    EXCEPT SELECT c.relowner FROM pg_class AS c WHERE c.relnamespace = 'app'::regnamespace)
  ORDER BY rolname COLLATE "C"`;

const FUNCTIONS = `
  SELECT rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' AS definition
  FROM pg_proc AS p
  WHERE p.pronamespace = 'app'::regnamespace
  ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C"`;

/** NOT NULL is told with the column: since PostgreSQL 18 it is a constraint too, and would appear twice. */
const TABLES = `
  SELECT 'CREATE TABLE app.' || c.relname || E' (\\n  ' || concat_ws(E',\\n  ',
      (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
          || CASE WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
            WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
          || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
          || CASE WHEN a.attstorage <> t.typstorage THEN ' STORAGE '
            || CASE a.attstorage WHEN 'p' THEN 'PLAIN' WHEN 'e' THEN 'EXTERNAL' WHEN 'm' THEN 'MAIN' ELSE 'EXTENDED' END
            ELSE '' END, E',\\n  ' ORDER BY a.attnum)
        FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
          LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
      (SELECT string_agg('CONSTRAINT ' || k.conname || ' ' || pg_get_constraintdef(k.oid), E',\\n  '
          ORDER BY k.contype = 'p' DESC, k.conname COLLATE "C")
        FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype <> 'n'))
    || E'\\n)' || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') || ';'
    || CASE WHEN c.relrowsecurity THEN E'\\nALTER TABLE app.' || c.relname || ' ENABLE ROW LEVEL SECURITY;' ELSE '' END
    || CASE WHEN c.relforcerowsecurity THEN E'\\nALTER TABLE app.' || c.relname || ' FORCE ROW LEVEL SECURITY;' ELSE '' END
    AS definition
  FROM pg_class AS c
  WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
  ORDER BY c.relname COLLATE "C"`;

const VIEWS = `
  SELECT 'CREATE ' || CASE c.relkind WHEN 'm' THEN 'MATERIALIZED ' ELSE '' END || 'VIEW app.' || c.relname
    || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')
    || E' AS\\n' || pg_get_viewdef(c.oid, true) AS definition
  FROM pg_class AS c
  WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('v', 'm')
  ORDER BY c.relname COLLATE "C"`;

const SEQUENCES = `
  SELECT 'CREATE SEQUENCE app.' || sequencename || ' AS ' || data_type || ' START ' || start_value
    || ' INCREMENT ' || increment_by || ' MINVALUE ' || min_value || ' MAXVALUE ' || max_value
    || CASE WHEN cycle THEN ' CYCLE' ELSE '' END || ';' AS definition
  FROM pg_sequences WHERE schemaname = 'app' ORDER BY sequencename COLLATE "C"`;

/** Those behind a constraint are told with it. */
const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid) || ';' AS definition
  FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'app'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
  ORDER BY c.relname COLLATE "C"`;

const TRIGGERS = `
  SELECT pg_get_triggerdef(t.oid, true) || ';' AS definition
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
  WHERE c.relnamespace = 'app'::regnamespace AND NOT t.tgisinternal
  ORDER BY c.relname COLLATE "C", t.tgname COLLATE "C"`;

const POLICIES = `
  SELECT 'CREATE POLICY ' || p.policyname || ' ON app.' || p.tablename
    || CASE p.permissive WHEN 'PERMISSIVE' THEN '' ELSE ' AS RESTRICTIVE' END || ' FOR ' || p.cmd
    || ' TO ' || (SELECT string_agg(r::text, ', ' ORDER BY r::text COLLATE "C") FROM unnest(p.roles) AS r)
    || coalesce(E'\\n  USING ' || p.qual, '') || coalesce(E'\\n  WITH CHECK ' || p.with_check, '') || ';' AS definition
  FROM pg_policies AS p WHERE p.schemaname = 'app'
  ORDER BY p.tablename COLLATE "C", p.policyname COLLATE "C"`;

/** Rights of others than the owner; of functions only what differs from the default, which lets everybody call. */
const GRANTS = `
  SELECT 'GRANT ' || string_agg(g.privilege, ', ' ORDER BY g.privilege COLLATE "C") || ' ON ' || g.object || ' TO '
    || g.grantee || ';' AS definition
  FROM (
    SELECT 'SCHEMA app' AS object, a.grantee::regrole::text AS grantee, a.privilege_type AS privilege
    FROM pg_namespace AS n, aclexplode(n.nspacl) AS a WHERE n.nspname = 'app' AND a.grantee <> n.nspowner
    UNION ALL
    SELECT 'app.' || c.relname, a.grantee::regrole::text, a.privilege_type
    FROM pg_class AS c, aclexplode(c.relacl) AS a
    WHERE c.relnamespace = 'app'::regnamespace AND a.grantee <> c.relowner
    UNION ALL
    SELECT 'app.' || c.relname, a.grantee::regrole::text, a.privilege_type || ' (' || t.attname || ')'
    FROM pg_class AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
    WHERE c.relnamespace = 'app'::regnamespace AND a.grantee <> c.relowner
    UNION ALL
    SELECT 'FUNCTION app.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
      CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, a.privilege_type
    FROM pg_proc AS p, aclexplode(p.proacl) AS a
    WHERE p.pronamespace = 'app'::regnamespace AND a.grantee <> p.proowner
  ) AS g
  GROUP BY g.object, g.grantee ORDER BY g.object COLLATE "C", g.grantee COLLATE "C"`;

const SECTIONS = [
  EXTENSIONS,
  ROLES,
  FUNCTIONS,
  SEQUENCES,
  TABLES,
  VIEWS,
  INDEXES,
  TRIGGERS,
  POLICIES,
  GRANTS,
];

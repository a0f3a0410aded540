import type { SqlRow, SqlStatement } from '../sql-database.ts';

export interface SizeRow extends SqlRow {
  /** Null for a table. */
  index_name: string | null;
  table_name: string;
  estimated_rows: number;
  bytes: number;
}

/** Tables and indexes of ours with what they take, from the catalogue alone: it costs the same however large they are. */
export function selectSizes(): SqlStatement {
  return {
    text: `SELECT CASE c.relkind WHEN 'i' THEN c.relname END::text AS index_name,
        coalesce(indexed.relname, c.relname)::text AS table_name,
        c.reltuples::double precision AS estimated_rows,
        CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END::double precision AS bytes
      FROM pg_class AS c
      LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
      LEFT JOIN pg_class AS indexed ON indexed.oid = i.indrelid
      WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'i')
      ORDER BY table_name, index_name NULLS FIRST`,
    values: [],
  };
}

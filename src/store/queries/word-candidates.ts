import type { CandidateQuery } from '../../core/ports.ts';
import type { SqlStatement } from '../sql-database.ts';
import { SqlParameters } from '../sql-parameters.ts';
import { FACTOR_COLUMNS, type FactorRow, scopeConditions } from './candidates.ts';

/** A candidate found by words: how many of the query's distinct words it holds, of how many. */
export interface WordRow extends FactorRow {
  found: number;
  asked: number;
}

/** Scripts that put no spaces between words: a word of theirs is looked for inside the text. */
const UNSPACED = '[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff]';

/**
 * The `limit` entries that hold most of the query's words, newest first among equals. Words are PostgreSQL's
 * lexemes: English ones by their stem and without stop words, those of other languages as they are. A query of
 * stop words alone is compared with them.
 *
 * A scan that reads every text of the scope (about 10 MB/s). A full-text index would not be used: row-level security
 * comes first, and PostgreSQL trusts no text search operator with rows it has not let through.
 */
export function selectByWords(
  tenantId: string,
  query: CandidateQuery & { readonly words: string },
): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const words = parameters.bind(query.words);
  const conditions = scopeConditions(tenant, query, parameters);
  if (query.contentHashes !== undefined) {
    conditions.push(`m.content_hash = ANY(${parameters.bind(query.contentHashes)}::text[])`);
  }
  return parameters.statement(
    `WITH language AS MATERIALIZED (
        SELECT CASE WHEN to_tsvector('pg_catalog.english', ${words}) = '' THEN 'pg_catalog.simple'
          ELSE 'pg_catalog.english' END::regconfig AS config
      ), query AS MATERIALIZED (
        SELECT config, tsvector_to_array(to_tsvector(config, ${words})) AS words FROM language
      )
      SELECT ${FACTOR_COLUMNS}, cardinality(q.words) AS asked, (SELECT count(*) FROM unnest(q.words) AS word
          WHERE word = ANY(text.words) OR (word ~ '${UNSPACED}' AND strpos(lower(m.content), word) > 0)) AS found
      FROM query AS q, app.memories AS m,
        LATERAL (SELECT tsvector_to_array(to_tsvector(q.config, m.content)) AS words OFFSET 0) AS text
      WHERE ${conditions.join(' AND ')}
      ORDER BY found DESC, m.updated_at DESC, m.id LIMIT ${parameters.bind(query.limit)}::bigint`,
  );
}

/** What a database URL looks like, for errors and the documentation. */
export const DATABASE_URL_FORM = 'postgres://user:password@host:5432/database';

/** Connections to PostgreSQL that one process may be told to hold. */
export const MAX_CONNECTIONS = 1000;

/** Whether a text is a URL of PostgreSQL: anything else would end as a failed connection, which is worth no retry. */
export function isPostgresUrl(text: string): boolean {
  return URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
}

/** What a query string holds: texts, or lists of them for names that are repeated. */
export type QueryFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A list's request, in wire form and checked by `listRequestSchema`. */
interface WireListRequest {
  readonly namespaces?: readonly string[];
  readonly filter?: {
    readonly type?: string | readonly string[];
    readonly tags?:
      | readonly string[]
      | { readonly any?: readonly string[]; readonly all?: readonly string[] };
    readonly status?: string | readonly string[];
    readonly observed_at?: { readonly from?: string; readonly until?: string };
    readonly metadata?: unknown;
  };
  readonly lifecycle?: string;
  readonly text?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** The query string that asks for the same as the body of a list. */
export function listQueryFields(request: WireListRequest): QueryFields {
  const { namespaces, filter = {}, limit, ...same } = request;
  const { type, tags, status, observed_at: observed = {}, metadata } = filter;
  const { all, any } = isList(tags) ? { all: tags, any: undefined } : (tags ?? {});
  return {
    namespace: namespaces,
    type,
    tag: all,
    any_tag: any,
    status,
    observed_from: observed.from,
    observed_until: observed.until,
    metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
    limit: limit === undefined ? undefined : String(limit),
    ...same,
  };
}

/** `?a=1&b=2&b=3`, or nothing. */
export function queryString(fields: QueryFields): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    for (const one of typeof value === 'string' ? [value] : value) parameters.append(name, one);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function isList(tags: unknown): tags is readonly string[] {
  return Array.isArray(tags);
}

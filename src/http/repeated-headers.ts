import {
  IDEMPOTENCY_KEY_HEADER,
  IF_NONE_MATCH_HEADER,
  repeatedHeader,
  subjectHeadersSchema,
} from '../contract/request-headers.ts';

/** Headers with one value that decide something: who asks, for whom, under which name, and on what condition. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'host',
  'origin',
  'content-type',
  'if-match',
  IF_NONE_MATCH_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  ...Object.keys(subjectHeadersSchema.shape),
]);

/**
 * Refuses a request that says such a thing twice. Node keeps the first of some repeated headers and makes one text
 * of the others, so that a proxy which looks at the last credential would let another one through than is used here.
 *
 * @param rawHeaders - Names and values in turn, as they were sent.
 * @throws PalimpsestError `invalid_input`
 */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  const times = new Map<string, number>();
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place]?.toLowerCase() ?? '';
    if (SINGLE_HEADERS.has(name)) times.set(name, (times.get(name) ?? 0) + 1);
  }
  for (const [name, count] of times) if (count > 1) throw repeatedHeader(name, count);
}

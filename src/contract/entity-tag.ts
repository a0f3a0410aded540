/** The ETag of an entry: its version, which rises with every change. */
export function entityTag(version: number): string {
  return `"${version}"`;
}

/** No entry has it. */
const NO_VERSION = -1;

/**
 * The version an `If-Match` asks for; undefined where any will do.
 *
 * A weak tag, a tag of another form and a list of several match no entry: the first by RFC 9110, the others since
 * an entry has one version.
 */
export function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const version = /^\s*"(\d{1,15})"\s*$/.exec(ifMatch)?.[1];
  return version === undefined ? NO_VERSION : Number(version);
}

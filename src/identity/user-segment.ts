/** Every character a segment may hold, but for `~`, which introduces what it may not. */
const KEPT = /^[\p{L}\p{M}\p{N}_\-:@+]$/u;

/**
 * A subject of an issuer as the id of a user here, which has to be one segment of a namespace: what a segment may
 * not hold becomes `~` and the two hex digits of each UTF-8 byte, so that two subjects never become one user.
 *
 * @example userSegment('auth0|5f7c') // 'auth0~7C5f7c'
 * @example userSegment('ada@example.org') // 'ada@example~2Eorg'
 */
export function userSegment(subject: string): string {
  return [...subject].map((character) => (KEPT.test(character) ? character : escaped(character))).join('');
}

function escaped(character: string): string {
  const bytes = [...new TextEncoder().encode(character)];
  return bytes.map((byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

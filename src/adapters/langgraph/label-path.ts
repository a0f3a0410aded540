import { excerpt, invalidInput } from '../../core/errors.ts';
import { parseNamespacePath } from '../../core/namespace.ts';

/**
 * LangGraph's namespaces are lists of labels, and a label may hold characters that a segment of a path can't. Each
 * such character stands in the segment as its UTF-8 bytes, `~` and two hex digits for each; `~` itself does too. So
 * the path can be read back, and no two lists of labels share one: `['a', 'b.c']` is `a.b~2ec`, and never `a.b.c`.
 */

/** What a segment may hold, but for `~`, which begins an escaped byte. */
const PLAIN = /^[\p{L}\p{M}\p{N}_\-:@+]$/u;
const ESCAPED_RUN = /(?:~[0-9a-f]{2})+/g;
const LONE_SURROGATE = /\p{Cs}/u;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The path of a list of labels below a root.
 *
 * @throws PalimpsestError `invalid_input` for a label that is empty, no text or not well-formed, and where the path
 *   has too many segments or one that is too long
 */
export function pathOfLabels(root: string, labels: readonly string[]): string {
  const segments = labels.map((label, index) => segmentOfLabel(label, `namespace[${index}]`));
  return parseNamespacePath([root, ...segments].join('.'));
}

function segmentOfLabel(label: string, field: string): string {
  if (typeof label !== 'string' || label === '' || LONE_SURROGATE.test(label)) {
    const allowed = 'a text of at least one character, well-formed';
    throw invalidInput(`${field}: ${excerpt(label)} is not a label. Allowed: ${allowed}.`, {
      path: field,
      got: excerpt(label),
      allowed,
    });
  }
  return [...label].map((character) => (PLAIN.test(character) ? character : escaped(character))).join('');
}

function escaped(character: string): string {
  return [...encoder.encode(character)].map((byte) => `~${byte.toString(16).padStart(2, '0')}`).join('');
}

/**
 * The labels of a path below a root; null where the path is none that {@link pathOfLabels} makes, such as one that
 * somebody else has written there.
 */
export function labelsOfPath(root: string, path: string): string[] | null {
  if (!path.startsWith(`${root}.`)) return null;
  const labels = path
    .slice(root.length + 1)
    .split('.')
    .map(labelOfSegment);
  return labels.every((label) => label !== null) ? labels : null;
}

function labelOfSegment(segment: string): string | null {
  let isText = true;
  const label = segment.replace(ESCAPED_RUN, (run) => {
    const bytes = Uint8Array.from(run.slice(1).split('~'), (hex) => Number.parseInt(hex, 16));
    const text = decodedText(bytes);
    isText &&= text !== null;
    return text ?? '';
  });
  // Only the one spelling that encoding gives is a label's: `~41` would be a second one of `A`.
  return isText && label !== '' && segmentOfLabel(label, 'segment') === segment ? label : null;
}

function decodedText(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

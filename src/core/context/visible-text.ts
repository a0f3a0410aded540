/** Everything that starts a new line somewhere: CR LF, CR, VT, FF, NEL, LINE and PARAGRAPH SEPARATOR. */
const LINE_BREAK = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/** Control characters that are neither a tab nor a line feed. */
const CONTROL = /[^\P{Cc}\t\n]/gu;

/** With the `u` flag a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /\p{Cs}/gu;

/** Where an invisible character does honest work, as source of a regular expression. */
const HONEST_INVISIBLES = [
  // Emoji made of several: family, professions, rainbow flag.
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})`,
  // Text or emoji form of one character; also the digits of keycaps.
  String.raw`(?<=[\p{Extended_Pictographic}0-9#*])[\ufe0e\ufe0f]`,
  // Joiners inside words of the scripts whose spelling needs them.
  `(?<=${joiningLetter()})[\\u200c\\u200d](?=${joiningLetter()})`,
].join('|');

/** Bidirectional controls, zero-width characters, soft hyphens, fillers, tags, annotation marks. */
const INVISIBLE = new RegExp(
  String.raw`(?!${HONEST_INVISIBLES})[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`,
  'gu',
);

function joiningLetter(): string {
  const scripts = ['Arabic', 'Syriac', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil'];
  scripts.push('Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Myanmar');
  return `[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
}

/** Unicode's picture of a C0 control or DEL (`␛` for ESC); the C1 controls have none. */
function controlPicture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * A stored text as a prompt may show it: what a reader sees is what is there.
 *
 * - Every kind of line break becomes `\n`, so that no line starts unnoticed.
 * - Other control characters are shown by their pictures (`␛[31m`), so that no terminal obeys them.
 * - Invisible characters are removed: with them text can be hidden, reordered or smuggled past a reader. They
 *   stay where spelling needs them: joiners between letters of Arabic and Indic scripts, and inside emoji.
 *
 * Removed rather than shown as `\u{…}`: a soft hyphen or a byte order mark says nothing to a model, and a
 * hidden payload written out would take nine characters of prompt for each of its own. The stored entry keeps
 * its exact bytes.
 */
export function visibleText(text: string): string {
  return text
    .replace(LINE_BREAK, '\n')
    .replace(CONTROL, controlPicture)
    .replace(INVISIBLE, '')
    .replace(LONE_SURROGATE, '\ufffd');
}

/** {@link visibleText} on one line: line breaks and tabs become spaces. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/[\n\t]/g, ' ');
}

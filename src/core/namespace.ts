import {
  MAX_NAMESPACE_SEGMENTS,
  MAX_SCOPE_ALPHABET,
  MAX_SCOPE_LENGTH,
  MAX_SCOPE_PATTERNS,
  MAX_SEGMENT_LENGTH,
} from './defaults.ts';
import { excerpt, invalidInput, type PalimpsestError } from './errors.ts';
import { compareCodeUnits } from './text-order.ts';

/**
 * Namespace paths, patterns, and the one matcher for both rules and read scopes.
 *
 * A pattern becomes the source of a regular expression that JavaScript (`new RegExp(source, 'u')`) and
 * PostgreSQL (`path ~ source`) read alike, so the database and the core cannot disagree about what a
 * pattern means. The sources therefore use `[^.]+` for a segment and never `\p`, which PostgreSQL lacks. They
 * are meant for checked paths; a text with empty segments or line breaks is not one.
 */

/** Letters (with the combining marks that Indic and other scripts spell them with), digits, `_ - : @ + ~`. */
const SEGMENT = /^[\p{L}\p{M}\p{N}_\-:@+~]+$/u;
const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

const SEGMENT_RULE = 'letters, digits and _ - : @ + ~';
const PATH_RULE = `1 to ${MAX_NAMESPACE_SEGMENTS} segments joined by ".", each of 1 to ${MAX_SEGMENT_LENGTH} ${SEGMENT_RULE}`;
const PATTERN_RULE = `${PATH_RULE}, or \${name} for exactly one segment, or * for one or more`;

/** Variables that a policy's patterns have filled in from the request. Any other `${name}` is a wildcard. */
export const POLICY_VARIABLES = ['user_id', 'agent_id', 'task_id', 'chat_id', 'session_id'] as const;

/** Who a namespace belongs to, read off its path. */
export type NamespaceOwner =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'global' }
  | { readonly kind: 'tenant' };

function codePointCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function isLiteralSegment(segment: string): boolean {
  // The length in code units bounds the one in code points, so huge segments are never walked twice.
  return (
    segment.length <= 2 * MAX_SEGMENT_LENGTH &&
    SEGMENT.test(segment) &&
    codePointCount(segment) <= MAX_SEGMENT_LENGTH
  );
}

function isWildcard(segment: string): boolean {
  return segment === '*' || VARIABLE.test(segment);
}

function segmentFault(segment: string): string {
  if (segment === '') return 'a segment is empty';
  if (segment.length > MAX_SEGMENT_LENGTH && codePointCount(segment) > MAX_SEGMENT_LENGTH) {
    return `the segment ${excerpt(segment)} is longer than ${MAX_SEGMENT_LENGTH} characters`;
  }
  if (segment.includes('*')) return `${excerpt(segment)} mixes * with text; * stands for whole segments`;
  if (segment.includes('$')) return `${excerpt(segment)} is not a whole \${name}`;
  return `the segment ${excerpt(segment)} holds a character that is not allowed`;
}

function refused(
  what: string,
  text: unknown,
  fault: string,
  allowed: string,
  field: string,
): PalimpsestError {
  return invalidInput(`${field}: ${excerpt(text)} is not a ${what}: ${fault}. Allowed: ${allowed}.`, {
    path: field,
    got: excerpt(text),
    allowed,
  });
}

function checkSegments(
  text: string,
  what: string,
  allowed: string,
  field: string,
  isAllowed: (segment: string) => boolean,
): string {
  if (typeof text !== 'string') throw refused(what, text, 'it is not a text', allowed, field);
  // A split limit keeps a megabyte of dots from becoming a million strings.
  const segments = text.split('.', MAX_NAMESPACE_SEGMENTS + 1);
  if (segments.length > MAX_NAMESPACE_SEGMENTS) {
    throw refused(what, text, `it has more than ${MAX_NAMESPACE_SEGMENTS} segments`, allowed, field);
  }
  const wrong = segments.find((segment) => !isAllowed(segment));
  if (wrong !== undefined) throw refused(what, text, segmentFault(wrong), allowed, field);
  return text;
}

/**
 * Checks a namespace path: 1..16 segments joined by `.`, each of 1..128 code points out of letters, digits
 * (of any script) and `_ - : @ + ~`. Nothing is normalised: paths are compared exactly.
 *
 * @param field - Dotted name of the field, for the error. Default `namespace`.
 * @returns The path, unchanged.
 * @throws PalimpsestError `invalid_input`, naming the segment that is wrong.
 */
export function parseNamespacePath(text: string, field = 'namespace'): string {
  return checkSegments(text, 'namespace path', PATH_RULE, field, isLiteralSegment);
}

/**
 * Checks a single segment, such as the id of a user: it is one segment of the user's namespaces.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function parseSegment(text: string, field: string): string {
  const path = parseNamespacePath(text, field);
  if (!path.includes('.')) return path;
  throw refused(
    'segment of a namespace',
    path,
    'it has more than one segment',
    `one segment of ${SEGMENT_RULE}`,
    field,
  );
}

/**
 * Checks a pattern: like a path, and a segment may also be `${name}` (exactly one segment) or `*` (one or
 * more segments). Both stand for whole segments: `vec*` is refused.
 *
 * @param field - Dotted name of the field, for the error. Default `pattern`.
 * @returns The pattern, unchanged.
 * @throws PalimpsestError `invalid_input`, naming the segment that is wrong.
 */
export function parsePattern(text: string, field = 'pattern'): string {
  return checkSegments(
    text,
    'namespace pattern',
    PATTERN_RULE,
    field,
    (segment) => isWildcard(segment) || isLiteralSegment(segment),
  );
}

/**
 * Checks the patterns of one read scope or policy: 1 to 64, each by {@link parsePattern}, and together no more
 * than PostgreSQL compiles in an instant. An empty list is refused: read as "no limit" it would leak.
 *
 * @param field - Dotted name of the field, for the error. Default `namespaces`.
 * @returns The patterns, as a copy.
 * @throws PalimpsestError `invalid_input`
 */
export function parseScope(patterns: readonly string[], field = 'namespaces'): string[] {
  const refuse = (fault: string, allowed: string, hint: string) =>
    invalidInput(`${field}: ${fault}; allowed: ${allowed}. ${hint}`, { path: field, allowed, hint });
  const fewer = 'Use * or ${name} to name several namespaces at once.';
  if (!Array.isArray(patterns)) throw refuse('it is not a list', 'a list of patterns', fewer);
  const count = patterns.length;
  if (count === 0) {
    throw refuse(
      'an empty list names no namespace',
      `1 to ${MAX_SCOPE_PATTERNS} patterns`,
      'Leave it out for everything you may read.',
    );
  }
  if (count > MAX_SCOPE_PATTERNS) {
    throw refuse(
      `${count} patterns are more than ${MAX_SCOPE_PATTERNS}`,
      `1 to ${MAX_SCOPE_PATTERNS} patterns`,
      fewer,
    );
  }
  const parsed = patterns.map((pattern, index) => parsePattern(pattern, `${field}[${index}]`));
  const characters = [...parsed.join('')];
  if (characters.length > MAX_SCOPE_LENGTH) {
    const allowed = `at most ${MAX_SCOPE_LENGTH} characters together`;
    throw refuse(`its patterns have ${characters.length} characters`, allowed, fewer);
  }
  const alphabet = new Set(characters).size;
  if (alphabet > MAX_SCOPE_ALPHABET) {
    const allowed = `at most ${MAX_SCOPE_ALPHABET} different characters together`;
    throw refuse(`its patterns use ${alphabet} different characters`, allowed, fewer);
  }
  return parsed;
}

/**
 * Who a namespace belongs to: `vector.user.<id>[.…]` and `vector.agent.<id>[.…]` belong to the user `<id>`,
 * `vector.global[.…]` is for every user of the tenant to read, and any other path is the tenant's.
 */
export function namespaceOwner(path: string): NamespaceOwner {
  const [root, kind, id] = path.split('.', 3);
  if (root !== 'vector') return { kind: 'tenant' };
  if (kind === 'global') return { kind: 'global' };
  if ((kind === 'user' || kind === 'agent') && id !== undefined) return { kind: 'user', userId: id };
  return { kind: 'tenant' };
}

/**
 * Fills a policy's variables: those of {@link POLICY_VARIABLES}, and any other that `variables` names. What
 * is left, such as `${topic}`, stays a wildcard for one segment.
 *
 * @returns The pattern with the values in place.
 * @throws PalimpsestError `invalid_input` when a variable has no value, or one that is not a single segment
 *   (a `.` or `*` in an id would widen the pattern).
 */
export function fillPattern(
  pattern: string,
  variables: Readonly<Record<string, string | undefined>>,
): string {
  const fillable = new Set<string>([...POLICY_VARIABLES, ...Object.keys(variables)]);
  return pattern
    .split('.')
    .map((segment) => {
      const name = VARIABLE.exec(segment)?.[1];
      if (name === undefined || !fillable.has(name)) return segment;
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value === undefined) {
        throw invalidInput(
          `The pattern ${excerpt(pattern)} needs \${${name}}, and the request has no ${name}. Send it, or use a pattern without it.`,
          { path: name, got: null, allowed: SEGMENT_RULE },
        );
      }
      if (!isLiteralSegment(value)) {
        throw invalidInput(
          `${name}: ${excerpt(value)} cannot stand in the pattern ${excerpt(pattern)}: ${segmentFault(value)}. Allowed: one segment of ${SEGMENT_RULE}.`,
          { path: name, got: excerpt(value), allowed: SEGMENT_RULE },
        );
      }
      return value;
    })
    .join('.');
}

/** Whether a pattern is a path: it names one namespace and nothing else. */
export function isLiteralPattern(pattern: string): boolean {
  return !pattern.split('.').some(isWildcard);
}

const ONE_SEGMENT = '[^.]+';
/**
 * One or more segments: anything, since a path has no empty segment that a border could fall into.
 *
 * `[^.]+(?:\\.[^.]+)*` says the same and costs PostgreSQL one arc for each character a scope's patterns
 * mention: a scope of 16 patterns with 4,096 different letters kept it busy for 43 s; with `.+` it takes 45 ms.
 */
const MORE_SEGMENTS = '.+';

/** Of the characters a literal segment may hold, only `+` means something in a regular expression. */
function escapeLiteral(segment: string): string {
  return segment.replaceAll('+', '\\+');
}

/**
 * One run of neighbouring wildcards: as many segments as the run is long, or more if a `*` is among them.
 *
 * Written wildcard by wildcard, `*.*.*.*.*.*.*.*` has C(15, 7) = 6,435 ways to split a path of 16 segments
 * and tries each before it gives up; a run as a whole has one.
 */
function wildcardRunSource(run: readonly string[]): string {
  const segments = run.map(() => ONE_SEGMENT);
  return (run.includes('*') ? [...segments.slice(1), MORE_SEGMENTS] : segments).join('\\.');
}

function patternSource(pattern: string): string {
  const parts: string[] = [];
  let run: string[] = [];
  const endRun = () => {
    if (run.length > 0) parts.push(wildcardRunSource(run));
    run = [];
  };
  for (const segment of pattern.split('.')) {
    if (isWildcard(segment)) {
      run.push(segment);
    } else {
      endRun();
      parts.push(escapeLiteral(segment));
    }
  }
  endRun();
  return parts.join('\\.');
}

/**
 * Source of the regular expression that matches the namespaces a read scope names: an exact path that
 * namespace alone, `p.*` all below `p` but not `p`, `*` everything. No pattern matches nothing.
 *
 * @param patterns - Checked by {@link parsePattern}.
 */
export function scopeRegexSource(patterns: readonly string[]): string {
  // No path is empty, so `^$` is the scope of nothing.
  if (patterns.length === 0) return '^$';
  return `^(?:${[...new Set(patterns)].map(patternSource).join('|')})$`;
}

/**
 * Source of the regular expression that matches the namespaces a rule covers: what its pattern matches, and
 * every namespace below.
 *
 * @param pattern - Checked by {@link parsePattern}.
 */
export function ruleRegexSource(pattern: string): string {
  return `^${patternSource(pattern)}(?:\\.${MORE_SEGMENTS})?$`;
}

/** The test for {@link scopeRegexSource}, compiled once for many paths. */
export function scopeMatcher(patterns: readonly string[]): (path: string) => boolean {
  const expression = new RegExp(scopeRegexSource(patterns), 'u');
  return (path) => expression.test(path);
}

/** The test for {@link ruleRegexSource}, compiled once for many paths. */
export function ruleMatcher(pattern: string): (path: string) => boolean {
  const expression = new RegExp(ruleRegexSource(pattern), 'u');
  return (path) => expression.test(path);
}

/** Whether a read scope names this namespace. For many paths, compile once with {@link scopeMatcher}. */
export function matchesScope(patterns: readonly string[], path: string): boolean {
  return scopeMatcher(patterns)(path);
}

/** Whether a rule covers this namespace. For many paths, compile once with {@link ruleMatcher}. */
export function ruleCovers(pattern: string, path: string): boolean {
  return ruleMatcher(pattern)(path);
}

/** One segment: a literal text, any one (`null`), or any number of them, none included. */
type PatternPart = string | null | typeof ANY_NUMBER;
const ANY_NUMBER = Symbol('any number of segments');

function patternParts(pattern: string): PatternPart[] {
  return pattern.split('.').flatMap((segment): PatternPart[] => {
    if (segment === '*') return [null, ANY_NUMBER];
    return [VARIABLE.test(segment) ? null : segment];
  });
}

/**
 * Whether some path could be matched by both read scopes' patterns. The limit of 16 segments is not looked at, so
 * that two patterns which only longer paths would satisfy count as overlapping.
 *
 * @param a - Checked by {@link parsePattern}, as `b` is.
 */
export function patternsOverlap(a: string, b: string): boolean {
  const [left, right] = [patternParts(a), patternParts(b)];
  // overlaps[j]: whether what is left of `left` from i on and of `right` from j on can be one path.
  let below: boolean[] = [];
  for (let i = left.length; i >= 0; i -= 1) {
    const row: boolean[] = [];
    for (let j = right.length; j >= 0; j -= 1) {
      row[j] = partsOverlap(left[i], right[j], {
        bothNext: () => below[j + 1] ?? false,
        leftNext: () => below[j] ?? false,
        rightNext: () => row[j + 1] ?? false,
      });
    }
    below = row;
  }
  return below[0] ?? false;
}

function partsOverlap(
  left: PatternPart | undefined,
  right: PatternPart | undefined,
  rest: { bothNext(): boolean; leftNext(): boolean; rightNext(): boolean },
): boolean {
  if (left === undefined && right === undefined) return true;
  // Any number stands for nothing (its own side goes on), or takes in what the other side has here.
  if (left === ANY_NUMBER) return rest.leftNext() || (right !== undefined && rest.rightNext());
  if (right === ANY_NUMBER) return rest.rightNext() || (left !== undefined && rest.leftNext());
  if (left === undefined || right === undefined) return false;
  return (left === null || right === null || left === right) && rest.bothNext();
}

/**
 * The user whose namespaces alone a pattern can match, for one that begins like `vector.user.<id>`; else null.
 *
 * @param pattern - Checked by {@link parsePattern}; a path is one too.
 */
export function patternOwner(pattern: string): string | null {
  const owner = namespaceOwner(pattern);
  return owner.kind === 'user' && !isWildcard(owner.userId) ? owner.userId : null;
}

/**
 * Order of instruction rules that cover one namespace, the winner first: more segments, then more literal
 * segments, then more characters, then alphabetical (by code unit).
 */
export function compareInstructionPatterns(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')];
  const literals = (segments: readonly string[]) => segments.filter((segment) => !isWildcard(segment)).length;
  return (
    right.length - left.length ||
    literals(right) - literals(left) ||
    codePointCount(b) - codePointCount(a) ||
    compareCodeUnits(a, b)
  );
}

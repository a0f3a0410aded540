/*
 * What a pattern means, written as the specification says it: segment by segment, trying each length of a `*`.
 * Slow, and without a regular expression, to hold the real matcher against.
 */

function matchesSegments(pattern: readonly string[], path: readonly string[], coversBelow: boolean): boolean {
  const [wanted, ...rest] = pattern;
  if (wanted === undefined) return path.length === 0 || coversBelow;
  const [segment, ...below] = path;
  if (segment === undefined) return false;
  if (wanted === '*') {
    return (
      below.some((_, index) => matchesSegments(rest, below.slice(index), coversBelow)) ||
      matchesSegments(rest, [], coversBelow)
    );
  }
  return (wanted.startsWith('${') || wanted === segment) && matchesSegments(rest, below, coversBelow);
}

export function slowScopeMatches(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matchesSegments(pattern.split('.'), path.split('.'), false));
}

export function slowRuleCovers(pattern: string, path: string): boolean {
  return matchesSegments(pattern.split('.'), path.split('.'), true);
}

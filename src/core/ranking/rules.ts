import { ruleMatcher } from '../namespace.ts';
import { compareCodeUnits } from '../text-order.ts';
import type { NamespaceRule } from '../types.ts';

/**
 * The rules that cover each namespace, found once per namespace instead of once per entry.
 *
 * Each list is sorted by pattern, so that bonuses are summed in one order and a score does not change in its
 * last digit with the order the database gives the rules in.
 */
export function matchRules<Rule extends Pick<NamespaceRule, 'pattern'>>(
  rules: readonly Rule[],
  namespaces: Iterable<string>,
): Map<string, Rule[]> {
  const matchers = [...rules]
    .sort((a, b) => compareCodeUnits(a.pattern, b.pattern))
    .map((rule) => ({ rule, covers: ruleMatcher(rule.pattern) }));
  const matches = new Map<string, Rule[]>();
  for (const namespace of namespaces) {
    if (matches.has(namespace)) continue;
    matches.set(
      namespace,
      matchers.filter(({ covers }) => covers(namespace)).map(({ rule }) => rule),
    );
  }
  return matches;
}

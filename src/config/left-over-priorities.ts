import { excerpt } from '../core/errors.ts';
import { isObject } from './form.ts';

const REASON =
  'ranking.priorities is ignored: namespaces are weighted by rules and nowhere else, since both added up in silence.';
const TO_DO = 'Remove the key.';

/**
 * What to tell whoever still has `ranking.priorities` in the file: each priority was a factor, and a rule holds what
 * is added to 1.
 */
export function priorityWarnings(priorities: unknown): string[] {
  const entries = isObject(priorities) ? Object.entries(priorities) : [];
  return [`${REASON} ${entries.length === 0 ? TO_DO : `${TO_DO} What it said, as rules:`}`].concat(
    entries.map(([pattern, priority]) => conversion(pattern, priority)),
  );
}

function conversion(pattern: string, priority: unknown): string {
  const place = `ranking.priorities[${excerpt(pattern)}]`;
  if (typeof priority !== 'number' || !Number.isFinite(priority)) {
    return `${place} is ${excerpt(priority)}, which is no priority: there is nothing to convert.`;
  }
  const bonus = withoutRounding(priority - 1);
  const sum = `${place}: bonus = priority - 1 = ${priority} - 1 = ${bonus}`;
  if (bonus < 0) {
    return `${sum}, which no rule can hold: a bonus is from 0 to 1, so nothing can rank lower than without a rule.`;
  }
  if (bonus > 1) return `${sum}, which no rule can hold: a bonus is from 0 to 1. The nearest is 1.`;
  if (bonus === 0) return `${sum}: it changed nothing, and needs no rule.`;
  return `${sum}. Set it by: palimpsest rules set ${shellWord(pattern)} --bonus ${bonus}`;
}

/** 1.09 - 1 is 0.09, and not 0.09000000000000008. */
function withoutRounding(value: number): number {
  return Number(value.toFixed(12));
}

/** In single quotes, so that the shell leaves `${user_id}` and `*` alone. */
function shellWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPath, anyPattern } from '../../test/helpers/namespace-arbitraries.ts';
import { refusal } from '../../test/helpers/refusal.ts';
import { slowRuleCovers, slowScopeMatches } from '../../test/helpers/slow-namespace-matcher.ts';
import { MAX_SCOPE_ALPHABET, MAX_SCOPE_LENGTH, MAX_SCOPE_PATTERNS } from './defaults.ts';
import { excerpt } from './errors.ts';
import {
  compareInstructionPatterns,
  fillPattern,
  matchesScope,
  namespaceOwner,
  parseNamespacePath,
  parsePattern,
  parseScope,
  parseSegment,
  patternOwner,
  patternsOverlap,
  ruleCovers,
  ruleMatcher,
  ruleRegexSource,
  scopeMatcher,
  scopeRegexSource,
} from './namespace.ts';

/** A test's title must not hold the broken text that it is about. */
const withTitle = <Row extends { path: string }>(row: Row) => ({
  ...row,
  title: excerpt(row.path).slice(0, 40),
});

describe('parseNamespacePath', () => {
  test.each([
    'a',
    'vector.agent.6f1c2e4a-0b7d-4c3e-9a51-d2f8e7b6a123.howto',
    'vector.user.jane@example.org',
    'Ab_9-:@+~',
    'größe.日本語.мир',
    // Devanagari spells vowels with combining marks.
    'हिन्दी',
    'e\u0301',
    Array(16).fill('s').join('.'),
    'x'.repeat(128),
    // 128 characters outside the basic plane are 256 code units.
    '𝔸'.repeat(128),
  ])('takes %s and returns it unchanged', (path) => {
    expect(parseNamespacePath(path)).toBe(path);
  });

  test('compares exactly: the two spellings of é are two paths', () => {
    expect(parseNamespacePath('caf\u00e9')).not.toBe(parseNamespacePath('cafe\u0301'));
    expect(matchesScope(['caf\u00e9'], 'cafe\u0301')).toBe(false);
    expect(matchesScope(['notes'], 'Notes')).toBe(false);
  });

  test.each(
    [
      { path: '', fault: 'empty' },
      { path: '.', fault: 'empty' },
      { path: 'a..b', fault: 'empty' },
      { path: '.a', fault: 'empty' },
      { path: 'a.', fault: 'empty' },
      { path: 'a b', fault: 'not allowed' },
      { path: 'a/b', fault: 'not allowed' },
      { path: 'a.b%', fault: 'not allowed' },
      { path: "a'; drop table", fault: 'not allowed' },
      { path: '😀', fault: 'not allowed' },
      { path: 'a\n', fault: 'not allowed' },
      { path: 'E1\u0000', fault: 'not allowed' },
      { path: '\ud800', fault: 'not allowed' },
      { path: 'a.*', fault: 'whole segments' },
      { path: 'a.${user_id}', fault: 'whole ${name}' },
      { path: 'x'.repeat(129), fault: 'longer than 128' },
      { path: '𝔸'.repeat(129), fault: 'longer than 128' },
      { path: Array(17).fill('s').join('.'), fault: 'more than 16' },
    ].map(withTitle),
  )('refuses $title: $fault', ({ path, fault }) => {
    const error = refusal(() => parseNamespacePath(path, 'items[3].namespace'));
    expect(error.code).toBe('invalid_input');
    expect(error.message).toContain(fault);
    expect(error.details).toMatchObject([
      { path: 'items[3].namespace', allowed: expect.stringContaining('1 to 16') },
    ]);
  });

  test('refuses what is not a text', () => {
    const arrayOfSegments: unknown = ['a', 'b.c'];
    expect(refusal(() => parseNamespacePath(arrayOfSegments as string)).message).toContain('not a text');
  });

  test('answers at once about a text of any size, and repeats only its beginning', () => {
    for (const path of ['.'.repeat(1e6), 'x'.repeat(1e6), '💥'.repeat(5e5)]) {
      expect(refusal(() => parseNamespacePath(path)).message.length).toBeLessThan(1000);
    }
  });
});

describe('parsePattern', () => {
  test.each([
    '*',
    'vector.agent.*',
    'vector.agent.*.howto',
    'vector.agent.${user_id}.howto',
    '${a}.*.${_b9}',
    'a.b',
  ])('takes %s and returns it unchanged', (pattern) => {
    expect(parsePattern(pattern)).toBe(pattern);
  });

  test.each([
    { pattern: 'vec*', fault: '* stands for whole segments' },
    { pattern: 'vector.**', fault: '* stands for whole segments' },
    { pattern: 'vector.*x.y', fault: '* stands for whole segments' },
    { pattern: 'u-${id}', fault: 'not a whole ${name}' },
    { pattern: '${}', fault: 'not a whole ${name}' },
    { pattern: '${user id}', fault: 'not a whole ${name}' },
    { pattern: '${a.b}', fault: 'not a whole ${name}' },
    { pattern: 'a..*', fault: 'empty' },
    { pattern: '', fault: 'empty' },
    { pattern: 'a%', fault: 'not allowed' },
    { pattern: 'a?', fault: 'not allowed' },
    { pattern: '[^.]+', fault: 'not allowed' },
  ])('refuses $pattern: $fault', ({ pattern, fault }) => {
    const error = refusal(() => parsePattern(pattern));
    expect(error.message).toContain(fault);
    expect(error.details[0]?.path).toBe('pattern');
  });

  test('takes every path', () => {
    fc.assert(fc.property(anyPath, (path) => parsePattern(path) === parseNamespacePath(path)));
  });
});

describe('parseScope', () => {
  test('returns a copy of its patterns', () => {
    const patterns = Object.freeze(['notes', 'vector.global.*']);
    expect(parseScope(patterns)).toEqual(patterns);
  });

  test.each([
    { name: 'no pattern', patterns: [] },
    { name: 'too many', patterns: Array.from({ length: MAX_SCOPE_PATTERNS + 1 }, (_, index) => `n${index}`) },
    { name: 'too long together', patterns: Array(9).fill(Array(8).fill('x'.repeat(128)).join('.')) },
    {
      name: 'too many different characters',
      patterns: Array.from({ length: MAX_SCOPE_ALPHABET + 1 }, (_, index) =>
        String.fromCharCode(0x4e00 + index),
      ).reduce<string[]>((patterns, character, index) => {
        if (index % 100 === 0) patterns.push('');
        patterns[patterns.length - 1] += character;
        return patterns;
      }, []),
    },
  ])('refuses $name', ({ patterns }) => {
    expect(refusal(() => parseScope(patterns, 'scope')).details[0]?.path).toBe('scope');
  });

  test('takes the most that is allowed', () => {
    const patterns = Array(MAX_SCOPE_PATTERNS).fill('x'.repeat(MAX_SCOPE_LENGTH / MAX_SCOPE_PATTERNS));
    expect(parseScope(patterns)).toHaveLength(MAX_SCOPE_PATTERNS);
  });

  test('names the pattern that is wrong', () => {
    expect(refusal(() => parseScope(['a', 'vec*'])).details[0]?.path).toBe('namespaces[1]');
  });
});

describe('namespaceOwner', () => {
  test.each([
    { path: 'vector.user.u1', owner: { kind: 'user', userId: 'u1' } },
    { path: 'vector.user.u1.notes.work', owner: { kind: 'user', userId: 'u1' } },
    { path: 'vector.agent.u1', owner: { kind: 'user', userId: 'u1' } },
    { path: 'vector.agent.u1.howto', owner: { kind: 'user', userId: 'u1' } },
    { path: 'vector.global', owner: { kind: 'global' } },
    { path: 'vector.global.ontheia.temp', owner: { kind: 'global' } },
    { path: 'vector', owner: { kind: 'tenant' } },
    { path: 'vector.user', owner: { kind: 'tenant' } },
    { path: 'vector.agent', owner: { kind: 'tenant' } },
    { path: 'vector.team.u1', owner: { kind: 'tenant' } },
    { path: 'vector.users.u1', owner: { kind: 'tenant' } },
    { path: 'Vector.user.u1', owner: { kind: 'tenant' } },
    { path: 'notes.vector.user.u1', owner: { kind: 'tenant' } },
    { path: 'user.john_doe.m', owner: { kind: 'tenant' } },
  ])('$path belongs to $owner', ({ path, owner }) => {
    expect(namespaceOwner(path)).toEqual(owner);
  });
});

describe('fillPattern', () => {
  test('fills the variables of a policy and leaves wildcards', () => {
    const variables = { user_id: 'u1', agent_id: 'a1' };
    expect(fillPattern('vector.agent.${user_id}.${agent_id}.*.${topic}', variables)).toBe(
      'vector.agent.u1.a1.*.${topic}',
    );
  });

  test('fills any other variable it is given', () => {
    expect(fillPattern('t.${project}', { project: 'p1' })).toBe('t.p1');
  });

  test.each(['user_id', 'agent_id', 'task_id', 'chat_id', 'session_id'])(
    'an unset ${%s} is an error',
    (name) => {
      const error = refusal(() => fillPattern(`vector.agent.\${${name}}`, { [name]: undefined }));
      expect(error.details[0]?.path).toBe(name);
      expect(refusal(() => fillPattern(`vector.agent.\${${name}}`, {})).message).toContain(name);
    },
  );

  test.each(['', '*', 'u1.*', 'a.b', '${user_id}', 'u 1', 'u\u0000', '\ud800', 'x'.repeat(129)])(
    'a value that is not one segment is refused: %s',
    (value) => {
      expect(refusal(() => fillPattern('vector.user.${user_id}', { user_id: value })).code).toBe(
        'invalid_input',
      );
    },
  );

  test('a value is never read for further variables, nor found on the prototype', () => {
    expect(fillPattern('${a}.x', { a: 'constructor' })).toBe('constructor.x');
    expect(fillPattern('${toString}.x', {})).toBe('${toString}.x');
  });
});

describe('a read scope', () => {
  test('an exact path reads that namespace alone', () => {
    expect(matchesScope(['t.acme'], 't.acme')).toBe(true);
    expect(matchesScope(['t.acme'], 't.acme.sub')).toBe(false);
    expect(matchesScope(['t.acme'], 't')).toBe(false);
  });

  test('p.* reads all below p, and not p', () => {
    expect(matchesScope(['t.acme.*'], 't.acme.x')).toBe(true);
    expect(matchesScope(['t.acme.*'], 't.acme.x.y.z')).toBe(true);
    expect(matchesScope(['t.acme.*'], 't.acme')).toBe(false);
  });

  test('A1: an underscore is a letter of the name, not a wildcard', () => {
    const scope = ['user.john_doe.*'];
    expect(matchesScope(scope, 'user.john_doe.m')).toBe(true);
    expect(matchesScope(scope, 'user.john-doe.m')).toBe(false);
    expect(matchesScope(scope, 'user.johnXdoe.m')).toBe(false);
  });

  test('A3: the border of a segment counts, and * alone is everything', () => {
    expect(matchesScope(['t.acme.*'], 't.acme-corp.x')).toBe(false);
    expect(matchesScope(['t.acme.*'], 't.acme-corp')).toBe(false);
    expect(matchesScope(['t.acme'], 't.acme-corp')).toBe(false);
    for (const path of ['t', 't.acme', 't.acme-corp', 'vector.user.u1.notes']) {
      expect(matchesScope(['*'], path)).toBe(true);
    }
  });

  test('a * in the middle is one or more segments', () => {
    const scope = ['vector.agent.*.howto'];
    expect(matchesScope(scope, 'vector.agent.u1.howto')).toBe(true);
    expect(matchesScope(scope, 'vector.agent.u1.sql.deep.howto')).toBe(true);
    expect(matchesScope(scope, 'vector.agent.howto')).toBe(false);
    expect(matchesScope(scope, 'vector.agent.u1.howto.sql')).toBe(false);
  });

  test('${name} is exactly one segment', () => {
    expect(matchesScope(['a.${x}.c'], 'a.b.c')).toBe(true);
    expect(matchesScope(['a.${x}.c'], 'a.b.b.c')).toBe(false);
    expect(matchesScope(['a.${x}'], 'a')).toBe(false);
  });

  test('neighbouring wildcards ask for as many segments as they are', () => {
    for (const pattern of ['*.*', '${x}.*', '*.${x}']) {
      expect(matchesScope([pattern], 'a')).toBe(false);
      expect(matchesScope([pattern], 'a.b')).toBe(true);
      expect(matchesScope([pattern], 'a.b.c')).toBe(true);
    }
    expect(matchesScope(['${x}.${y}'], 'a.b.c')).toBe(false);
  });

  test('reads what any of its patterns names, and nothing without one', () => {
    expect(['a', 'b.x', 'c'].filter(scopeMatcher(['a', 'b.*']))).toEqual(['a', 'b.x']);
    expect(['a', 'b.x', 'c'].filter(scopeMatcher([]))).toEqual([]);
  });

  test('+ is a character and not a repetition', () => {
    expect(matchesScope(['a+b'], 'a+b')).toBe(true);
    expect(matchesScope(['a+b'], 'aab')).toBe(false);
  });
});

describe('a rule', () => {
  test('also covers every sub-namespace of what it matches', () => {
    const pattern = 'vector.agent.${user_id}.howto';
    expect(ruleCovers(pattern, 'vector.agent.u1.howto')).toBe(true);
    expect(ruleCovers(pattern, 'vector.agent.u1.howto.sql')).toBe(true);
    expect(ruleCovers(pattern, 'vector.agent.u1.howto.sql.joins')).toBe(true);
    expect(ruleCovers(pattern, 'vector.agent.u1.howtos')).toBe(false);
    expect(ruleCovers(pattern, 'vector.agent.u1')).toBe(false);
    expect(ruleCovers(pattern, 'vector.agent.u1.x.howto')).toBe(false);
  });

  test('with a * at its end covers everything below, not the namespace itself', () => {
    expect(ruleCovers('vector.agent.*', 'vector.agent')).toBe(false);
    expect(ruleCovers('vector.agent.*', 'vector.agent.u1')).toBe(true);
    expect(ruleCovers('vector.agent.*', 'vector.agent.u1.howto')).toBe(true);
  });
});

describe('the matcher and a slow reference that splits and recurses', () => {
  test('agree on scopes', () => {
    fc.assert(
      fc.property(fc.array(anyPattern, { maxLength: 3 }), anyPath, (patterns, path) => {
        expect(matchesScope(patterns, path)).toBe(slowScopeMatches(patterns, path));
      }),
      { numRuns: 5000 },
    );
  });

  test('agree on rules', () => {
    fc.assert(
      fc.property(anyPattern, anyPath, (pattern, path) => {
        expect(ruleCovers(pattern, path)).toBe(slowRuleCovers(pattern, path));
      }),
      { numRuns: 5000 },
    );
  });

  test('see a match and a miss often enough to mean something', () => {
    const pairs = fc.sample(fc.tuple(anyPattern, anyPath), 2000);
    const matches = pairs.filter(([pattern, path]) => slowScopeMatches([pattern], path)).length;
    expect(matches).toBeGreaterThan(100);
    expect(matches).toBeLessThan(1900);
  });

  test('use no syntax that PostgreSQL lacks', () => {
    fc.assert(
      fc.property(anyPattern, (pattern) => {
        for (const source of [scopeRegexSource([pattern]), ruleRegexSource(pattern)]) {
          // Anchored, and of the escapes only \. and \+, which both engines read as the character.
          expect(source).toMatch(/^\^.*\$$/);
          expect(source.replaceAll('\\.', '').replaceAll('\\+', '')).not.toContain('\\');
        }
      }),
    );
  });
});

describe('catastrophic backtracking', () => {
  const long = 'a'.repeat(128);
  /** `*` and a literal in turn: each `*` can end at many places, and the last segment never matches. */
  const alternating = (literal: string) =>
    Array.from({ length: 15 }, (_, index) => (index % 2 === 0 ? '*' : literal)).join('.');

  test.each([
    {
      name: 'fifteen stars',
      pattern: `${Array(15).fill('*').join('.')}.c`,
      path: Array(16).fill(long).join('.'),
    },
    {
      name: 'stars and short literals in turn',
      pattern: `${alternating('a')}.c`,
      path: Array(16).fill('a').join('.'),
    },
    {
      name: 'stars and long literals in turn',
      pattern: `${alternating(long)}.c`,
      path: Array(16).fill(long).join('.'),
    },
    {
      // The most ways to place literals: C(11, 5) = 462.
      name: 'five literals among twelve segments',
      pattern: `*.${Array(5).fill(long).join('.*.')}.*.c`,
      path: Array(16).fill(long).join('.'),
    },
    {
      name: 'a near miss in the last character',
      pattern: `${alternating(long)}.${long.slice(1)}b`,
      path: Array(16).fill(long).join('.'),
    },
  ])('does not happen: $name', ({ pattern, path }) => {
    const matchers = [scopeMatcher([parsePattern(pattern)]), ruleMatcher(pattern)];
    // At most 1.5 ms each. At 150 ms, with which a request could hang a server, this would not end in time.
    for (let time = 0; time < 400; time += 1) {
      for (const matches of matchers) expect(matches(parseNamespacePath(path))).toBe(false);
    }
  });

  test('does not happen on any pattern within the limits (200 random ones on the longest path)', () => {
    const path = Array(16).fill(long).join('.');
    const worstCase = fc
      .array(fc.constantFrom('*', '${x}', long, 'a', '*'), { minLength: 1, maxLength: 15 })
      .map((segments) => [...segments, 'c'].join('.'));
    for (const pattern of fc.sample(worstCase, 200)) expect(ruleCovers(pattern, path)).toBe(false);
  });
});

describe('compareInstructionPatterns: the winner first', () => {
  test.each([
    { reason: 'more segments', winner: 'a.*.*', loser: 'a.bcdef' },
    { reason: 'then more literal segments', winner: 'a.b.*', loser: 'a.*.${long_variable_name}' },
    { reason: 'then more characters', winner: 'a.bcd.*', loser: 'a.bc.*' },
    // One code point, two code units: both patterns have five characters.
    { reason: 'characters are code points', winner: 'a.bbb', loser: 'a.𝔸bb' },
    { reason: 'then alphabetical', winner: 'a.b.*', loser: 'a.c.*' },
  ])('$reason: $winner before $loser', ({ winner, loser }) => {
    expect([loser, winner].sort(compareInstructionPatterns)).toEqual([winner, loser]);
    expect(compareInstructionPatterns(winner, loser)).toBeLessThan(0);
    expect(compareInstructionPatterns(loser, winner)).toBeGreaterThan(0);
  });

  test('is total: only a pattern equals itself, and two orders are opposite', () => {
    fc.assert(
      fc.property(anyPattern, anyPattern, (a, b) => {
        expect(compareInstructionPatterns(a, b) === 0).toBe(a === b);
        expect(
          Math.sign(compareInstructionPatterns(a, b)) + Math.sign(compareInstructionPatterns(b, a)),
        ).toBe(0);
      }),
    );
  });
});

describe('patternsOverlap', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', 'a.b', false],
    ['a', 'a.*', false],
    ['a.b', 'a.*', true],
    ['a.*', '*.b', true],
    ['a.*', 'b.*', false],
    ['*', 'anything.at.all', true],
    ['*.x', '*.y', false],
    ['*.x.*', 'a.b.c.x.d', true],
    ['*.x.*', 'x.a', false],
    ['${x}', '*', true],
    ['${x}', 'a.b', false],
    ['a.${x}.c', 'a.*.c', true],
    ['a.*.c', 'a.c', false],
    ['vector.user.bob.*', 'vector.user.ada.*', false],
    ['vector.*.bob', 'vector.user.*', true],
  ])('%s and %s: %s', (a, b, overlaps) => {
    expect(patternsOverlap(a, b)).toBe(overlaps);
    expect(patternsOverlap(b, a)).toBe(overlaps);
  });

  test('says what trying every path says', () => {
    // Two patterns of three segments that overlap do so on a path of at most six; `z` stands for any other name.
    const names = ['a', 'b', 'z'];
    let paths = names;
    const all = [...paths];
    for (let length = 2; length <= 6; length += 1) {
      paths = paths.flatMap((path) => names.map((name) => `${path}.${name}`));
      all.push(...paths);
    }
    const small = fc
      .array(fc.constantFrom('a', 'b', '*', '${x}'), { minLength: 1, maxLength: 3 })
      .map((segments) => segments.join('.'));
    fc.assert(
      fc.property(small, small, (a, b) => {
        const matchesA = scopeMatcher([a]);
        const matchesB = scopeMatcher([b]);
        expect(patternsOverlap(a, b)).toBe(all.some((path) => matchesA(path) && matchesB(path)));
      }),
      { numRuns: 500 },
    );
  });

  test('never misses a path that both match', () => {
    fc.assert(
      fc.property(anyPattern, anyPattern, anyPath, (a, b, path) => {
        if (matchesScope([a], path) && matchesScope([b], path)) expect(patternsOverlap(a, b)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

test('patternOwner is the user whose namespaces alone a pattern can match', () => {
  expect(patternOwner('vector.user.ada')).toBe('ada');
  expect(patternOwner('vector.agent.ada.*')).toBe('ada');
  for (const pattern of [
    'vector.user',
    'vector.user.*',
    'vector.user.${id}.x',
    'vector.*.ada',
    '*.user.ada',
    'vector.global.ada',
    'team.user.ada',
  ]) {
    expect(patternOwner(pattern), pattern).toBeNull();
  }
});

test('parseSegment takes what can stand between two dots, and no dot', () => {
  expect(parseSegment('ada@x', 'user_id')).toBe('ada@x');
  for (const text of ['', 'a.b', '.', 'a b', '*', '${x}', 'x'.repeat(129)]) {
    expect(refusal(() => parseSegment(text, 'user_id')).details[0]?.path, text).toBe('user_id');
  }
});

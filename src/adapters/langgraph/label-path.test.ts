import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/helpers/refusal.ts';
import { labelsOfPath, pathOfLabels } from './label-path.ts';

const ROOT = 'vector.user.ada.lg';

describe('labels as a path', () => {
  test.each([
    [['users', '123'], 'users.123'],
    [['a', 'b.c'], 'a.b~2ec'],
    [['a', 'b', 'c'], 'a.b.c'],
    [['ada@example.org'], 'ada@example~2eorg'],
    [['~'], '~7e'],
    [['*'], '~2a'],
    [['$' + '{user_id}'], '~24~7buser_id~7d'],
    [['grüße', '東京'], 'grüße.東京'],
    [['a b', '🚢'], 'a~20b.~f0~9f~9a~a2'],
    [['\0'], '~00'],
  ])('%j is %s', (labels, below) => {
    const path = `${ROOT}.${below}`;
    expect(pathOfLabels(ROOT, labels)).toBe(path);
    expect(labelsOfPath(ROOT, path)).toEqual(labels);
  });

  test('every list of labels is read back, so no two share a path (CASES A4)', () => {
    const label = fc.oneof(
      fc.string({ minLength: 1, maxLength: 10, unit: 'binary' }),
      fc.string({ minLength: 1, maxLength: 10, unit: fc.constantFrom('.', '~', 'a', '2', 'e', ':') }),
    );
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 10 }), (labels) => {
        expect(labelsOfPath(ROOT, pathOfLabels(ROOT, labels))).toEqual(labels);
      }),
    );
  });

  test.each([
    'x.y',
    ROOT,
    `${ROOT}x.a`,
    `${ROOT}.~41`,
    `${ROOT}.a~`,
    `${ROOT}.~2E`,
    `${ROOT}.~ff`,
    `${ROOT}.~c3.~a9`,
  ])('%s is no path that labels make', (path) => {
    expect(labelsOfPath(ROOT, path)).toBeNull();
  });

  test('what is no label is refused, and so is what a path can not hold', () => {
    expect(refusal(() => pathOfLabels(ROOT, ['a', ''])).details[0]).toMatchObject({ path: 'namespace[1]' });
    expect(refusal(() => pathOfLabels(ROOT, ['\ud800'])).message).toContain('\\ud800');
    expect(refusal(() => pathOfLabels(ROOT, Array(13).fill('a'))).message).toContain('more than 16 segments');
    expect(refusal(() => pathOfLabels(ROOT, ['x'.repeat(129)])).message).toContain('longer than 128');
    expect(refusal(() => pathOfLabels(ROOT, ['.'.repeat(43)])).message).toContain('longer than 128');
  });
});

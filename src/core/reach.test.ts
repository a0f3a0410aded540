import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPath } from '../../test/helpers/namespace-arbitraries.ts';
import { matchesScope } from './namespace.ts';
import { mayWrite, otherOwners, outOfReach, ownScope } from './reach.ts';
import type { Access } from './types.ts';

function access(
  options: { isAdmin?: boolean; isTenantWide?: boolean; read?: string[]; write?: string[] } = {},
): Access {
  const { isAdmin = false, isTenantWide = false, read = [], write = [] } = options;
  return {
    principal: { tenantId: 't', userId: 'ada', isAdmin, isTenantWide },
    readGrants: read,
    writeGrants: write,
  };
}

describe('mayWrite', () => {
  test.each([
    ['vector.user.ada', true],
    ['vector.user.ada.notes', true],
    ['vector.agent.ada.runs', true],
    ['vector.user.ada2.notes', false],
    ['vector.user.bob.notes', false],
    ['vector.global.facts', false],
    ['team.a', false],
    ['vector.user', false],
  ])('without a policy %s: %s', (path, allowed) => {
    expect(mayWrite(access(), path)).toBe(allowed);
  });

  test('a policy opens what is nobody’s, and never what is another user’s', () => {
    const granted = access({ write: ['team.*', 'vector.*'] });
    expect(mayWrite(granted, 'team.a')).toBe(true);
    expect(mayWrite(granted, 'team')).toBe(false);
    expect(mayWrite(granted, 'vector.global.facts')).toBe(true);
    expect(mayWrite(granted, 'vector.user.bob.notes')).toBe(false);
    expect(mayWrite(access({ read: ['team.*'] }), 'team.a')).toBe(false);
  });

  test('the operator writes everywhere, an administrator where users do', () => {
    expect(mayWrite(access({ isTenantWide: true }), 'vector.user.bob.notes')).toBe(true);
    expect(mayWrite(access({ isAdmin: true }), 'vector.user.bob.notes')).toBe(false);
  });
});

describe('outOfReach', () => {
  const patterns = (who: Access, scope: string[]) => outOfReach(who, scope).map(({ pattern }) => pattern);

  test('one’s own, the global ones and patterns that reach them are in reach', () => {
    const scope = [
      'vector.user.ada',
      'vector.agent.ada.*',
      'vector.global',
      'vector.*',
      '*',
      'vector.user.*',
    ];
    expect(patterns(access(), scope)).toEqual([]);
  });

  test('another user’s and the tenant’s are not; a policy opens the tenant’s alone', () => {
    const scope = ['vector.user.bob.*', 'vector.agent.bob', 'team.a', 'team.*', 'vector.user'];
    expect(patterns(access(), scope)).toEqual(scope);
    const granted = access({ read: ['team.a', 'vector.user.bob.*'] });
    expect(patterns(granted, scope)).toEqual(['vector.user.bob.*', 'vector.agent.bob', 'vector.user']);
  });

  test('an administrator may have been let in: by whom is told', () => {
    expect(outOfReach(access({ isAdmin: true }), ['vector.user.bob.*', 'team.a'])).toEqual([
      { pattern: 'vector.user.bob.*', unlessConsentOf: 'bob' },
      { pattern: 'team.a', unlessConsentOf: null },
    ]);
    expect(outOfReach(access(), ['vector.user.bob.*'])[0]?.unlessConsentOf).toBeNull();
  });

  test('the operator has everything in reach', () => {
    expect(patterns(access({ isTenantWide: true }), ['vector.user.bob.*', 'team.a'])).toEqual([]);
  });
});

test('ownScope is every namespace a user has without a policy, and no other', () => {
  const isOwn = (path: string) => matchesScope(ownScope('ada'), path);
  for (const path of ['vector.user.ada', 'vector.agent.ada.x.y', 'vector.global', 'vector.global.x']) {
    expect(isOwn(path), path).toBe(true);
  }
  fc.assert(
    fc.property(anyPath, (path) => {
      expect(isOwn(`vector.user.bob.${path}`)).toBe(false);
      expect(isOwn(`team.${path}`)).toBe(false);
      expect(isOwn(`vector.user.ada.${path}`)).toBe(true);
    }),
  );
});

test('otherOwners are the users whose private namespaces are among some', () => {
  const paths = [
    'vector.user.bob.x',
    'vector.agent.bob.y',
    'vector.user.ada.x',
    'vector.global.z',
    'team.a',
    'vector.user.al',
  ];
  expect(otherOwners(access().principal, paths)).toEqual(['al', 'bob']);
  expect(otherOwners(access({ isTenantWide: true }).principal, paths)).toEqual([]);
});

import { expect, test } from 'vitest';
import type { Identity } from '../core/identity.ts';
import { identifiedContext } from './identified-context.ts';

const identity = (agentId: string | null): Identity => ({
  principal: { tenantId: 't', userId: 'u', isAdmin: false, isTenantWide: false },
  scopes: ['read'],
  keyId: null,
  tokenId: null,
  agentId,
});

test('an identity bound to an agent acts for that agent, however a request leaves the agent out', () => {
  expect(identifiedContext(identity('a')).subject?.agentId).toBe('a');
  expect(identifiedContext(identity('a'), { subject: {} }).subject?.agentId).toBe('a');
  expect(identifiedContext(identity('a'), { subject: { agentId: undefined } }).subject?.agentId).toBe('a');
});

test('an agent that is named stays named, for the guard to compare with the bound one', () => {
  const context = identifiedContext(identity('a'), { subject: { agentId: 'b' } });
  expect([context.subject?.agentId, context.boundAgentId]).toEqual(['b', 'a']);
  expect(identifiedContext(identity(null), { subject: { agentId: 'b' } }).subject?.agentId).toBe('b');
});

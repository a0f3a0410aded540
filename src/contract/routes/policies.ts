import { z } from 'zod';
import type { PolicySubject } from '../../core/policy.ts';
import {
  policyDraftSchema,
  wireKeptPolicySchema,
  wirePolicyListSchema,
  wirePolicySchema,
} from '../memory-policy.ts';
import { defineRoute } from './route.ts';

const TAG = 'Policies';
const params = z.strictObject({ id: z.string().meta({ description: 'Id of the agent or task.' }) });

const agent = routesOf('agent', 'agents');
const task = routesOf('task', 'tasks');

export const policyRoutes = {
  listPolicies: defineRoute({
    method: 'GET',
    path: '/v1/policies',
    scope: 'read',
    tag: TAG,
    summary: 'List the policies of agents and tasks',
    answers: { 200: 'All policies.' },
    answer: wirePolicyListSchema,
    errors: [],
  }),
  getAgentPolicy: agent.get,
  putAgentPolicy: agent.put,
  deleteAgentPolicy: agent.delete,
  getTaskPolicy: task.get,
  putTaskPolicy: task.put,
  deleteTaskPolicy: task.delete,
};

function routesOf<const Folder extends string>(kind: PolicySubject['kind'], folder: Folder) {
  const path = `/v1/${folder}/{id}/policy` as const;
  return {
    get: defineRoute({
      method: 'GET',
      path,
      scope: 'read',
      tag: TAG,
      summary: `Read the policy of ${article(kind)}`,
      params,
      answers: { 200: 'The policy.' },
      answer: wirePolicySchema,
      errors: ['not_found'],
      example: { params: { id: 'helper' } },
    }),
    put: defineRoute({
      method: 'PUT',
      path,
      scope: 'admin',
      tag: TAG,
      summary: `Make or replace the policy of ${article(kind)}`,
      description:
        "A task's policy replaces the agent's whole. What is left out is empty, false or unset; an unset number falls back to the profile, 0 is a value. Holds from the next request on, in every process.",
      params,
      body: policyDraftSchema,
      answers: { 200: 'The policy, and what is doubtful about it.' },
      answer: wireKeptPolicySchema,
      takesIdempotencyKey: true,
      errors: ['conflict'],
      example: {
        params: { id: 'helper' },
        body: {
          read_namespaces: ['vector.user.${user_id}.*', 'vector.global.*'],
          write_namespace: 'vector.agent.${user_id}.runs',
          allow_tool_write: true,
        },
      },
    }),
    delete: defineRoute({
      method: 'DELETE',
      path,
      scope: 'admin',
      tag: TAG,
      summary: `Delete the policy of ${article(kind)}`,
      params,
      answers: { 204: 'It is gone.' },
      takesIdempotencyKey: true,
      errors: ['not_found', 'conflict'],
      example: { params: { id: 'helper' } },
    }),
  };
}

function article(kind: PolicySubject['kind']): string {
  return kind === 'agent' ? 'an agent' : 'a task';
}

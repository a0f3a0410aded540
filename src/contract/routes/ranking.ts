import { z } from 'zod';
import {
  ruleDraftSchema,
  rulePatternQuerySchema,
  wireRuleListSchema,
  wireRuleSchema,
} from '../namespace-rule.ts';
import {
  profileDraftSchema,
  wireKeptProfileSchema,
  wireProfileListSchema,
  wireProfileViewSchema,
} from '../ranking-profile.ts';
import { rulePreviewRequestSchema, wireRulePreviewSchema } from '../rule-preview.ts';
import { defineRoute } from './route.ts';

const RULES = 'Namespace rules';
const PROFILES = 'Ranking profiles';
const RULE_EXAMPLE = { pattern: 'vector.agent.${user_id}.howto', bonus: 0.1 };
const profileParams = z.strictObject({ name: z.string().meta({ description: 'Name of a profile.' }) });

export const rankingRoutes = {
  listRules: defineRoute({
    method: 'GET',
    path: '/v1/rules',
    scope: 'read',
    tag: RULES,
    summary: 'List the rules that give bonuses and instructions to namespaces',
    answers: { 200: 'All rules, by pattern.' },
    answer: wireRuleListSchema,
    errors: [],
  }),
  putRule: defineRoute({
    method: 'PUT',
    path: '/v1/rules',
    scope: 'admin',
    tag: RULES,
    summary: 'Make or replace the rule of a pattern',
    description: 'Holds from the next request on, in every process.',
    body: ruleDraftSchema,
    answers: { 200: 'The rule.' },
    answer: wireRuleSchema,
    takesIdempotencyKey: true,
    errors: ['conflict'],
    example: { body: RULE_EXAMPLE },
  }),
  deleteRule: defineRoute({
    method: 'DELETE',
    path: '/v1/rules',
    scope: 'admin',
    tag: RULES,
    summary: 'Delete the rule of a pattern',
    query: rulePatternQuerySchema,
    answers: { 204: 'It is gone.' },
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { query: 'pattern=vector.agent.%24%7Buser_id%7D.howto' },
  }),
  previewRule: defineRoute({
    method: 'POST',
    path: '/v1/rules/preview',
    scope: 'admin',
    tag: RULES,
    summary: 'See what a rule would do before it is saved',
    description:
      'Which namespaces it covers, how many entries, and how the ranking of a query would change. It ranks memories, so that the credential needs the scope read as well.',
    body: rulePreviewRequestSchema,
    answers: { 200: 'What would change.' },
    answer: wireRulePreviewSchema,
    isRead: true,
    errors: ['embedding_failed'],
    example: { body: { ...RULE_EXAMPLE, query: 'How do I deploy?' } },
  }),
  listProfiles: defineRoute({
    method: 'GET',
    path: '/v1/profiles',
    scope: 'read',
    tag: PROFILES,
    summary: 'List the profiles a search may name',
    answers: { 200: 'The built-in ones first.' },
    answer: wireProfileListSchema,
    errors: [],
  }),
  getProfile: defineRoute({
    method: 'GET',
    path: '/v1/profiles/{name}',
    scope: 'read',
    tag: PROFILES,
    summary: 'Read a profile',
    params: profileParams,
    answers: { 200: 'The profile with all its parameters.' },
    answer: wireProfileViewSchema,
    errors: ['not_found'],
    example: { params: { name: 'boosted' } },
  }),
  putProfile: defineRoute({
    method: 'PUT',
    path: '/v1/profiles/{name}',
    scope: 'admin',
    tag: PROFILES,
    summary: 'Make or replace a profile',
    description:
      'What is left out is as in the built-in profile of the same kind. Those two stay as they are.',
    params: profileParams,
    body: profileDraftSchema,
    answers: { 200: 'The profile, and what is doubtful about it.' },
    answer: wireKeptProfileSchema,
    takesIdempotencyKey: true,
    errors: ['conflict'],
    example: { params: { name: 'strict' }, body: { kind: 'boosted', min_score: 0.6 } },
  }),
  deleteProfile: defineRoute({
    method: 'DELETE',
    path: '/v1/profiles/{name}',
    scope: 'admin',
    tag: PROFILES,
    summary: 'Delete a profile',
    description: 'Refused while a policy names it.',
    params: profileParams,
    answers: { 204: 'It is gone.' },
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { params: { name: 'strict' } },
  }),
};

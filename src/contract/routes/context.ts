import { wireContextAnswerSchema } from '../context-answer.ts';
import { contextRequestSchema } from '../context-request.ts';
import { runReportSchema, wireRunResultSchema } from '../run-report.ts';
import { defineRoute } from './route.ts';

const TAG = 'Prompts';
/** A long conversation with images, or the output of a talkative tool. */
const BODY_LIMIT = 16 * 1024 * 1024;

export const contextRoutes = {
  fillContext: defineRoute({
    method: 'POST',
    path: '/v1/context',
    scope: 'read',
    tag: TAG,
    summary: 'Make the memory block of a prompt',
    description:
      'Finds what is worth remembering for query, or for the last user message of messages, and renders it as one text within token_budget. It belongs to the end of the last user message: what stands before stays byte-identical, and so does the cached prefix. Dates follow locale and time_zone. Reading moves no counter.',
    body: contextRequestSchema,
    bodyLimit: BODY_LIMIT,
    answers: { 200: 'The block, what is in it, and what was left out.' },
    answer: wireContextAnswerSchema,
    isRead: true,
    errors: ['embedding_failed'],
    example: {
      body: {
        messages: [{ role: 'user', content: 'Tea or coffee for Ada?' }],
        namespaces: ['vector.user.ada.*'],
        token_budget: 1000,
        return_messages: true,
      },
    },
  }),
  observeRun: defineRoute({
    method: 'POST',
    path: '/v1/runs',
    scope: 'write',
    tag: TAG,
    summary: 'Store what a run was asked and what it answered',
    description:
      'Where the policy of the agent or task has allow_write, into its write_namespace, with the sources run_input and run_output. Else nothing is stored, and skipped says so. run_id makes repeating it harmless, so that it takes no Idempotency-Key.',
    body: runReportSchema,
    bodyLimit: BODY_LIMIT,
    answers: { 200: 'What was stored and what was not.' },
    answer: wireRunResultSchema,
    errors: ['conflict', 'embedding_failed'],
    example: { body: { run_id: 'run-4711', output: 'The invoice went to Alexandra.' } },
  }),
};

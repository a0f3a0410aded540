import { feedbackSchema, wireFeedbackResultSchema, wireFeedbackSummarySchema } from '../feedback.ts';
import { wireRecallAnswerSchema } from '../recall-answer.ts';
import { recallRequestSchema } from '../recall-request.ts';
import { memoryParams } from './memories.ts';
import { defineRoute } from './route.ts';

const TAG = 'Search';
const EXAMPLE = {
  body: { query: 'Tea or coffee?', namespaces: ['vector.user.ada.*', 'vector.global.*'], top_k: 3 },
};

export const recallRoutes = {
  searchMemories: defineRoute({
    method: 'POST',
    path: '/v1/memories/search',
    scope: 'read',
    tag: TAG,
    summary: 'Find what is worth remembering (boosted)',
    description:
      'Ranks by similarity × (1 + Σ bonus + recency), unless the request or a policy names another profile. Without a query: newest first. Reading moves no counter.',
    body: recallRequestSchema,
    answers: { 200: 'The hits, best first.' },
    answer: wireRecallAnswerSchema,
    isRead: true,
    errors: ['embedding_failed'],
    example: EXAMPLE,
  }),
  relevantMemories: defineRoute({
    method: 'POST',
    path: '/v1/memories/relevant',
    scope: 'read',
    tag: TAG,
    summary: 'Find what is worth remembering (weighted)',
    description:
      'Ranks by a weighted sum of similarity, recency, importance and frequency, unless the request or a policy names another profile. Reading moves no counter.',
    body: recallRequestSchema,
    answers: { 200: 'The hits, best first.' },
    answer: wireRecallAnswerSchema,
    isRead: true,
    errors: ['embedding_failed'],
    example: EXAMPLE,
  }),
  giveFeedback: defineRoute({
    method: 'POST',
    path: '/v1/feedback',
    scope: 'feedback',
    tag: TAG,
    summary: 'Say what a hit was worth',
    description:
      'The only thing that moves counters: accessed one, useful both, the others none. Counts once per trace, entry and signal.',
    body: feedbackSchema,
    answers: { 200: 'Whether it counted, and the entry.' },
    answer: wireFeedbackResultSchema,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: {
      body: {
        memory_id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f',
        trace_id: '0198f6a2-9a00-7000-8000-1c2d3e4f5a6b',
        signal: 'useful',
      },
    },
  }),
  feedbackSummary: defineRoute({
    method: 'GET',
    path: '/v1/memories/{id}/feedback',
    scope: 'read',
    tag: TAG,
    summary: 'Count the signals that were given for an entry',
    params: memoryParams,
    answers: { 200: 'Every signal and how often it was given.' },
    answer: wireFeedbackSummarySchema,
    errors: ['not_found'],
    example: { params: { id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f' } },
  }),
};

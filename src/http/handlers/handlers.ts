import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';
import { contextHandlers } from './context.ts';
import { embeddingHandlers } from './embeddings.ts';
import { identityHandlers } from './identity.ts';
import { lookUpHandlers } from './look-up.ts';
import { memoryHandlers } from './memories.ts';
import { policyHandlers } from './policies.ts';
import { rankingHandlers } from './ranking.ts';
import { recallHandlers } from './recall.ts';
import { streamHandlers } from './streams.ts';

/** What carries each route out: parse nothing, decide nothing, call one use case, show its result. */
export function createHandlers(parts: HandlerParts): RouteHandlers {
  return {
    ...memoryHandlers(parts),
    ...recallHandlers(parts),
    ...contextHandlers(parts),
    ...lookUpHandlers(parts),
    ...rankingHandlers(parts),
    ...policyHandlers(parts),
    ...embeddingHandlers(parts),
    ...identityHandlers(parts),
    ...streamHandlers(parts),
  };
}

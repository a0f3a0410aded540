import { contextRoutes } from './context.ts';
import { embeddingRoutes } from './embeddings.ts';
import { identityRoutes } from './identity.ts';
import { lookUpRoutes } from './look-up.ts';
import { memoryRoutes } from './memories.ts';
import { policyRoutes } from './policies.ts';
import { rankingRoutes } from './ranking.ts';
import { recallRoutes } from './recall.ts';
import type { RouteDefinition } from './route.ts';
import { streamRoutes } from './streams.ts';

/** Every route of the API by its name, which is its operationId in the OpenAPI document. */
export const ROUTES = {
  ...memoryRoutes,
  ...recallRoutes,
  ...contextRoutes,
  ...lookUpRoutes,
  ...rankingRoutes,
  ...policyRoutes,
  ...embeddingRoutes,
  ...identityRoutes,
  ...streamRoutes,
} as const satisfies Record<string, RouteDefinition>;

export type Routes = typeof ROUTES;
export type RouteName = keyof Routes;

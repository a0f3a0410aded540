import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from './openapi.ts';

/** The page runs what this server sends it, and asks nobody else. */
const DOCS_CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Swagger UI sets styles of its elements.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/openapi.json` and a page to browse it at `/docs`. Both say nothing of anybody, so that anyone may read them. */
export async function docsRoutes(
  app: FastifyInstance,
  { version }: { readonly version: string },
): Promise<void> {
  await app.register(swagger, {
    // Our routes are no schemas of Fastify's; the document is made of the contract when it is first asked for.
    hideUntagged: true,
    openapi: {},
    transformObject: () => JSON.parse(JSON.stringify(openApiDocument(version))),
  });
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  );
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_CONTENT_POLICY,
    uiConfig: { docExpansion: 'list', deepLinking: true },
  });
}

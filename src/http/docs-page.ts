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
  const text = JSON.stringify(openApiDocument(version));
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(text),
  );
  await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(text) } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_CONTENT_POLICY,
    logLevel: 'warn',
    uiConfig: {
      docExpansion: 'list',
      deepLinking: true,
      tryItOutEnabled: false,
      persistAuthorization: false,
    },
  });
}

import { z } from 'zod';
import { toWireListPage } from '../../contract/list-page.ts';
import { listQuerySchema } from '../../contract/list-request.ts';
import { memoryBatchSchema, memoryDraftSchema } from '../../contract/memory-draft.ts';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { toWireWriteResult } from '../../contract/write-result.ts';
import type { HttpApp, RouteOptions } from '../http-app.ts';

/** 500 entries of a long page each. */
const BATCH_BODY_LIMIT = 64 * 1024 * 1024;

const idParams = z.strictObject({ id: z.string() });

export async function memoryRoutes(app: HttpApp, { service }: RouteOptions): Promise<void> {
  app.post(
    '/memories',
    {
      schema: {
        body: memoryDraftSchema,
      },
    },
    async (request, reply) => {
      const result = await service.remember(request.context, request.body);
      const { id } = result.entry;
      return reply
        .code(result.operation === 'create' ? 201 : 200)
        .header('location', `/v1/memories/${id}`)
        .send(toWireWriteResult(result, service.now()));
    },
  );

  app.post(
    '/memories/batch',
    {
      bodyLimit: BATCH_BODY_LIMIT,
      schema: { body: memoryBatchSchema },
    },
    async (request) => {
      const results = await service.rememberMany(request.context, request.body.memories);
      const now = service.now();
      return { results: results.map((result) => toWireWriteResult(result, now)) };
    },
  );

  app.get('/memories', { schema: { querystring: listQuerySchema } }, async (request) =>
    toWireListPage(await service.list(request.context, request.query), service.now()),
  );

  app.get('/memories/:id', { schema: { params: idParams } }, async (request) =>
    toWireEntry(await service.get(request.context, request.params.id), service.now()),
  );
}

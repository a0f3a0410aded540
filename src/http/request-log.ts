import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';

/** One line per request, when it is done. */
export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'request_id' });
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const line = {
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: reply.statusCode,
      trace_id: request.begun?.traceId ?? undefined,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    };
    if (error === null || error === undefined) request.log.info(line, 'request');
    else request.log.error({ ...line, err: error }, 'request failed');
  }
}

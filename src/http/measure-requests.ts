import type { BegunRequest, Telemetry } from '../core/telemetry.ts';
import type { HttpApp } from './http-app.ts';

/** The asker went away before there was an answer: nginx's number for it, which nobody is sent. */
const GONE_AWAY = 499;

/** Tells of every request: which route, what became of it, how long it took. */
export function measureRequests(app: HttpApp, telemetry: Telemetry): void {
  app.decorateRequest('errorCode', null);
  app.decorateRequest('begun', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers, routeOptions } = request;
    const begun = endingOnce(telemetry.request({ method, route: routeOptions.url ?? null, headers }));
    request.begun = begun;
    // Fastify calls no hook for an answer that nobody is there to take.
    reply.raw.once('close', () => begun.end(GONE_AWAY, null));
    begun.run(done);
  });
  // What runs after a body was read runs on the connection's events, and belongs to nothing any more.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.begun === null) done();
    else request.begun.run(done);
  });
  app.addHook('onResponse', async (request, reply) => {
    request.begun?.end(reply.statusCode, request.errorCode);
  });
}

function endingOnce(begun: BegunRequest): BegunRequest {
  let hasEnded = false;
  return {
    ...begun,
    end(status, code) {
      if (hasEnded) return;
      hasEnded = true;
      begun.end(status, code);
    },
  };
}

import type { NewRequest, Telemetry } from '../core/telemetry.ts';
import type { HttpApp } from './http-app.ts';

/** Tells of every request: which route, what became of it, how long it took. */
export function measureRequests(app: HttpApp, telemetry: Telemetry): void {
  app.decorateRequest('errorCode', null);
  app.decorateRequest('begun', null);
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request;
    const begun = telemetry.request({
      method,
      route: routeOptions.url ?? null,
      headers,
    } satisfies NewRequest);
    request.begun = begun;
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

import type { HttpApp } from './http-app.ts';

/** What the operator of the machine may do, who is nobody of any tenant. */
export interface OperatorAccess {
  /**
   * @param authorization - The request's Authorization header.
   * @throws PalimpsestError `unauthenticated` for whoever is not the operator, keys of administrators included
   */
  check(authorization: string | undefined): void;
  /** Copies the whole store as it is now, beside its files, and says where. */
  copy(): Promise<object>;
}

/**
 * Where the operator's own command asks for a copy of the store. It is no part of the API: the copy holds every tenant.
 * Nothing of it goes over the wire, only the name of a folder that this user alone may read.
 */
export const COPY_PATH = '/operator/copy';

export async function operatorRoutes(app: HttpApp, { check, copy }: OperatorAccess): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    check(request.headers.authorization);
    reply.header('cache-control', 'no-store');
  });

  app.post(COPY_PATH, async () => copy());
}

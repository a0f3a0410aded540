import { toWireRecallAnswer } from '../../contract/recall-answer.ts';
import { recallRequestSchema } from '../../contract/recall-request.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../../core/defaults.ts';
import type { HttpApp, RouteOptions } from '../http-app.ts';

/** One use case under two names, which differ in the profile that ranks when the request names none. */
const ROUTES = [
  { path: '/memories/search', defaultProfile: BOOSTED_PROFILE.name },
  { path: '/memories/relevant', defaultProfile: WEIGHTED_PROFILE.name },
];

export async function recallRoutes(app: HttpApp, { service }: RouteOptions): Promise<void> {
  for (const { path, defaultProfile } of ROUTES) {
    app.post(path, { schema: { body: recallRequestSchema } }, async (request) => {
      const { explain, ...wanted } = request.body;
      const result = await service.recall(request.context, {
        ...wanted,
        profile: wanted.profile ?? defaultProfile,
      });
      return toWireRecallAnswer(result, { explain });
    });
  }
}

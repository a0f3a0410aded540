import { profileOf } from '../../contract/ranking-profile.ts';
import type { rankingRoutes } from '../../contract/routes/ranking.ts';
import { shownRulePreview } from '../../contract/rule-preview.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function rankingHandlers({
  service,
  governance,
}: HandlerParts): Pick<RouteHandlers, keyof typeof rankingRoutes> {
  return {
    async listRules({ context }) {
      return { body: { rules: await service.listRules(context) } };
    },
    async putRule({ context, body }) {
      return { body: await service.putRule(context, body) };
    },
    async deleteRule({ context, query }) {
      await service.deleteRule(context, query.pattern);
      return { body: undefined };
    },
    async previewRule({ context, body }) {
      return { body: shownRulePreview(await governance.previewRule(context, body)) };
    },
    async listProfiles({ context }) {
      return { body: { profiles: await governance.listProfiles(context) } };
    },
    async getProfile({ context, params }) {
      return { body: await governance.getProfile(context, params.name) };
    },
    async putProfile({ context, params, body }) {
      const { value, warnings } = await governance.putProfile(
        context,
        profileOf(params.name, body, service.profiles),
      );
      return { body: { profile: value, warnings } };
    },
    async deleteProfile({ context, params }) {
      await governance.deleteProfile(context, params.name);
      return { body: undefined };
    },
  };
}

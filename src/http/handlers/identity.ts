import type { identityRoutes } from '../../contract/routes/identity.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function identityHandlers({
  governance,
}: HandlerParts): Pick<RouteHandlers, keyof typeof identityRoutes> {
  return {
    async createKey({ context, body }) {
      return { body: await governance.createKey(context, body) };
    },
    async listKeys({ context }) {
      return { body: { keys: await governance.listKeys(context) } };
    },
    async revokeKey({ context, params }) {
      return { body: await governance.revokeKey(context, params.id) };
    },
    async getMe({ context, identity }) {
      const { tenantId, userId } = identity.principal;
      const { allowAdminMemory } = await governance.userSettings(context);
      return { body: { tenantId, userId, scopes: identity.scopes, allowAdminMemory } };
    },
    async putMySettings({ context, body }) {
      return { body: await governance.setAllowAdminMemory(context, body.allowAdminMemory) };
    },
  };
}

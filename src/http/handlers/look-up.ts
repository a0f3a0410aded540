import { encodeListCursor } from '../../contract/list-cursor.ts';
import { namespacePage } from '../../contract/namespace-report.ts';
import type { lookUpRoutes } from '../../contract/routes/look-up.ts';
import { DEFAULT_PAGE_SIZE } from '../../core/defaults.ts';
import type { ListCursor } from '../../core/ports.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function lookUpHandlers({ governance }: HandlerParts): Pick<RouteHandlers, keyof typeof lookUpRoutes> {
  return {
    async listNamespaces({ context, query }) {
      const { limit = DEFAULT_PAGE_SIZE } = query;
      const namespaces = await governance.reportNamespaces(context, { ...query, limit });
      return { body: namespacePage(namespaces, limit) };
    },
    async getStats({ context, query }) {
      return { body: await governance.stats(context, query) };
    },
    async listAudit({ context, query }) {
      const { items, next } = await governance.listAudit(context, query);
      return { body: { records: items, nextCursor: cursorText(next) } };
    },
    async exportAudit({ context, query }) {
      return { lines: governance.exportAudit(context, query) };
    },
    async listTraces({ context, query }) {
      const { items, next } = await governance.listTraces(context, query);
      return { body: { traces: items, nextCursor: cursorText(next) } };
    },
    async getTrace({ context, params }) {
      return { body: await governance.getTrace(context, params.id) };
    },
    async exportTraces({ context, query }) {
      return { lines: governance.exportTraces(context, query) };
    },
  };
}

function cursorText(next: ListCursor | null): string | null {
  return next === null ? null : encodeListCursor(next);
}

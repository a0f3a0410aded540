import { shownContextAnswer } from '../../contract/context-answer.ts';
import type { contextRoutes } from '../../contract/routes/context.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function contextHandlers({ service }: HandlerParts): Pick<RouteHandlers, keyof typeof contextRoutes> {
  return {
    async fillContext({ context, body }) {
      const { returnMessages, explain, ...wanted } = body;
      const filled = await service.context(context, wanted);
      return { body: shownContextAnswer(filled, { returnMessages, explain }) };
    },
    async observeRun({ context, body }) {
      return { body: await service.observeRun(context, body) };
    },
  };
}

import { shownFeedbackResult, shownFeedbackSummary } from '../../contract/feedback.ts';
import { shownRecallAnswer } from '../../contract/recall-answer.ts';
import type { recallRoutes } from '../../contract/routes/recall.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../../core/defaults.ts';
import type { RecallRequest } from '../../service/recall.ts';
import type { RequestContext } from '../../service/request-context.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

interface SearchCall {
  readonly context: RequestContext;
  readonly body: RecallRequest & { readonly explain?: boolean | undefined };
}

export function recallHandlers({
  service,
  governance,
}: HandlerParts): Pick<RouteHandlers, keyof typeof recallRoutes> {
  /** One use case under two names, which differ in the profile that ranks where nothing names one. */
  const search =
    (defaultProfile: string) =>
    async ({ context, body }: SearchCall) => {
      const { explain, ...wanted } = body;
      const recalled = await service.recall(context, { ...wanted, defaultProfile });
      return { body: shownRecallAnswer(recalled, { explain }) };
    };
  return {
    searchMemories: search(BOOSTED_PROFILE.name),
    relevantMemories: search(WEIGHTED_PROFILE.name),
    async giveFeedback({ context, body }) {
      return { body: shownFeedbackResult(await service.feedback(context, body), service.now()) };
    },
    async feedbackSummary({ context, params }) {
      return { body: shownFeedbackSummary(await governance.feedbackSummary(context, params.id)) };
    },
  };
}

import { feedbackSchema, shownFeedbackResult } from '../contract/feedback.ts';
import { shownListPage } from '../contract/list-page.ts';
import { listRequestSchema } from '../contract/list-request.ts';
import { unplacedDraftSchema } from '../contract/memory-draft.ts';
import { shownEntry } from '../contract/memory-entry.ts';
import { memoryPatchSchema } from '../contract/memory-patch.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { shownRecallAnswer } from '../contract/recall-answer.ts';
import { tracedRecallRequestSchema } from '../contract/recall-request.ts';
import { shownSupersedeResult, supersedeRequestSchema } from '../contract/supersede.ts';
import { shownWriteResult } from '../contract/write-result.ts';
import { MAX_PAGE_SIZE } from '../core/defaults.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { RequestContext } from '../service/request-context.ts';
import type { ToolBackend } from './tool-backend.ts';

export interface LocalServices {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
}

/** The memory in this process, for one asker. Whatever is asked, a tool asks it: the policy's tool fields hold. */
export function createLocalBackend(
  { service, governance }: LocalServices,
  asker: RequestContext,
): ToolBackend {
  const context: RequestContext = { ...asker, origin: 'tool_call' };
  return {
    recall: async (body) =>
      shownRecallAnswer(await service.recall(context, parseContract(tracedRecallRequestSchema, body))),
    remember: async (body) =>
      shownWriteResult(
        await service.remember(context, parseContract(unplacedDraftSchema, body)),
        service.now(),
      ),
    update: async (id, body) =>
      shownEntry(await service.update(context, id, parseContract(memoryPatchSchema, body)), service.now()),
    supersede: async (id, body) =>
      shownSupersedeResult(
        await service.supersede(context, id, parseContract(supersedeRequestSchema, body)),
        service.now(),
      ),
    forget: async (id) => shownEntry(await service.forget(context, id), service.now()),
    feedback: async (body) =>
      shownFeedbackResult(
        await service.feedback(context, parseContract(feedbackSchema, body)),
        service.now(),
      ),
    list: async (body) =>
      shownListPage(await service.list(context, parseContract(listRequestSchema, body)), service.now()),
    get: async (id) => shownEntry(await service.get(context, id), service.now()),
    namespaces: async (after) => {
      const namespaces = await governance.reportNamespaces(context, { limit: MAX_PAGE_SIZE, after });
      const last = namespaces.length < MAX_PAGE_SIZE ? undefined : namespaces.at(-1);
      return { namespaces, nextCursor: last?.path ?? null };
    },
  };
}

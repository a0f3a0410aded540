import { entityTag } from '../../contract/entity-tag.ts';
import { shownHistory } from '../../contract/history.ts';
import { shownListPage } from '../../contract/list-page.ts';
import { type ShownEntry, shownEntry } from '../../contract/memory-entry.ts';
import type { memoryRoutes } from '../../contract/routes/memories.ts';
import { shownSupersedeResult } from '../../contract/supersede.ts';
import { shownWriteResult } from '../../contract/write-result.ts';
import type { MemoryEntry } from '../../core/types.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function memoryHandlers({ service }: HandlerParts): Pick<RouteHandlers, keyof typeof memoryRoutes> {
  const entryReply = (entry: MemoryEntry) => {
    const body: ShownEntry = shownEntry(entry, service.now());
    return { body, headers: { etag: entityTag(entry.version) } };
  };
  return {
    async createMemory({ context, body, ifNew }) {
      const result = await service.remember(context, body, { ifNew });
      const { id, version } = result.entry;
      return {
        status: result.operation === 'create' ? 201 : 200,
        headers: { location: `/v1/memories/${id}`, etag: entityTag(version) },
        body: shownWriteResult(result, service.now()),
      };
    },
    async createMemories({ context, body, ifNew }) {
      const results = await service.rememberMany(context, body.memories, { ifNew });
      const now = service.now();
      return { body: { results: results.map((result) => shownWriteResult(result, now)) } };
    },
    async listMemories({ context, query }) {
      return { body: shownListPage(await service.list(context, query), service.now()) };
    },
    getMemory: async ({ context, params }) => entryReply(await service.get(context, params.id)),
    updateMemory: async ({ context, params, body, ifVersion }) =>
      entryReply(await service.update(context, params.id, body, { ifVersion })),
    forgetMemory: async ({ context, params }) => entryReply(await service.forget(context, params.id)),
    restoreMemory: async ({ context, params }) => entryReply(await service.restore(context, params.id)),
    confirmMemory: async ({ context, params }) => entryReply(await service.confirm(context, params.id)),
    unconfirmMemory: async ({ context, params }) => entryReply(await service.unconfirm(context, params.id)),
    async purgeMemory({ context, params }) {
      await service.purge(context, params.id);
      return { body: undefined };
    },
    async supersedeMemory({ context, params, body }) {
      const result = await service.supersede(context, params.id, body);
      return { body: shownSupersedeResult(result, service.now()) };
    },
    async memoryHistory({ context, params }) {
      return { body: shownHistory(await service.history(context, params.id), service.now()) };
    },
  };
}

import { type ConfigOptions, loadConfig } from '../config/config.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import { LOCAL_OPERATOR } from '../service/local-operator.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { ReembedService } from '../service/reembed-service.ts';
import type { RequestContext } from '../service/request-context.ts';
import type { VectorIndexService } from '../service/vector-index-service.ts';
import type { CliParts, OpenedService } from './cli-parts.ts';

/** The command line acts as the operator of the store. */
const CONTEXT: RequestContext = { access: LOCAL_OPERATOR };

/** Opens the store a command was told, works with it, and closes it whatever happens. */
export async function withOpened<T>(
  parts: CliParts,
  options: ConfigOptions,
  work: (opened: OpenedService, context: RequestContext) => Promise<T>,
): Promise<T> {
  const opened = await parts.openMemory(loadConfig(options));
  try {
    return await work(opened, CONTEXT);
  } finally {
    await opened.close();
  }
}

/** The same for commands that work with entries, and what is decided about them. */
export function withService<T>(
  parts: CliParts,
  options: ConfigOptions,
  work: (service: MemoryService, context: RequestContext, governance: GovernanceService) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ service, governance }, context) => work(service, context, governance));
}

/** The same for commands that change the embedding model. */
export function withReembed<T>(
  parts: CliParts,
  options: ConfigOptions,
  work: (service: ReembedService, context: RequestContext) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ reembed }, context) => work(reembed, context));
}

/** The same for commands that build indexes of vectors. */
export function withIndexes<T>(
  parts: CliParts,
  options: ConfigOptions,
  work: (service: VectorIndexService, context: RequestContext) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ indexes }, context) => work(indexes, context));
}

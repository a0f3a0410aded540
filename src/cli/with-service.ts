import { type ConfigOptions, loadConfig } from '../config/config.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import { LOCAL_OPERATOR } from '../service/local-operator.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { ReembedService } from '../service/reembed-service.ts';
import type { RequestContext } from '../service/request-context.ts';
import type { VectorIndexService } from '../service/vector-index-service.ts';
import type { CliParts, OpenedService } from './cli-parts.ts';
import type { TenantOptions } from './tenant-options.ts';

/** Where a command's store is, and whose of it the command is about. */
type OpenOptions = ConfigOptions & Pick<TenantOptions, 'tenant'>;

/** The command line acts as the operator of the store, in another tenant where one is named. */
function contextOf({ tenant }: OpenOptions): RequestContext {
  const { principal } = LOCAL_OPERATOR;
  const tenantId = tenant ?? principal.tenantId;
  return { access: { ...LOCAL_OPERATOR, principal: { ...principal, tenantId } } };
}

/** Opens the store a command was told, works with it, and closes it whatever happens. */
export async function withOpened<T>(
  parts: CliParts,
  options: OpenOptions,
  work: (opened: OpenedService, context: RequestContext) => Promise<T>,
): Promise<T> {
  const opened = await parts.openMemory(loadConfig(options));
  try {
    return await work(opened, contextOf(options));
  } finally {
    await opened.close();
  }
}

/** The same for commands that work with entries, and what is decided about them. */
export function withService<T>(
  parts: CliParts,
  options: OpenOptions,
  work: (service: MemoryService, context: RequestContext, governance: GovernanceService) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ service, governance }, context) => work(service, context, governance));
}

/** The same for commands that change the embedding model. */
export function withReembed<T>(
  parts: CliParts,
  options: OpenOptions,
  work: (service: ReembedService, context: RequestContext) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ reembed }, context) => work(reembed, context));
}

/** The same for commands that build indexes of vectors. */
export function withIndexes<T>(
  parts: CliParts,
  options: OpenOptions,
  work: (service: VectorIndexService, context: RequestContext) => Promise<T>,
): Promise<T> {
  return withOpened(parts, options, ({ indexes }, context) => work(indexes, context));
}

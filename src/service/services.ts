import { NO_TELEMETRY } from '../core/telemetry.ts';
import { type Backfill, startBackfill } from './embeddings/backfill.ts';
import { createModelCatalog } from './embeddings/model-catalog.ts';
import { createModelRoles } from './embeddings/model-roles.ts';
import { createGovernanceService, type GovernanceService } from './governance-service.ts';
import { createMemoryService, type MemoryService } from './memory-service.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createReembedService, type ReembedService } from './reembed-service.ts';
import { atMostEvery } from './service-log.ts';
import type { ServiceParts, ServiceState } from './service-parts.ts';
import { startUpkeep } from './upkeep.ts';
import { createVectorIndexService, type VectorIndexService } from './vector-index-service.ts';

/** Everything that faces call, and its life. */
export interface Services {
  readonly memory: MemoryService;
  readonly governance: GovernanceService;
  readonly reembed: ReembedService;
  readonly indexes: VectorIndexService;
  /** How much of the audit and the traces waits, was written, and was lost. */
  readonly recorded: Recorder['counts'];
  /** Resolves when the reads and refusals so far are in the audit. */
  flush(): Promise<void>;
  /** Writes what waits. The store has to be open until then. */
  close(): Promise<void>;
}

/** For a process that leaves it to others. */
const NO_BACKFILL: Backfill = { kick() {}, async close() {} };

const LOG_CUTOFF_EVERY_MS = 60_000;

export function createServices(parts: ServiceParts): Services {
  const { log, telemetry = NO_TELEMETRY } = parts;
  const catalog = createModelCatalog(parts.models, log);
  const backfill = parts.backfills === false ? NO_BACKFILL : startBackfill({ ...parts, catalog });
  const recorder = createRecorder(parts);
  const state: ServiceState = {
    ...parts,
    catalog,
    roles: createModelRoles({ ...parts, catalog }),
    backfill,
    recorder,
    telemetry,
    warnOfCutoff: atMostEvery(LOG_CUTOFF_EVERY_MS, parts.clock, (count) =>
      log.warn('searches ran with a relative_cutoff that takes many legitimate hits', { count }),
    ),
  };
  const stopUpkeep = startUpkeep(parts);
  return {
    memory: createMemoryService(state),
    governance: createGovernanceService(state),
    reembed: createReembedService(state),
    indexes: createVectorIndexService(state),
    recorded: () => recorder.counts(),
    flush: () => recorder.flush(),
    async close() {
      await Promise.all([stopUpkeep(), recorder.close(), backfill.close()]);
      await catalog.close();
    },
  };
}

import { createGovernanceService, type GovernanceService } from './governance-service.ts';
import { createMemoryService, type MemoryService } from './memory-service.ts';
import { createModelRegistration } from './model-registration.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { atMostEvery } from './service-log.ts';
import type { ServiceParts, ServiceState } from './service-parts.ts';
import { startUpkeep } from './upkeep.ts';

/** Everything that faces call, and its life. */
export interface Services {
  readonly memory: MemoryService;
  readonly governance: GovernanceService;
  /** How much of the audit and the traces waits, was written, and was lost. */
  readonly recorded: Recorder['counts'];
  /** Resolves when the reads and refusals so far are in the audit. */
  flush(): Promise<void>;
  /** Writes what waits. The store has to be open until then. */
  close(): Promise<void>;
}

const LOG_CUTOFF_EVERY_MS = 60_000;

export function createServices(parts: ServiceParts): Services {
  const { store, embedding, log } = parts;
  const recorder = createRecorder(parts);
  const state: ServiceState = {
    ...parts,
    models: createModelRegistration(store, embedding.models),
    recorder,
    warnOfCutoff: atMostEvery(LOG_CUTOFF_EVERY_MS, parts.clock, (count) =>
      log.warn('searches ran with a relative_cutoff that takes many legitimate hits', { count }),
    ),
  };
  const stopUpkeep = startUpkeep(parts);
  return {
    memory: createMemoryService(state),
    governance: createGovernanceService(state),
    recorded: () => recorder.counts(),
    flush: () => recorder.flush(),
    async close() {
      await Promise.all([stopUpkeep(), recorder.close()]);
    },
  };
}

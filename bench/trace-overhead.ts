import { v7 as uuidv7 } from 'uuid';
import { toWireTrace } from '../src/contract/ranking-trace.ts';
import { BOOSTED_PROFILE, DEFAULT_PROFILE, WEIGHTED_PROFILE } from '../src/core/defaults.ts';
import { DEFAULT_RETENTION, type GovernanceStore } from '../src/core/governance.ts';
import type { JsonObject } from '../src/core/types.ts';
import { openModels } from '../src/embedding/open-models.ts';
import { createKeySecret } from '../src/identity/key-secret.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { SILENT_LOG } from '../src/service/service-log.ts';
import { createServices } from '../src/service/services.ts';
import { type OpenedStore, openStore } from '../src/store/open-store.ts';
import { utf8ByteCounter } from '../src/tokenizer/utf8-byte-counter.ts';
import { readCorpus } from './corpus.ts';
import { writeResult } from './measure.ts';
import { recallInTurns, timesAsLong } from './recall-turns.ts';
import { allStores, type BenchStore } from './stores.ts';

const ENTRIES = 6_000;
/** A recall whose trace and audit record are written takes at most this many times one that leaves nothing. */
const LIMIT = 1.1;

/** Recall as it is against recall whose trace and record are thrown away, on the same rows in one process. */
async function overheadOn({ backend, location }: BenchStore) {
  const { drafts, queries, name } = readCorpus('locomo');
  const opened = await openStore(location);
  const recording = servicesOn(opened, opened.governance);
  const silent = servicesOn(opened, recordingNothing(opened.governance));
  const context = { access: LOCAL_OPERATOR };
  for await (const _ of recording.memory.importEntries(context, drafts.slice(0, ENTRIES)));
  const [recorded, unrecorded] = await recallInTurns(
    [
      { service: recording.memory, context },
      { service: silent.memory, context },
    ],
    queries,
    async () => {
      await Promise.all([recording.flush(), silent.flush()]);
    },
  );
  const { written, dropped } = recording.recorded().reads;
  await recording.close();
  await silent.close();
  await opened.store.close();
  return {
    backend,
    corpus: name,
    entries: Math.min(ENTRIES, drafts.length),
    recordedMs: { ...recorded, timesUnrecorded: timesAsLong(recorded, unrecorded) },
    unrecordedMs: unrecorded,
    traces: { written, dropped },
  };
}

function servicesOn({ store, embeddings, indexes }: OpenedStore, governance: GovernanceStore) {
  return createServices({
    store,
    governance,
    embeddings,
    indexes,
    models: openModels({ mode: 'local', local: { provider: 'hashing' } }),
    backfills: false,
    tokenCounter: async () => utf8ByteCounter,
    clock: Date.now,
    newId: () => uuidv7(),
    newKey: createKeySecret,
    traceForm: (trace) => (governance.appendTraces === discard ? {} : (toWireTrace(trace) as JsonObject)),
    log: SILENT_LOG,
    profiles: new Map([BOOSTED_PROFILE, WEIGHTED_PROFILE].map((profile) => [profile.name, profile])),
    defaultProfile: DEFAULT_PROFILE.name,
    retention: DEFAULT_RETENTION,
  });
}

const discard: GovernanceStore['appendTraces'] = async () => {};

/** The same store, whose traces and read records go nowhere. */
function recordingNothing(governance: GovernanceStore): GovernanceStore {
  return new Proxy(governance, {
    get: (target, name) => {
      if (name === 'appendTraces') return discard;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

export async function run(): Promise<void> {
  const results = [];
  for (const store of await allStores()) {
    try {
      results.push(await overheadOn(store));
    } finally {
      await store.dispose();
    }
  }
  writeResult('trace-overhead', { limit: { timesUnrecorded: LIMIT }, results });
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { oneAtATime } from '../core/one-at-a-time.ts';
import type { ConnectionCounts, StoreSizes } from '../core/ports.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { EmbeddingObserver } from '../embedding/events.ts';
import { codeOf } from './outcome.ts';

/** What gauges are read from, when somebody looks. */
export interface MeasuredStore {
  /** Rejects where the database does not answer. */
  sizes(): Promise<StoreSizes>;
  connections(): ConnectionCounts;
  /** Reads and refusals on their way into the audit. */
  recorded(): Readonly<
    Record<
      'reads' | 'refusals',
      { readonly waiting: number; readonly written: number; readonly dropped: number }
    >
  >;
}

/** The measures of a process, for Prometheus. */
export interface Metrics {
  readonly telemetry: Telemetry;
  readonly observeEmbedding: EmbeddingObserver;
  /** From here on gauges are read from it. */
  watch(store: MeasuredStore): void;
  /** The measures now, in Prometheus' text format. It answers in time whatever the database does. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Forgets everything. */
  close(): void;
}

/** From a stage that takes 0.2 ms to a request that takes half a minute. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A database that is locked or gone must not hold up whoever asks how the process is. */
const SIZES_DEADLINE_MS = 3_000;

const NO_ROUTE = 'none';

/**
 * Labels are names of ours: patterns of routes, use cases, stages, error codes, models, tables. Nothing of a tenant, a
 * user, a namespace or a key is among them: metrics are kept for long, and read by many.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const store: { watched: MeasuredStore | undefined } = { watched: undefined };
  const lookAtStore = storeGauges(registry, () => store.watched);
  return {
    telemetry: measuringTelemetry(registry),
    observeEmbedding: embeddingMetrics(registry),
    watch: (watched) => {
      store.watched = { ...watched, sizes: oneAtATime(() => watched.sizes()) };
    },
    read: async () => {
      await lookAtStore();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    close: () => registry.clear(),
  };
}

function measuringTelemetry(registry: Registry): Telemetry {
  const registers = [registry];
  const requests = new Histogram({
    name: 'palimpsest_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: 'palimpsest_http_errors_total',
    help: 'Requests answered with an error, by its code.',
    labelNames: ['code'],
    registers,
  });
  const operations = new Histogram({
    name: 'palimpsest_operation_duration_seconds',
    help: 'Time of a use case, over whichever face it was called; outcome is ok or the code of its error.',
    labelNames: ['operation', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const stages = new Histogram({
    name: 'palimpsest_recall_stage_duration_seconds',
    help: 'Time of one stage of ranked reads; the stages are those of a trace.',
    labelNames: ['stage'],
    buckets: SECONDS,
    registers,
  });
  const recalls = new Counter({
    name: 'palimpsest_recalls_total',
    help: 'Ranked reads by the model that measured similarity, and whether they were degraded or not proven exact.',
    labelNames: ['model', 'degraded', 'exact'],
    registers,
  });
  const entries = new Counter({
    name: 'palimpsest_entries_written_total',
    help: 'Entries that were stored, and those that a repeated text refreshed.',
    labelNames: ['operation'],
    registers,
  });
  return {
    request({ method, route }) {
      const begun = performance.now();
      return {
        traceId: null,
        run: (work) => work(),
        end(status, code) {
          requests.observe({ method, route: route ?? NO_ROUTE, status }, secondsSince(begun));
          if (code !== null) refusals.inc({ code });
        },
      };
    },
    async step({ kind, name }, work) {
      const begun = performance.now();
      const note = (outcome: string) =>
        kind === 'operation'
          ? operations.observe({ operation: name, outcome }, secondsSince(begun))
          : stages.observe({ stage: name }, secondsSince(begun));
      try {
        const result = await work();
        note('ok');
        return result;
      } catch (error) {
        note(codeOf(error));
        throw error;
      }
    },
    recalled: ({ modelId, degraded, exact }) =>
      recalls.inc({ model: modelId ?? 'none', degraded: String(degraded), exact: String(exact) }),
    wrote: (operation, count) => entries.inc({ operation }, count),
  };
}

function embeddingMetrics(registry: Registry): EmbeddingObserver {
  const registers = [registry];
  const calls = new Histogram({
    name: 'palimpsest_embedding_call_duration_seconds',
    help: 'Time of calls for vectors, retries and waits included; outcome is ok or the kind of failure.',
    labelNames: ['model', 'purpose', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const texts = new Counter({
    name: 'palimpsest_embedding_texts_total',
    help: 'Texts that a model made vectors of.',
    labelNames: ['model', 'purpose'],
    registers,
  });
  const retries = new Counter({
    name: 'palimpsest_embedding_retries_total',
    help: 'Repeated attempts, by what the one before failed of.',
    labelNames: ['model', 'failure'],
    registers,
  });
  const open = new Gauge({
    name: 'palimpsest_embedding_circuit_open',
    help: '1 while a service is left alone after failures, 0 once it answered again; nothing before the first time.',
    labelNames: ['model'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'palimpsest_embedding_fallbacks_total',
    help: 'Queries that the fallback model answered.',
    labelNames: ['model', 'instead_of'],
    registers,
  });
  const missing = new Counter({
    name: 'palimpsest_embedding_missing_total',
    help: 'Documents stored without a vector of this model, which is filled in later.',
    labelNames: ['model'],
    registers,
  });
  return (event) => {
    const model = event.modelId;
    switch (event.kind) {
      case 'answered':
        calls.observe({ model, purpose: event.purpose, outcome: 'ok' }, event.durationMs / 1000);
        texts.inc({ model, purpose: event.purpose }, event.texts);
        return;
      case 'failed':
        calls.observe({ model, purpose: event.purpose, outcome: event.failure }, event.durationMs / 1000);
        return;
      case 'retry':
        retries.inc({ model, failure: event.failure });
        return;
      case 'circuit_open':
        open.set({ model }, 1);
        return;
      case 'circuit_closed':
        open.set({ model }, 0);
        return;
      case 'fallback':
        fallbacks.inc({ model, instead_of: event.insteadOf });
        return;
      case 'missing':
        missing.inc({ model }, event.documents);
    }
  };
}

/**
 * @returns Reads the gauges that the database is asked for. Not their `collect`: the registry reads all metrics at
 *   once, and would have shown what stood there before.
 */
function storeGauges(registry: Registry, watched: () => MeasuredStore | undefined): () => Promise<void> {
  const registers = [registry];
  connectionGauge(registry, watched);
  recorderMetrics(registry, watched);
  const rows = new Gauge({
    name: 'palimpsest_table_rows',
    help: "Rows of a table, as the database's statistics estimate them.",
    labelNames: ['table'],
    registers,
  });
  const tableBytes = new Gauge({
    name: 'palimpsest_table_bytes',
    help: 'Disk that a table takes, without its indexes.',
    labelNames: ['table'],
    registers,
  });
  const indexBytes = new Gauge({
    name: 'palimpsest_index_bytes',
    help: 'Disk that an index takes.',
    labelNames: ['table', 'index'],
    registers,
  });
  const up = new Gauge({
    name: 'palimpsest_store_up',
    help: '1 where the database answered this very question, else 0; then sizes are missing.',
    registers,
  });
  return async () => {
    const store = watched();
    const sizes = store === undefined ? null : await withinDeadline(store.sizes());
    for (const gauge of [rows, tableBytes, indexBytes]) gauge.reset();
    up.set(sizes === null ? 0 : 1);
    for (const { table, estimatedRows, bytes } of sizes?.tables ?? []) {
      if (estimatedRows !== null) rows.set({ table }, estimatedRows);
      tableBytes.set({ table }, bytes);
    }
    for (const { table, index, bytes } of sizes?.indexes ?? []) indexBytes.set({ table, index }, bytes);
  };
}

function connectionGauge(registry: Registry, watched: () => MeasuredStore | undefined): void {
  new Gauge({
    name: 'palimpsest_store_connections',
    help: 'Connections to the database: open, idle, the most there may be; waiting: work that has none yet.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(watched()?.connections() ?? {})) this.set({ state }, count);
    },
  });
}

function recorderMetrics(registry: Registry, watched: () => MeasuredStore | undefined): void {
  const recorded = () => Object.entries(watched()?.recorded() ?? {});
  new Gauge({
    name: 'palimpsest_audit_waiting',
    help: 'Reads and refusals that are not yet in the audit.',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      for (const [what, { waiting }] of recorded()) this.set({ what }, waiting);
    },
  });
  for (const [count, help] of [
    ['written', 'Reads and refusals written to the audit.'],
    ['dropped', 'Reads and refusals that the database did not take in time, and that are lost.'],
  ] as const) {
    const seen = new Map<string, number>();
    new Counter({
      name: `palimpsest_audit_${count}_total`,
      help,
      labelNames: ['what'],
      registers: [registry],
      collect() {
        for (const [what, counts] of recorded()) {
          this.inc({ what }, counts[count] - (seen.get(what) ?? 0));
          seen.set(what, counts[count]);
        }
      },
    });
  }
}

/** Null where the database fails or takes too long: the gauge says so, and whoever waits for it has its own errors. */
async function withinDeadline<T>(answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, SIZES_DEADLINE_MS, null);
  });
  try {
    return await Promise.race([answer.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}

import { type EmbeddingState, embeddingPlan, type KnownModel } from '../../core/embedding-state.ts';
import type { Asking } from '../../core/policy.ts';
import type { CandidateQuery, EmbeddedQuery, ReadView } from '../../core/ports.ts';
import type { TracedMeasure } from '../../core/ranking/trace.ts';
import type { ServiceState } from '../service-parts.ts';

/** A part of a scope with what its similarity is measured by. */
export type MeasuredSource = Pick<CandidateQuery, 'namespaces' | 'query' | 'words'>;

/** How the similarity of a whole scope is measured. */
export interface Measured {
  readonly sources: readonly MeasuredSource[];
  readonly measures: readonly TracedMeasure[];
}

/** Finds out how a query is measured in these namespaces, in the state that the view sees. */
export type Measure = (namespaces: readonly string[]) => Promise<Measured>;

export interface MeasuredRead<T> {
  /** Runs what asks a model, such as under a stopwatch. */
  readonly embed: <Answer>(work: () => Promise<Answer>) => Promise<Answer>;
  readonly work: (view: ReadView, measure: Measure) => Promise<T>;
}

/**
 * Reads the store with a query that is measured as that very state says. A model is asked outside of the read, which
 * holds a snapshot and a connection: the models that were needed last time first. Where the read finds that it
 * needs another one, after a switch or for namespaces with a model of their own, it ends, and begins again with
 * that model's answer.
 *
 * @throws PalimpsestError `embedding_failed` where the model and its fallback do not answer
 */
export async function readMeasured<T>(
  state: ServiceState,
  tenantId: string,
  asking: Asking,
  query: string | undefined,
  { embed, work }: MeasuredRead<T>,
): Promise<T> {
  if (query === undefined) return state.store.read(asking, (view) => work(view, measureNothing));
  const answers: Answers = new Map();
  const ask = (models: readonly KnownModel[]) => embed(() => askModels(state, query, models, answers));
  await ask(expectedModels(state, tenantId));
  for (;;) {
    const missing: KnownModel[] = [];
    const measureIn = (view: ReadView): Measure => {
      return async (namespaces) => {
        const seen = await view.embeddingState();
        state.roles.saw(tenantId, seen);
        const groups = groupByModel(seen, namespaces);
        missing.push(...unanswered(groups, answers));
        if (missing.length > 0) throw new ModelsMissing();
        return measureGroups(view, query, groups, answers, seen.waitingModels);
      };
    };
    try {
      return await state.store.read(asking, (view) => work(view, measureIn(view)));
    } catch (error) {
      if (!(error instanceof ModelsMissing)) throw error;
      // Each round has the answer of at least one model more, and those of a state are few.
      await ask(missing);
    }
  }
}

/** Ends a read that needs the answers of more models. */
class ModelsMissing extends Error {
  override readonly name = 'ModelsMissing';
}

const measureNothing: Measure = async (namespaces) => ({
  sources: namespaces.length === 0 ? [] : [{ namespaces }],
  measures: [],
});

/** What each model said about the query: null where this process can not ask it. */
type Answers = Map<string, EmbeddedQuery | null>;

async function askModels(
  { catalog }: ServiceState,
  query: string,
  models: readonly KnownModel[],
  answers: Answers,
): Promise<void> {
  await Promise.all(
    models.map(async (model) => {
      answers.set(model.modelId, (await catalog.forQueries(model)?.embedQuery(query)) ?? null);
    }),
  );
}

/** What is probably needed. Wrong guesses cost time, never a wrong answer. */
function expectedModels({ roles, catalog }: ServiceState, tenantId: string): KnownModel[] {
  const seen = roles.lastSeen(tenantId);
  if (seen === null) {
    const [primary] = catalog.configured.models;
    return primary === undefined ? [] : [{ ...primary, settings: null }];
  }
  const active = seen.assignments.filter(({ role }) => role === 'active');
  // Of several, the scope decides which are needed.
  return active.length === 1 ? active.map(({ model }) => model) : [];
}

interface Group {
  /** Null where searches have no model yet. */
  readonly model: KnownModel | null;
  readonly namespaces: string[];
}

function groupByModel(state: EmbeddingState, namespaces: readonly string[]): Group[] {
  const plan = embeddingPlan(state);
  const groups = new Map<string | null, Group>();
  for (const namespace of namespaces) {
    const model = plan.active(namespace);
    const key = model?.modelId ?? null;
    const group = groups.get(key) ?? { model, namespaces: [] };
    group.namespaces.push(namespace);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function unanswered(groups: readonly Group[], answers: Answers): KnownModel[] {
  return groups.flatMap(({ model }) => (model === null || answers.has(model.modelId) ? [] : [model]));
}

async function measureGroups(
  view: ReadView,
  query: string,
  groups: readonly Group[],
  answers: Answers,
  waitingModels: readonly string[],
): Promise<Measured> {
  const sources: MeasuredSource[] = [];
  const measures: TracedMeasure[] = [];
  for (const { model, namespaces } of groups) {
    const answer = model === null ? null : (answers.get(model.modelId) ?? null);
    // One group is the whole scope, which the trace names anyway.
    const named = groups.length === 1 ? null : namespaces;
    if (answer === null) {
      sources.push({ namespaces, words: query });
      measures.push({ modelId: null, insteadOf: model?.modelId ?? null, namespaces: named, waiting: 0 });
      continue;
    }
    const { modelId, vector, insteadOf } = answer;
    const waiting = waitingModels.includes(modelId) ? await view.waitingEntries(modelId, namespaces) : 0;
    sources.push({ namespaces, query: { modelId, vector } });
    measures.push({ modelId, insteadOf, namespaces: named, waiting });
  }
  return { sources, measures };
}

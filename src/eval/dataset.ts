import { join } from 'node:path';
import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';
import { type JsonLine, readJsonLines } from './json-lines.ts';

/** One stored text of a data set. Fields beyond these are allowed in the file and not read. */
export interface EvaluationEntry {
  readonly id: string;
  readonly namespace: string;
  readonly content: string;
  readonly speaker: string | null;
}

/** One question with its judgements (qrels). */
export interface EvaluationQuery {
  readonly id: string;
  /** Search is held inside this namespace. */
  readonly namespace: string;
  readonly query: string;
  /** Empty for a question that is unanswerable or was never judged: no measure is taken of it. */
  readonly relevant: ReadonlySet<string>;
  readonly category: string | null;
}

export interface Dataset {
  readonly entries: readonly EvaluationEntry[];
  readonly queries: readonly EvaluationQuery[];
}

/**
 * Reads `corpus.jsonl` and `queries.jsonl` of a folder and checks that they fit together.
 *
 * @throws PalimpsestError `invalid_input` that names file, line and field.
 */
export async function readDataset(folder: string): Promise<Dataset> {
  const entries = await uniqueById(readEntries(join(folder, 'corpus.jsonl')));
  const queries = await uniqueById(readQueries(join(folder, 'queries.jsonl')));
  requireJudgementsInNamespace(entries, queries);
  return { entries: [...entries.values()], queries: [...queries.values()] };
}

async function* readEntries(path: string): AsyncGenerator<EvaluationEntry> {
  for await (const line of readJsonLines(path)) {
    const fields = objectOf(line);
    yield {
      id: textOf(line, fields, 'id'),
      namespace: textOf(line, fields, 'namespace'),
      content: textOf(line, fields, 'content'),
      speaker: optionalTextOf(line, fields, 'speaker'),
    };
  }
}

async function* readQueries(path: string): AsyncGenerator<EvaluationQuery> {
  for await (const line of readJsonLines(path)) {
    const fields = objectOf(line);
    yield {
      id: textOf(line, fields, 'id'),
      namespace: textOf(line, fields, 'namespace'),
      query: textOf(line, fields, 'query'),
      relevant: new Set(textsOf(line, fields, 'relevant')),
      category: optionalTextOf(line, fields, 'category'),
    };
  }
}

async function uniqueById<T extends { readonly id: string }>(
  items: AsyncIterable<T>,
): Promise<Map<string, T>> {
  const byId = new Map<string, T>();
  for await (const item of items) {
    if (byId.has(item.id))
      throw invalidInput(`The id ${excerpt(item.id)} stands twice in the data set.`, { got: item.id });
    byId.set(item.id, item);
  }
  return byId;
}

/** A judgement that search can never meet would lower every measure without a sign. */
function requireJudgementsInNamespace(
  entries: ReadonlyMap<string, EvaluationEntry>,
  queries: ReadonlyMap<string, EvaluationQuery>,
): void {
  for (const query of queries.values()) {
    for (const id of query.relevant) {
      const namespace = entries.get(id)?.namespace;
      if (namespace === query.namespace) continue;
      const fault =
        namespace === undefined ? 'which the corpus does not hold' : `which is in namespace ${namespace}`;
      throw invalidInput(
        `Query ${query.id} of namespace ${query.namespace} calls ${id} relevant, ${fault}.`,
        {
          path: 'relevant',
          got: id,
          allowed: "ids of the corpus in the query's own namespace",
        },
      );
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

function objectOf(line: JsonLine): Fields {
  const { value, place } = line;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw invalidInput(`${place} is ${excerpt(value)}, not an object.`, {
    got: excerpt(value),
    allowed: 'a JSON object',
  });
}

function wrongField(line: JsonLine, name: string, value: unknown, allowed: string): PalimpsestError {
  const got = value === undefined ? 'nothing' : excerpt(value);
  return invalidInput(`${line.place}: "${name}" is ${got}; it must be ${allowed}.`, {
    path: name,
    got,
    allowed,
  });
}

function textOf(line: JsonLine, fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw wrongField(line, name, value, 'text that is not blank');
}

function optionalTextOf(line: JsonLine, fields: Fields, name: string): string | null {
  const value = fields[name];
  return value === undefined || value === null ? null : textOf(line, fields, name);
}

function textsOf(line: JsonLine, fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw wrongField(line, name, value, 'a list of texts');
}

import type { ListNamespacesOperation, MatchCondition } from '@langchain/langgraph-checkpoint';
import { MAX_PAGE_SIZE } from '../../core/defaults.ts';
import { invalidInput } from '../../core/errors.ts';
import { compareCodeUnits } from '../../core/text-order.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { scopeBelow } from './entry-pages.ts';
import { count } from './item-reader.ts';
import { labelsOfPath, pathOfLabels } from './label-path.ts';

/** In a condition: any one label. */
const ANY_LABEL = '*';
/** The same in a pattern. */
const ANY_SEGMENT = '$' + '{label}';

/** The namespaces that hold items and meet every condition, cut to `maxDepth` labels, each once, in order. */
export async function listItemNamespaces(
  memory: Pick<MemoryBackend, 'namespaces'>,
  root: string,
  operation: ListNamespacesOperation,
): Promise<string[][]> {
  const { matchConditions = [], maxDepth } = operation;
  const offset = count(operation.offset ?? 0, 'offset');
  const depth = maxDepth === undefined ? Number.POSITIVE_INFINITY : count(maxDepth, 'maxDepth');
  if (depth === 0) {
    throw invalidInput('maxDepth: 0 labels name no namespace; allowed: at least 1.', {
      path: 'maxDepth',
      got: 0,
      allowed: 'a whole number of at least 1',
    });
  }
  const found = new Map<string, string[]>();
  for await (const labels of namespacesBelow(memory, root, matchConditions)) {
    if (!matchConditions.every((condition) => meets(labels, condition))) continue;
    const cut = labels.slice(0, depth);
    found.set(JSON.stringify(cut), cut);
  }
  const limit = operation.limit === undefined ? found.size : count(operation.limit, 'limit');
  return [...found.values()].sort(compareLabels).slice(offset, offset + limit);
}

async function* namespacesBelow(
  memory: Pick<MemoryBackend, 'namespaces'>,
  root: string,
  conditions: readonly MatchCondition[],
): AsyncGenerator<string[]> {
  const namespace = scopeOfConditions(root, conditions);
  let cursor: string | undefined;
  do {
    const page = await memory.namespaces({ namespace, limit: MAX_PAGE_SIZE, cursor });
    for (const { path, liveCount } of page.namespaces) {
      const labels = liveCount === 0 ? null : labelsOfPath(root, path);
      if (labels !== null) yield labels;
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** The longest prefix narrows what is read; all conditions are looked at afterwards. */
function scopeOfConditions(root: string, conditions: readonly MatchCondition[]): string[] {
  const [longest] = conditions
    .filter(({ matchType, path }) => matchType === 'prefix' && path.length > 0)
    .sort((a, b) => b.path.length - a.path.length);
  if (longest === undefined) return [`${root}.*`];
  const segments = longest.path.map((label) =>
    label === ANY_LABEL ? ANY_SEGMENT : pathOfLabels(root, [label]).slice(root.length + 1),
  );
  return scopeBelow([root, ...segments].join('.'));
}

function meets(labels: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (matchType !== 'prefix' && matchType !== 'suffix') {
    throw invalidInput(`matchType: ${String(matchType)} is not a way to match; allowed: prefix, suffix.`, {
      path: 'matchType',
      allowed: ['prefix', 'suffix'],
    });
  }
  if (path.length > labels.length) return false;
  const start = matchType === 'prefix' ? 0 : labels.length - path.length;
  return path.every((wanted, index) => wanted === ANY_LABEL || wanted === labels[start + index]);
}

function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (const [index, label] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareCodeUnits(label, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

import { listRequestSchema } from '../contract/list-request.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { DEFAULT_TOOL_TOKEN_BUDGET, toolEntrySchema } from '../contract/tools/tool-fields.ts';
import { toWire } from '../contract/wire-form.ts';
import { excerpt, notFound, type PalimpsestError } from '../core/errors.ts';
import { jsonText } from '../core/json-text.ts';
import type { TokenCounter } from '../core/ports.ts';
import { listAnswer } from './tool-answers.ts';
import type { ToolBackend } from './tool-backend.ts';

const MEMORY_PREFIX = 'palimpsest://memory/';
const NAMESPACE_PREFIX = 'palimpsest://namespace/';
const MIME_TYPE = 'application/json';

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${MEMORY_PREFIX}{id}`,
    name: 'memory',
    title: 'A memory',
    description: 'One memory whole, whatever has become of it: lifecycle says.',
    mimeType: MIME_TYPE,
  },
  {
    uriTemplate: `${NAMESPACE_PREFIX}{path}{?cursor}`,
    name: 'namespace',
    title: 'A namespace',
    description:
      'The newest memories of one namespace. Where next_cursor is not null, the same address with ?cursor= has the next.',
    mimeType: MIME_TYPE,
  },
];

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

/** One page of the namespaces there are. Memories are not listed: there may be millions. */
export async function listResources(
  backend: ToolBackend,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const { namespaces, nextCursor } = await backend.namespaces(cursor);
  const resources = namespaces.map(({ path, liveCount }) => ({
    uri: NAMESPACE_PREFIX + encodeURIComponent(path),
    name: path,
    description: `${liveCount} ${liveCount === 1 ? 'memory' : 'memories'}`,
    mimeType: MIME_TYPE,
  }));
  return { resources, ...(nextCursor === null ? {} : { nextCursor }) };
}

export interface ResourceParts {
  readonly backend: ToolBackend;
  readonly counter: () => Promise<TokenCounter>;
}

/**
 * Reads a resource as JSON text.
 *
 * @throws PalimpsestError `not_found` for an address that names nothing
 */
export async function readResource(uri: string, { backend, counter }: ResourceParts): Promise<string> {
  if (uri.startsWith(MEMORY_PREFIX)) {
    const entry = await backend.get(decoded(uri.slice(MEMORY_PREFIX.length)));
    return jsonText(toWire(toolEntrySchema, entry));
  }
  if (!uri.startsWith(NAMESPACE_PREFIX)) throw unknownResource(uri);
  const [path = '', query = ''] = uri.slice(NAMESPACE_PREFIX.length).split('?', 2);
  const cursor = new URLSearchParams(query).get('cursor') ?? undefined;
  const body = { namespaces: [decoded(path)], ...(cursor === undefined ? {} : { cursor }) };
  parseContract(listRequestSchema, body);
  const page = await backend.list(body);
  return jsonText(listAnswer(page, { budget: DEFAULT_TOOL_TOKEN_BUDGET, counter: await counter() }));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw unknownResource(part);
  }
}

function unknownResource(uri: string): PalimpsestError {
  return notFound('resource', excerpt(uri));
}

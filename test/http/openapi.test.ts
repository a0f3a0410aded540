import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseContract } from '../../src/contract/parse-contract.ts';
import { commonErrors, type RouteDefinition } from '../../src/contract/routes/route.ts';
import { ROUTES } from '../../src/contract/routes/routes.ts';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { openTestHttp, type TestHttp } from '../helpers/test-http.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly $ref?: string; readonly in?: string; readonly name?: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: object; readonly headers: object }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const EVERY_ROUTE: [string, RouteDefinition][] = Object.entries(ROUTES);

let http: TestHttp;
let document: Document;

beforeAll(async () => {
  // Nobody's key is needed to read what the API is.
  http = await openTestHttp({ asksForKeys: true });
  document = (await http.get('/openapi.json')).json();
});

afterAll(() => http.close());

test('it is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(
    structuredClone(document) as object as Record<string, unknown>,
  );
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(document.openapi).toMatch(/^3\.1\./);
});

test('the validator sees what is wrong', async () => {
  const broken = { ...document, paths: { '/x': { get: { responses: { 200: {} } } } } };
  expect((await new Validator().validate(broken as object as Record<string, unknown>)).valid).toBe(false);
});

test('every reference leads somewhere, and components have names of their own', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path]) => path ?? '',
  );
  expect(references.length).toBeGreaterThan(100);
  for (const path of new Set(references)) {
    const found = path
      .split('/')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
    expect(found, path).toBeDefined();
  }
  expect(Object.keys(document.components.schemas).filter((name) => name.startsWith('_'))).toEqual([]);
});

test('it describes the routes of the table and no other', () => {
  const described = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(described.toSorted()).toEqual(Object.keys(ROUTES).toSorted());
});

describe.each(EVERY_ROUTE)('%s', (name, route) => {
  const operation = (): Operation => {
    const found = document.paths[route.path]?.[route.method.toLowerCase()];
    return found ?? expect.unreachable('the route is not described');
  };

  test('documents its answers and each of its refusals', () => {
    const { operationId, responses } = operation();
    expect(operationId).toBe(name);
    for (const [status, description] of Object.entries(route.answers)) {
      expect(responses[status]?.description).toBe(description);
    }
    for (const code of [...commonErrors(route), ...route.errors]) {
      const response = responses[ERROR_CODES[code].status];
      expect(response?.description, code).toContain(`\`${code}\``);
      expect(JSON.stringify(response?.content)).toContain('#/components/schemas/Error');
    }
    if (route.hasEtag === true) expect(Object.values(responses)[0]?.headers).toHaveProperty('etag');
  });

  test('documents what it takes', () => {
    const { parameters, requestBody } = operation();
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    expect(
      parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
    ).toEqual(inPath);
    expect(requestBody === undefined).toBe(route.body === undefined);
    const headers = parameters.map(({ $ref }) => $ref?.split('/').at(-1));
    expect(headers).toContain('AgentId');
    expect(headers.includes('IdempotencyKey')).toBe(route.takesIdempotencyKey === true);
    expect(headers.includes('IfMatch')).toBe(route.takesIfMatch === true);
    expect(headers.includes('IfNoneMatch')).toBe(route.takesIfNoneMatch === true);
  });

  test('has an example that its own schemas accept', () => {
    const { params, query, body, example = {} } = route;
    if (params !== undefined) expect(() => parseContract(params, example.params)).not.toThrow();
    if (example.query !== undefined) {
      const fields = Object.fromEntries(
        [...new Set(new URLSearchParams(example.query).keys())].map((key) => {
          const values = new URLSearchParams(example.query).getAll(key);
          return [key, values.length === 1 ? values[0] : values];
        }),
      );
      expect(query).toBeDefined();
      if (query !== undefined) expect(() => parseContract(query, fields)).not.toThrow();
    }
    if (body !== undefined && route.bodyForm !== 'json_lines') {
      expect(example.body, 'a body needs an example').toBeDefined();
      expect(() => parseContract(body, example.body)).not.toThrow();
    }
  });
});

describe('the page at /docs', () => {
  test('is of this server alone', async () => {
    const page = await http.get('/docs/');
    expect(page.statusCode).toBe(200);
    expect(page.headers['content-type']).toContain('text/html');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    // The browser loads nothing from elsewhere, whatever the page asks for.
    expect(policy).not.toMatch(/https?:|\*/);
    const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
    expect(loaded.length).toBeGreaterThan(3);
    for (const url of loaded) {
      expect(url).not.toMatch(/^(?:https?:)?\/\//);
      const asset = await http.get(new URL(url, 'http://127.0.0.1/docs/').pathname);
      expect(asset.statusCode, url).toBe(200);
      expect(asset.headers['content-security-policy'], url).toBe(policy);
    }
    const start = await http.get('/docs/static/swagger-initializer.js');
    expect(start.body).toContain('validatorUrl: null');
    expect((await http.get('/docs/json')).json()).toEqual(document);
  });

  test('is reached without its slash too', async () => {
    expect([200, 302]).toContain((await http.get('/docs')).statusCode);
  });
});

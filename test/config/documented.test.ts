import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8');

test('the configuration that the documentation shows is one', () => {
  const [, example] = /```json\n([\s\S]*?)```/.exec(PAGE) ?? [];
  expect(loadConfig({ config: 'documented.json' }, {}, () => example)).toMatchObject({
    http: { port: 8080, corsOrigins: ['https://console.example.com'] },
    identity: { mode: 'required' },
    embedding: { mode: 'local', local: { provider: 'minilm' } },
    warnings: [],
  });
});

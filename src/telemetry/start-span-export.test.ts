import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SDK_PACKAGES } from './start-span-export.ts';

const ROOT = join(import.meta.dirname, '..', '..');

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

test('the command that installs the SDK is the one that the manifest and the documentation name', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const peers = Object.entries(manifest.peerDependencies).filter(([name]) =>
    name.startsWith('@opentelemetry/'),
  );
  expect(peers.map(([name, range]) => `${name}@${range}`).sort()).toEqual([...SDK_PACKAGES].sort());
  for (const [name] of peers) expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
  const page = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
  expect(page).toContain(`npm install ${SDK_PACKAGES.join(' ')}\n`);
});

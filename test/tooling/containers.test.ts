import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { ENVIRONMENT_NAMES } from '../../src/config/config.ts';

/** Images can't be built where these tests run; what can be checked without building is checked here. */

const ROOT = join(import.meta.dirname, '..', '..');
const CONTAINERFILE = readFileSync(join(ROOT, 'Containerfile'), 'utf8');
const COMPOSE = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>;
};

test('the Containerfile has no mistake that its linter knows', () => {
  expect(validate(CONTAINERFILE)).toEqual([]);
  expect(validate('FORM node')).not.toEqual([]);
});

test('the compose file has no mistake that its linter knows', () => {
  const linter = join(ROOT, 'node_modules', '.bin', 'dclint');
  // Which quotes are written is the formatter's to say.
  const rules = ['--max-warnings', '0', '--disable-rule', 'require-quotes-in-ports'];
  const { status, stdout, stderr } = spawnSync(linter, ['compose.yaml', ...rules], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
});

test('the image has the Node that the project is tested with', () => {
  const [major] = (PACKAGE.devDependencies.node ?? '').split('.');
  const images = [...CONTAINERFILE.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(images).toHaveLength(2);
  for (const image of images) expect(image).toMatch(new RegExp(`^node:${major}-`));
});

test('what the image is built from and starts is there', () => {
  const named = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(named).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'scripts', 'src']));
});

test('both set only variables that the server reads', () => {
  const set = [CONTAINERFILE, COMPOSE].flatMap((file) => file.match(/\bPALIMPSEST_\w+(?=[=:])/g) ?? []);
  expect(set.length).toBeGreaterThan(3);
  expect(set.filter((name) => !ENVIRONMENT_NAMES.includes(name))).toEqual([]);
});

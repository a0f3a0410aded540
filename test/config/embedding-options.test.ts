import { expect, test } from 'vitest';
import { EMBEDDING_SETTINGS } from '../../src/config/embedding-config.ts';
import type { Fields } from '../../src/config/form.ts';
import { PROVIDER_OPTIONS } from '../../src/embedding/provider-config.ts';
import { EMBEDDING_PROVIDER_NAMES } from '../../src/embedding/registry.ts';
import { DEFAULT_CALL_POLICY } from '../../src/embedding/remote/resilient-calls.ts';

/** The configuration may not import the providers, so that what it knows of their options is compared here. */

const PROVIDER_FIELDS: Fields = EMBEDDING_SETTINGS.local.form.fields ?? {};

const inFile = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test('the file takes every option of every provider, and no other', () => {
  const options = new Set(Object.values(PROVIDER_OPTIONS).flat().map(inFile));
  expect(Object.keys(PROVIDER_FIELDS).sort()).toEqual([...options, 'provider', 'cache'].sort());
});

test('the file takes everything that is said of calls', () => {
  const calls = PROVIDER_FIELDS.calls?.form.fields ?? {};
  expect(Object.keys(calls).sort()).toEqual(Object.keys(DEFAULT_CALL_POLICY).map(inFile).sort());
});

test('the defaults that the documentation names are those of the calls', () => {
  const calls = PROVIDER_FIELDS.calls?.form.fields ?? {};
  for (const [name, value] of Object.entries(DEFAULT_CALL_POLICY)) {
    expect(calls[inFile(name)]?.standard, name).toBe(String(value));
  }
});

test('every provider is named', () => {
  const allowed = PROVIDER_FIELDS.provider?.form.allowed ?? '';
  for (const name of EMBEDDING_PROVIDER_NAMES) expect(allowed).toContain(name);
});

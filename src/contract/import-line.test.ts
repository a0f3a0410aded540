import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import type { MemoryEntry } from '../core/types.ts';
import { parseImportLine } from './import-line.ts';
import { toWireEntry } from './memory-entry.ts';

test('a line of a data set: id becomes the source, speaker goes to the metadata', () => {
  const line = {
    id: 'conv-1:D1:1',
    namespace: 'conv-1',
    content: 'Hello.',
    observed_at: '2023-05-08T13:56:00Z',
    speaker: 'Ada',
    metadata: { session: 1 },
  };
  expect(parseImportLine(line, undefined)).toMatchObject([
    {
      namespace: 'conv-1',
      content: 'Hello.',
      source: { kind: 'import', ref: 'conv-1:D1:1' },
      metadata: { session: 1, speaker: 'Ada' },
      observedAt: new Date('2023-05-08T13:56:00Z'),
    },
  ]);
});

test('a speaker the metadata names already is not overwritten', () => {
  const line = { namespace: 'a', content: 'x', speaker: 'Ada', metadata: { speaker: 'Bob' } };
  expect(parseImportLine(line, undefined)[0]?.metadata).toEqual({ speaker: 'Bob' });
});

test('the default namespace is for lines without one', () => {
  expect(parseImportLine({ content: 'x' }, 'fallback')[0]?.namespace).toBe('fallback');
  expect(parseImportLine({ content: 'x', namespace: 'own' }, 'fallback')[0]?.namespace).toBe('own');
  expect(refusal(() => parseImportLine({ content: 'x' }, undefined)).details[0]?.path).toBe('namespace');
});

const ENTRY: MemoryEntry = {
  id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f',
  tenantId: 'default',
  ownerId: null,
  createdBy: 'local',
  namespace: 'team.notes',
  type: 'decision',
  content: 'We deploy on Tuesdays.',
  contentHash: 'a'.repeat(64),
  metadata: { userName: 1, 'a.b': [null] },
  tags: ['ops'],
  source: { kind: 'chat', ref: '4711' },
  importance: 0,
  status: 'confirmed',
  confirmedAt: new Date(1),
  confirmedBy: 'local',
  supersededBy: null,
  supersededAt: null,
  observedAt: new Date('2026-05-02T09:30:00.123Z'),
  createdAt: new Date(2),
  updatedAt: new Date(3),
  expiresAt: new Date('2099-01-01T00:00:00Z'),
  deletedAt: null,
  accessCount: 4,
  validatedAccessCount: 5,
  version: 6,
};

test('an exported entry comes back with all that a draft can say', () => {
  const { namespace, type, content, metadata, tags, source, importance, observedAt, expiresAt } = ENTRY;
  expect(parseImportLine(toWireEntry(ENTRY, 0), undefined)).toEqual([
    { namespace, type, content, metadata, tags, source, importance, observedAt, expiresAt },
  ]);
});

test('an exported entry without a source stays without one', () => {
  expect(parseImportLine(toWireEntry({ ...ENTRY, source: null }, 0), undefined)[0]?.source).toBeUndefined();
});

test('a content too long for an entry becomes several, and nothing of it is lost', () => {
  const content = `${'word '.repeat(20_000)}end`;
  const drafts = parseImportLine({ id: 7, namespace: 'a', content, metadata: { k: 1 } }, undefined);
  // 100,003 bytes in parts of at most 65,536
  expect(drafts.map((draft) => draft.metadata)).toEqual([
    { k: 1, part: 1, parts: 2 },
    { k: 1, part: 2, parts: 2 },
  ]);
  expect(drafts.map((draft) => draft.content).join('')).toBe(content);
  expect(drafts.map((draft) => draft.source?.ref)).toEqual(['7', '7']);
});

test('equal parts of a long content are one entry that names all their places', () => {
  // 200,000 bytes: three parts of 65,536, and a rest of 3,392.
  const drafts = parseImportLine({ namespace: 'a', content: 'é'.repeat(100_000) }, undefined);
  expect(drafts.map(({ content }) => content.length)).toEqual([32_768, 1_696]);
  expect(drafts.map(({ metadata }) => metadata)).toEqual([
    { part: [1, 2, 3], parts: 4 },
    { part: 4, parts: 4 },
  ]);
});

test('blank parts of a long content are left out, and what is left is stored', () => {
  const drafts = parseImportLine({ namespace: 'a', content: `${' '.repeat(70_000)}x` }, undefined);
  expect(drafts).toHaveLength(1);
  expect(drafts[0]?.content.trim()).toBe('x');
  expect(drafts[0]?.metadata).toEqual({ part: 2, parts: 2 });
});

test.each<[string, unknown]>([
  ['contents', { namespace: 'a', content: 'x', contents: 'y' }],
  ['content', { namespace: 'a', content: ' ' }],
  ['id', { namespace: 'a', content: 'x', id: 'a\u0000' }],
  ['metadata.speaker', { namespace: 'a', content: 'x', speaker: '\u0000' }],
  ['observed_at', { namespace: 'a', content: 'x', observed_at: 'yesterday' }],
])('refused, naming %s: %j', (path, line) => {
  expect(refusal(() => parseImportLine(line, undefined)).details[0]?.path).toBe(path);
});

test('a line that is no object is refused', () => {
  for (const line of [null, 5, 'text', [1]]) {
    expect(refusal(() => parseImportLine(line, 'a')).message).toContain('allowed: an object');
  }
});

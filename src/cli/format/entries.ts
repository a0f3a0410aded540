import type { WireEntry } from '../../contract/memory-entry.ts';
import { printable, printableLine } from './printable.ts';
import { textTable } from './table.ts';

/** Characters of a content that a table shows. */
const SHOWN_CONTENT = 240;

/** What a table says under an entry's content, so that the next command can name it. */
export function entryCell(entry: WireEntry): string {
  const marks = [entry.type, ...entry.tags.map((tag) => `#${tag}`)];
  if (entry.status === 'confirmed') marks.push('confirmed');
  if (entry.lifecycle !== 'live') marks.push(entry.lifecycle);
  return [
    printableLine(entry.content, SHOWN_CONTENT),
    printableLine(`${entry.namespace} · ${marks.join(' · ')}`, SHOWN_CONTENT),
    `${entry.id} · ${day(entry.updated_at)}`,
  ].join('\n');
}

export function entryTable(entries: readonly WireEntry[], width: number): string {
  const rows = entries.map((entry, index) => [String(index + 1), entryCell(entry)]);
  return textTable([{ head: '#', align: 'right' }, { head: 'entry' }], rows, { width });
}

/** All of an entry, a field per line, its content last. */
export function entrySheet(entry: WireEntry): string {
  const fields: [string, string | null][] = [
    ['id', entry.id],
    ['namespace', entry.namespace],
    ['type', entry.type],
    ['tags', entry.tags.length === 0 ? null : entry.tags.join(', ')],
    ['status', entry.lifecycle === 'live' ? entry.status : `${entry.status}, ${entry.lifecycle}`],
    ['confirmed', entry.confirmed_at === null ? null : `${entry.confirmed_at} by ${entry.confirmed_by}`],
    ['superseded', entry.superseded_at === null ? null : `${entry.superseded_at} by ${entry.superseded_by}`],
    ['importance', String(entry.importance)],
    [
      'source',
      entry.source === null ? null : [entry.source.kind, entry.source.ref].filter(Boolean).join(': '),
    ],
    ['metadata', Object.keys(entry.metadata).length === 0 ? null : JSON.stringify(entry.metadata)],
    ['observed', entry.observed_at],
    ['created', `${entry.created_at} by ${entry.created_by}`],
    ['updated', entry.updated_at],
    ['expires', entry.expires_at],
    ['deleted', entry.deleted_at],
    ['accesses', `${entry.access_count}, of them useful ${entry.validated_access_count}`],
    ['version', String(entry.version)],
  ];
  const lines = fields
    .filter((field): field is [string, string] => field[1] !== null)
    .map(([name, value]) => `${name.padEnd(12)}${printable(value).replaceAll('\n', ' ')}`);
  return `${lines.join('\n')}\n\n${printable(entry.content)}\n`;
}

function day(instant: string): string {
  return instant.slice(0, 10);
}

/** How many entries there are, in words: `1 entry`, `2 entries`. */
export function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

import { excerpt, PalimpsestError } from './errors.ts';
import type { EmbeddableDocument } from './ports.ts';
import type { JsonValue } from './types.ts';

/**
 * A field that is put before an entry's content in the text that is embedded: `type`, `source.kind`,
 * `source.ref`, or `metadata.` and a path of keys, such as `metadata.speaker`.
 */
export type DocumentField = string;

/** Longest value put before the content, in characters: a label, never a second content. */
const MAX_LABEL_LENGTH = 120;

/**
 * The text that is embedded for a document: the values of `fields` that it has, then its content, such as
 * `Caroline: I went to the museum`. With no fields, or none of them there, exactly the content.
 *
 * Naming the speaker lifts hit@10 of MiniLM on LoCoMo's turns from 36 to 51 %: the questions name people, the
 * turns do not.
 */
export function embeddedText(document: EmbeddableDocument, fields: readonly DocumentField[]): string {
  const labels = fields.map((field) => label(document, field)).filter((text) => text !== '');
  return labels.length === 0 ? document.content : `${labels.join(', ')}: ${document.content}`;
}

/**
 * @throws PalimpsestError `invalid_config` for a field that no document has.
 */
export function checkDocumentFields(fields: readonly DocumentField[]): void {
  for (const field of fields) {
    if (OWN_FIELDS.has(field) || /^metadata(\.[^.]+)+$/.test(field)) continue;
    throw new PalimpsestError(
      'invalid_config',
      `An entry has no field ${excerpt(field)} that could be embedded with its content.`,
      {
        details: [
          {
            path: 'embedding.documentFields',
            got: excerpt(field),
            allowed: [...OWN_FIELDS.keys(), 'metadata.<key>'],
          },
        ],
      },
    );
  }
}

const OWN_FIELDS: ReadonlyMap<string, (document: EmbeddableDocument) => JsonValue | undefined> = new Map([
  ['type', ({ type }: EmbeddableDocument) => type],
  ['source.kind', ({ source }: EmbeddableDocument) => source?.kind],
  ['source.ref', ({ source }: EmbeddableDocument) => source?.ref],
]);

function label(document: EmbeddableDocument, field: DocumentField): string {
  const own = OWN_FIELDS.get(field);
  const value = own === undefined ? metadataValue(document, field) : own(document);
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  return [...String(value).trim()].slice(0, MAX_LABEL_LENGTH).join('');
}

function metadataValue({ metadata }: EmbeddableDocument, field: DocumentField): JsonValue | undefined {
  const [, ...keys] = field.split('.');
  return keys.reduce<JsonValue | undefined>(ownValue, metadata);
}

function ownValue(value: JsonValue | undefined, key: string): JsonValue | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, key) ? value[key] : undefined;
}

import { describe, expect, test } from 'vitest';
import { checkDocumentFields, embeddedText } from './embedded-text.ts';

const turn = {
  content: 'I went to the museum',
  type: 'episode',
  metadata: { speaker: 'Caroline', place: { city: 'Lyon', year: 0 }, tags: ['a'], blank: '  ' },
  source: { kind: 'chat' },
};

describe('the text that is embedded for an entry', () => {
  test('is exactly its content where no field is configured', () => {
    expect(embeddedText(turn, [])).toBe('I went to the museum');
  });

  test('names the speaker before the content', () => {
    expect(embeddedText(turn, ['metadata.speaker'])).toBe('Caroline: I went to the museum');
  });

  test('keeps the order of the fields, reads into metadata, and takes 0 for a value', () => {
    expect(embeddedText(turn, ['source.kind', 'metadata.place.year', 'metadata.place.city', 'type'])).toBe(
      'chat, 0, Lyon, episode: I went to the museum',
    );
  });

  test('leaves out what is missing, blank, a list or an object', () => {
    const fields = ['source.ref', 'metadata.nobody', 'metadata.blank', 'metadata.tags', 'metadata.place'];
    expect(embeddedText(turn, fields)).toBe('I went to the museum');
    expect(embeddedText({ content: 'bare' }, [...fields, 'type', 'metadata.speaker'])).toBe('bare');
  });

  test('does not read what every object inherits', () => {
    expect(embeddedText(turn, ['metadata.constructor.name', 'metadata.__proto__'])).toBe(turn.content);
  });

  test('cuts a label at 120 characters, never inside one', () => {
    const text = embeddedText({ content: 'x', metadata: { speaker: '😀'.repeat(500) } }, [
      'metadata.speaker',
    ]);
    expect(text).toBe(`${'😀'.repeat(120)}: x`);
  });

  test('a field that no entry has is refused when the server starts', () => {
    expect(() => checkDocumentFields(['type', 'source.kind', 'source.ref', 'metadata.a.b'])).not.toThrow();
    for (const field of ['speaker', 'metadata', 'metadata.', 'metadata..a', 'source', 'content', '']) {
      expect(() => checkDocumentFields([field])).toThrow(/no field/);
    }
  });
});

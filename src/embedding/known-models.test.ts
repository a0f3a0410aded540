import { describe, expect, test } from 'vitest';
import { modelFacts, prefixesFor } from './known-models.ts';

const PASSAGES = 'Represent this sentence for searching relevant passages: ';

describe('prefixes by the name of a model', () => {
  test.each([
    ['nomic-embed-text:v1.5', 'search_document: ', 'search_query: '],
    ['intfloat/multilingual-e5-small', 'passage: ', 'query: '],
    ['e5-base-v2', 'passage: ', 'query: '],
    ['BAAI/bge-small-en-v1.5', '', PASSAGES],
    ['snowflake-arctic-embed2:568m', '', 'query: '],
    ['snowflake-arctic-embed:33m', '', PASSAGES],
    ['embeddinggemma:300m', 'title: none | text: ', 'task: search result | query: '],
    ['text-embedding-3-small', '', ''],
    ['all-minilm', '', ''],
    ['code5-small', '', ''],
  ])('%s', (model, document, query) => {
    expect(prefixesFor(model, undefined)).toEqual({ document, query });
  });

  test('what is configured wins, and an empty prefix is a value', () => {
    expect(prefixesFor('nomic-embed-text', { document: '' })).toEqual({
      document: '',
      query: 'search_query: ',
    });
    expect(prefixesFor('my-model', { query: 'ask: ' })).toEqual({ document: '', query: 'ask: ' });
  });
});

describe('facts by the name of a model', () => {
  test('names are compared without case, and with their maker or tag', () => {
    expect(modelFacts('Text-Embedding-3-Large').dimensions).toBe(3072);
    expect(modelFacts('BAAI/bge-m3').dimensions).toBe(1024);
    expect(modelFacts('all-minilm:latest').dimensions).toBe(384);
  });

  test('a name that only looks like a known one is not known', () => {
    for (const model of ['text-embedding-3-small-finetuned', 'all-minilm-l12', 'my-model', '']) {
      expect(modelFacts(model)).toEqual({});
    }
  });
});

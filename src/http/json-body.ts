import { TextDecoder } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { invalidInput } from '../core/errors.ts';

/**
 * Reads bodies as JSON in strict UTF-8. Fastify's own parser takes invalid bytes for U+FFFD and stores another
 * text than was sent, and refuses keys such as `__proto__`, which are ordinary keys here.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      // An empty body is no body: the route's contract says what is missing.
      done(null, body.length === 0 ? undefined : parseJson(decode(utf8, body)));
    } catch (error) {
      done(error instanceof Error ? error : new Error('The body could not be read.', { cause: error }));
    }
  });
}

/** Hands bodies of JSON Lines on as they arrive, and takes no other. */
export function acceptJsonLines(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/x-ndjson', 'application/jsonl'], (_request, body, done) =>
    done(null, body),
  );
}

function decode(utf8: TextDecoder, body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw invalidInput('The body is not valid UTF-8.', { allowed: 'JSON in UTF-8' });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Not the parser's message: it quotes the body, and the body holds what is to be stored.
    throw invalidInput('The body is not valid JSON.', { allowed: 'JSON in UTF-8' });
  }
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { PalimpsestError } from '../core/errors.ts';
import type { HttpApp } from './http-app.ts';

export interface SlowBodyLimits {
  /**
   * Milliseconds that a body may keep the server waiting, default 30,000. What arrives buys time: a second for each KiB.
   * Time in which the server itself is busy with what has arrived does not count, so that an import may take hours.
   */
  readonly patienceMs?: number | undefined;
}

const DEFAULT_PATIENCE_MS = 30_000;
const BYTES_PER_MS = 1024 / 1000;
/** Looks at a body per patience. */
const LOOKS = 10;

/**
 * Refuses bodies that come too slowly, so that connections that send next to nothing can't pile up. Node's own limit is
 * one on the whole request, which would also end a long import.
 */
export function refuseSlowBodies(
  app: HttpApp,
  { patienceMs = DEFAULT_PATIENCE_MS }: SlowBodyLimits = {},
): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    // Taken now: a body that was given up has no socket any more.
    const { socket } = raw;
    reply.raw.once('finish', () => dropRest(raw, socket, patienceMs));
    done();
  });
  app.addHook('preParsing', async (request, reply, payload) => {
    // Nearly every body has come with its headers, and is not looked at twice.
    if (!isUnderWay(request.raw)) return payload;
    return watched(payload, patienceMs, () => {
      reply.header('connection', 'close');
      return tooSlow(patienceMs);
    });
  });
}

/** Whether there is more to come of a request. One that was never on a socket (`inject`) does not say. */
function isUnderWay({ complete }: IncomingMessage): boolean {
  return complete === false;
}

/** What is left of a body that was answered before it was here is read and dropped, but not for ever. */
function dropRest(request: IncomingMessage, socket: Socket, patienceMs: number): void {
  if (!isUnderWay(request)) return;
  setTimeout(() => {
    if (isUnderWay(request)) socket.destroy();
  }, patienceMs).unref();
}

/** The same body, which fails once it has used up its time. */
function watched(payload: Readable, patienceMs: number, refusal: () => PalimpsestError): Readable {
  const every = patienceMs / LOOKS;
  let left = patienceMs;
  let arrived = 0;
  const body = new PassThrough({
    transform(chunk: Uint8Array, _encoding, done) {
      arrived += chunk.length;
      done(null, chunk);
    },
  });
  const timer = setInterval(() => {
    const waitsForClient = payload.readableLength === 0 && body.readableLength === 0;
    if (!waitsForClient) return;
    left = Math.min(patienceMs, left - every + arrived / BYTES_PER_MS);
    arrived = 0;
    if (left <= 0) body.destroy(refusal());
  }, every);
  pipeline(payload, body, () => clearInterval(timer));
  return body;
}

function tooSlow(patienceMs: number): PalimpsestError {
  return new PalimpsestError(
    'request_timeout',
    `The body came too slowly: the server waited ${Math.round(patienceMs / 1000)} s for more of it.`,
    { details: [{ path: 'body', hint: 'Send at least 1 KiB a second, or send it in several requests.' }] },
  );
}

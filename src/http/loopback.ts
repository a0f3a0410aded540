import { isIPv4, isIPv6 } from 'node:net';
import { excerpt, PalimpsestError } from '../core/errors.ts';

/** Whether an address reaches this machine alone. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost') return true;
  if (isIPv4(name)) return name.startsWith('127.');
  return isIPv6(name) && new URL(`http://[${name}]`).hostname === '[::1]';
}

/**
 * Refuses to serve an address that others can reach: without an identity source everybody would be the operator.
 *
 * @throws PalimpsestError `invalid_config`
 */
export function requireLoopback(host: string): void {
  if (isLoopback(host)) return;
  throw new PalimpsestError(
    'invalid_config',
    `The server would listen on ${excerpt(host)}, where others can reach it, and it asks nobody who they are. Set PALIMPSEST_AUTH to required, or listen on 127.0.0.1.`,
    { details: [{ path: 'host', got: excerpt(host), allowed: ['127.0.0.1', '::1', 'localhost'] }] },
  );
}

/**
 * Refuses a request that came under another name than this machine's own: a web page can have its own name
 * point to 127.0.0.1, and then its scripts may read the answers (DNS rebinding).
 *
 * @param hostHeader - The request's Host header.
 * @throws PalimpsestError `forbidden`
 */
export function requireLocalName(hostHeader: string | undefined): void {
  const url = `http://${hostHeader ?? ''}`;
  if (URL.canParse(url) && isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))) return;
  throw new PalimpsestError(
    'forbidden',
    `This server answers on its own machine only, not under the name ${excerpt(hostHeader ?? '')}.`,
    {
      details: [
        { path: 'host', got: excerpt(hostHeader ?? ''), allowed: ['127.0.0.1', '[::1]', 'localhost'] },
      ],
    },
  );
}

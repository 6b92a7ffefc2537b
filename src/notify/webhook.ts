/**
 * One POST of JSON to a public HTTPS address.
 *
 *   H1. The connection goes to an address that was checked, not to a name that may resolve to another
 *       one a moment later; a name with any address that is not public is refused.
 *   H2. No redirect is followed, no proxy is used, no cookie or credential is sent except those in the
 *       address itself; only the status of the answer is read.
 *   H3. It takes LIMIT_MS at most.
 */

import { lookup } from 'node:dns/promises';
import { request } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { messageOf, rethrowBug } from '../base/errors.ts';
import { isPublicAddress, isPublicHost } from '../base/public-address.ts';

export const LIMIT_MS = 10_000;
const HTTPS_PORT = 443;

/** How names become addresses and addresses connections. */
export interface Network {
  resolve(host: string): Promise<readonly string[]>;
  connect(to: { readonly address: string; readonly port: number; readonly host: string }): Duplex;
}

/** The real one: the system's resolver, and TLS that checks the certificate against the name. */
export const INTERNET: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: ({ address, port, host }) =>
    connectTls({ host: address, port, ...(isIP(host) === 0 ? { servername: host } : {}) }),
};

/** Posts the text; what went wrong, or null. The answer may name the host, never the address. */
export async function postJson(
  url: string,
  text: string,
  network: Network,
  signal: AbortSignal,
): Promise<string | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    const target = URL.parse(url);
    if (target?.protocol !== 'https:') return 'it is not an https address';
    const address = await addressOf(target, network, limit);
    const port = target.port === '' ? HTTPS_PORT : Number(target.port);
    const to = { address, port, host: bare(target.hostname) };
    const status = await post(target, text, () => network.connect(to), limit);
    if (status >= 200 && status < 300) return null;
    const isRedirect = status >= 300 && status < 400;
    return `it answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  } catch (error) {
    rethrowBug(error);
    if (limit.aborted && !signal.aborted) return `it took longer than ${LIMIT_MS / 1000} seconds`;
    return messageOf(error);
  }
}

/** The address to connect to, after all addresses of the name were checked. */
async function addressOf(target: URL, network: Network, signal: AbortSignal): Promise<string> {
  const refused = new Error(`${target.hostname} is not on the public internet`);
  if (!isPublicHost(target.hostname)) throw refused;
  const host = bare(target.hostname);
  const addresses = isIP(host) === 0 ? await unlessAborted(network.resolve(host), signal) : [host];
  const [first] = addresses;
  if (first === undefined) throw new Error(`${host} has no address`);
  if (!addresses.every(isPublicAddress)) throw refused;
  return first;
}

function post(
  target: URL,
  text: string,
  createConnection: () => Duplex,
  signal: AbortSignal,
): Promise<number> {
  const body = Buffer.from(text);
  return new Promise((resolve, reject) => {
    const sent = request(target, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': 'landfast',
        connection: 'close',
      },
      createConnection,
      signal,
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.end(body);
  });
}

/** Without the brackets of IPv6. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** A lookup cannot be stopped, but the wait for it can. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

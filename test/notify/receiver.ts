/**
 * A receiver of webhooks on loopback, and a network that leads every public address to it: what the
 * sender was about to connect to is written down, the connection itself is plain.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Network } from '../../src/notify/webhook.ts';

export interface Post {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver extends AsyncDisposable {
  readonly posts: Post[];
  /** The addresses that were connected to. */
  readonly dialled: string[];
  network(addresses: readonly string[]): Network;
}

/** Starts a receiver that answers with this status; null never answers. */
export async function receiver(
  status: number | null = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Receiver> {
  const posts: Post[] = [];
  const dialled: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url: path = '' } = request;
    posts.push({ method, path, headers: request.headers, body });
    if (status !== null) response.writeHead(status, headers).end('thanks');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    posts,
    dialled,
    network: (addresses) => ({
      resolve: async () => addresses,
      connect: ({ address, port: wanted, host }) => {
        dialled.push(`${host} at ${address}:${wanted}`);
        return connect(port, '127.0.0.1');
      },
    }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

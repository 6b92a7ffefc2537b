/**
 * The network of a fence that has none of its own: an HTTP proxy that listens on a Unix socket and
 * connects only to hosts on a list.
 *
 *     program ──► bridge, inside ──► socket ──► egress, outside ──► host
 *
 * A host that is not on the list gets 403 with a reason, and is recorded. A name cannot lead into
 * the machine or its network (allow.ts, dial.ts). No request makes it throw. Headers are bounded in
 * size and time, connections in number; their duration is not: a model may think for long. After
 * `close` neither a connection nor the socket is left.
 */

import {
  request as ask,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { messageOf, OperationalError } from '../base/errors.ts';
import { nameOf, type Target, targetOf, verdictOf } from './egress/allow.ts';
import { dial, PrivateError, whyNot } from './egress/dial.ts';
import { discard, scratchFolder } from './scratch.ts';

export interface Egress {
  /** The socket of the proxy; only its owner can reach it. */
  readonly socket: string;
  /** The targets that were refused, each once. */
  denied(): readonly string[];
  /** May be called more than once. */
  close(): Promise<void>;
}

const HEADER_BYTES = 16 * 1024;
const HEADER_MS = 10_000;
/** More would use up the descriptors of this process. */
const CONNECTIONS = 500;
const DENIED_LIMIT = 100;
/** The system's limit for the path of a socket, without its final NUL. */
const PATH_BYTES = 103;

/** Allows these hosts (see allow.ts for their form); an abort closes it as well. */
export async function startEgress(
  hosts: readonly string[],
  run: string,
  signal: AbortSignal,
): Promise<Egress> {
  signal.throwIfAborted();
  const dir = scratchFolder(run);
  const socket = join(dir, 'proxy');
  const proxy = new EgressProxy(hosts);
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', close);
    await Promise.all([discard(dir), proxy.close()]);
  };
  try {
    await proxy.listen(socket);
  } catch (cause) {
    await close();
    const message = `cannot listen at ${socket}: ${messageOf(cause)}`;
    throw new OperationalError(message, { remedy: REMEDY, cause });
  }
  signal.addEventListener('abort', close);
  if (signal.aborted) await close();
  return { socket, denied: () => proxy.denied(), close };
}

const REMEDY = 'Set TMPDIR to a folder with a short path that can be written.';

class Refusal extends Error {
  readonly status: 400 | 403 | 502;

  constructor(status: 400 | 403 | 502, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

class EgressProxy {
  readonly #hosts: readonly string[];
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #denied = new Set<string>();
  #isClosed = false;

  constructor(hosts: readonly string[]) {
    this.#hosts = hosts;
    this.#server = createServer({
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADER_MS,
      requestTimeout: 0,
      connectionsCheckingInterval: HEADER_MS / 4,
    });
    this.#server.maxConnections = CONNECTIONS;
    this.#server.unref(); // Does not keep the process alive.
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('connect', (request, near, head) => this.#tunnel(request, near, head));
    this.#server.on('request', (request, response) => this.#forward(request, response));
  }

  denied(): readonly string[] {
    return [...this.#denied];
  }

  async listen(path: string): Promise<void> {
    if (Buffer.byteLength(path) > PATH_BYTES) throw new Error('the path is too long for a socket');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.on('error', reject); // Stays: later errors are about single connections.
    this.#server.listen(path, resolve);
    await promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve()); // Also called if it does not listen any more.
    for (const socket of this.#sockets) socket.destroy();
    await promise;
  }

  /** `CONNECT host:port`: any bytes in both directions. */
  #tunnel({ url = '' }: IncomingMessage, near: Duplex, head: Buffer): void {
    const target = /:\d+$/.test(url) ? targetOf(url, 0) : null;
    const begin = (far: Socket): void => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      near.pipe(far).pipe(near);
      far.once('error', () => near.destroy()); // An orderly end is passed on by the pipes.
      near.once('error', () => far.destroy());
    };
    this.#open(target, near)
      .then(begin)
      .catch((error: unknown) => near.end(answerOf(error)));
  }

  /** `GET http://host/path`: the same request without the headers for a proxy. */
  #forward(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.parse(request.url ?? '');
    const target = url?.protocol === 'http:' ? targetOf(url.host, 80) : null;
    const refuse = (error: unknown): void => {
      if (response.headersSent) response.destroy();
      else response.socket?.end(answerOf(error));
    };
    const begin = (far: Socket): void => {
      const path = `${url?.pathname}${url?.search}`;
      const headers = { ...passedOn(request, ASKING_ONLY), host: url?.host };
      const { method = 'GET' } = request;
      const asked = ask({ method, path, headers, createConnection: () => far });
      asked.on('error', refuse);
      asked.on('response', (answer) => {
        answer.on('error', refuse);
        try {
          response.writeHead(answer.statusCode ?? 502, passedOn(answer, ANSWERING_ONLY));
          answer.pipe(response);
        } catch (error) {
          asked.destroy();
          refuse(error);
        }
      });
      response.once('close', () => asked.destroy());
      request.pipe(asked);
    };
    this.#open(target, response).then(begin).catch(refuse);
  }

  async #open(target: Target | null, near: Duplex | ServerResponse): Promise<Socket> {
    if (target === null) throw new Refusal(400, 'This proxy takes CONNECT and http addresses.');
    const name = nameOf(target);
    const verdict = verdictOf(this.#hosts, target);
    if (verdict === 'forbidden') throw this.#deny(name, `${name} is not in fence.network.`);
    const { socket, open } = dial(target, verdict);
    this.#keep(socket);
    try {
      await open;
      if (near.destroyed) socket.destroy();
      return socket;
    } catch (error) {
      if (!(error instanceof PrivateError)) {
        throw new Refusal(502, `${name} cannot be reached: ${whyNot(error)}.`);
      }
      throw this.#deny(`${name} (a private address)`, `${name} has a private address.`);
    }
  }

  #deny(what: string, why: string): Refusal {
    if (this.#denied.size < DENIED_LIMIT) this.#denied.add(what);
    return new Refusal(403, `Landfast's fence does not let this through: ${why}`);
  }

  /** Tracks a connection until it closes. A broken one is no error. */
  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.#isClosed) socket.destroy();
  }
}

function answerOf(error: unknown): string {
  const status = error instanceof Refusal ? error.status : 502;
  const body = `${messageOf(error)}\n`;
  const head = [
    `HTTP/1.1 ${status} ${{ 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' }[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Headers of the connection to the proxy. */
const HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];
const ASKING_ONLY = [...HOP, 'proxy-authorization', 'expect', 'host'];
const ANSWERING_ONLY = [...HOP, 'proxy-authenticate', 'transfer-encoding'];

function passedOn(
  { headers, headersDistinct }: IncomingMessage,
  without: readonly string[],
): Record<string, string[]> {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...without, ...named.filter((name) => !FRAMING.has(name))]);
  const kept = Object.entries(headersDistinct).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(kept.map(([name, values]) => [name, values ?? []]));
}

/** Delimits a message, so it is forwarded even where `Connection` names it. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

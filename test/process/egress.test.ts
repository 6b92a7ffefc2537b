/** The proxy that is a fence's way out, spoken to as a fenced program would, on real sockets. */

import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { OperationalError } from '../../src/base/errors.ts';
import { type Egress, startEgress } from '../../src/process/egress.ts';
import { tempDir } from '../support/temp-dir.ts';

const signal = AbortSignal.timeout(110_000);

interface Site extends AsyncDisposable {
  readonly egress: Egress;
  readonly port: number;
  /** Every request that reached the server. */
  readonly seen: readonly Pick<IncomingMessage, 'method' | 'url' | 'headers'>[];
}

/** A server on loopback and a way out; `$` in a host stands for its port. */
async function site(...hosts: readonly string[]): Promise<Site> {
  const seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];
  const server = createServer(async (asked, answer) => {
    const { method, url, headers } = asked;
    seen.push({ method, url, headers });
    answer.writeHead(207, { 'x-a': ['1', '2'], 'keep-alive': 'timeout=9' });
    answer.end(`got ${await text(asked)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const egress = await startEgress(
    hosts.map((host) => host.replace('$', String(port))),
    'r',
    signal,
  );
  return {
    egress,
    port,
    seen,
    [Symbol.asyncDispose]: async () => {
      await egress.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends bytes as they are, and answers with all that came back. */
async function speak(egress: Egress, bytes: string): Promise<string> {
  const socket = connect(egress.socket);
  socket.write(bytes);
  return text(socket);
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headersDistinct'];
  readonly body: string;
}

async function ask(
  { egress }: Site,
  path: string,
  { method = 'GET', headers = {}, body = '' } = {},
): Promise<Answer> {
  const asked = request({ socketPath: egress.socket, path, method, headers, agent: false });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status, headersDistinct } = answer;
  return { status, headers: headersDistinct, body: await text(answer) };
}

const FENCED = "Landfast's fence does not let this through:";

test('a tunnel to an allowed host carries bytes in both directions until both ends', async () => {
  await using here = await site('localhost:$');
  const { egress, port } = here;
  const inner = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi';
  const said = await speak(egress, `CONNECT LOCALHOST:${port} HTTP/1.1\r\n\r\n${inner}`);
  expect(said).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 207 .*got hi/s);
  expect(here.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /x']);
  expect(egress.denied()).toEqual([]);
});

test('a large answer arrives whole although the server hangs up at once', async () => {
  const bytes = 'x'.repeat(4_000_000);
  const server = createNetServer((socket) => socket.end(bytes)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const egress = await startEgress([`127.0.0.1:${port}`], 'r', signal);
  const said = await speak(egress, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`);
  expect(said.length).toBe('HTTP/1.1 200 Connection established\r\n\r\n'.length + bytes.length);
  await egress.close();
  server.close();
});

test('a plain request is passed on, without what is meant for the proxy', async () => {
  await using here = await site('127.0.0.1:$');
  const { status, headers, body } = await ask(here, `http://127.0.0.1:${here.port}/a?b=c`, {
    method: 'PUT',
    body: 'body',
    headers: {
      host: 'other.example',
      connection: 'close, x-hop',
      'x-hop': '1',
      'x-end': '2',
      'proxy-authorization': 'secret',
      'proxy-connection': 'keep-alive',
      'transfer-encoding': 'chunked',
    },
  });
  expect({ status, body, 'x-a': headers['x-a'] }).toEqual({
    status: 207,
    body: 'got body',
    'x-a': ['1', '2'],
  });
  expect(here.seen).toEqual([
    {
      method: 'PUT',
      url: '/a?b=c',
      headers: {
        host: `127.0.0.1:${here.port}`,
        connection: 'close',
        'transfer-encoding': 'chunked',
        'x-end': '2',
      },
    },
  ]);
});

test('hosts and ports that are not on the list are refused and remembered once', async () => {
  await using here = await site('api.example.com', '*.example.org', 'localhost:$');
  const asked = [
    ...['evil.example:443', 'EVIL.example.:443', 'api.example.com:22', 'example.org:443'],
    ...[`127.0.0.1:${here.port}`, 'localhost:1', '[::1]:443'],
  ];
  for (const target of asked) {
    const said = await speak(here.egress, `CONNECT ${target} HTTP/1.1\r\n\r\n`);
    expect(said, target).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(said, target).toContain(`\r\n\r\n${FENCED}`);
  }
  const plain = await ask(here, 'http://evil.example/');
  expect([plain.status, plain.body]).toEqual([
    403,
    `${FENCED} evil.example is not in fence.network.\n`,
  ]);
  expect(here.egress.denied()).toEqual([
    ...['evil.example', 'api.example.com:22', 'example.org', `127.0.0.1:${here.port}`],
    ...['localhost:1', '[::1]'],
  ]);
  expect(here.seen).toEqual([]);
});

test('a name that leads to this machine is refused although it is on the list', async () => {
  await using here = await site('localhost');
  for (const port of [80, 443]) {
    const said = await speak(here.egress, `CONNECT localhost:${port} HTTP/1.1\r\n\r\n`);
    expect(said).toContain(`\r\n\r\n${FENCED} localhost has a private address.\n`);
  }
  expect(here.egress.denied()).toEqual(['localhost (a private address)']);
});

test('an allowed host that does not answer is a bad gateway, not a refusal', async () => {
  await using here = await site('127.0.0.1:1');
  const said = await speak(here.egress, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n');
  expect(said).toMatch(/^HTTP\/1.1 502 .*127.0.0.1:1 cannot be reached: ECONNREFUSED.\n$/s);
  expect(here.egress.denied()).toEqual([]);
});

test.each([
  ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['GET https://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['CONNECT localhost HTTP/1.1\r\n\r\n', 400],
  ['CONNECT a@b:443 HTTP/1.1\r\n\r\n', 400],
  ['nonsense\r\n\r\n', 400],
  [`GET http://a/ HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%j is answered and does no harm', async (bytes, status) => {
  await using here = await site('127.0.0.1:$');
  expect(await speak(here.egress, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect((await ask(here, `http://127.0.0.1:${here.port}/`)).status).toBe(207);
});

test('a server that sends nonsense and a client that leaves do no harm', async () => {
  const nonsense = [
    'HTTP/1.1 099 Odd\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx',
    'what?',
  ];
  const server = createNetServer((socket) =>
    socket.on('error', () => {}).end(nonsense.shift() ?? ''),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using here = await site('127.0.0.1:$', `127.0.0.1:${port}`);
  const get = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  expect(await speak(here.egress, get)).toMatch(/^HTTP\/1.1 502 /);
  expect(await speak(here.egress, get).catch(() => 'cut')).toMatch(/x$|cut/);
  expect(await speak(here.egress, get)).toMatch(/^HTTP\/1.1 502 /);
  const leaving = connect(here.egress.socket);
  leaving.write(`CONNECT 127.0.0.1:${here.port} HTTP/1.1\r\n\r\n`);
  leaving.destroy();
  expect((await ask(here, `http://127.0.0.1:${here.port}/`)).status).toBe(207);
  server.close();
});

test('only its owner reaches it, and closing ends connections and removes the file', async () => {
  await using here = await site('127.0.0.1:$');
  const { egress, port } = here;
  expect(statSync(dirname(egress.socket)).mode & 0o777).toBe(0o700);
  const open = connect(egress.socket);
  open.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`);
  await once(open, 'data');
  const closed = once(open, 'close');
  await egress.close();
  await closed;
  await egress.close();
  expect(existsSync(dirname(egress.socket))).toBe(false);
});

test('more than 500 connections at once are turned away', async () => {
  await using here = await site('127.0.0.1:$');
  const { socket } = here.egress;
  const held = Array.from({ length: 500 }, () => connect(socket));
  await Promise.all(held.map((one) => once(one, 'connect')));
  expect(await speak(here.egress, 'nonsense\r\n\r\n').catch(() => '')).toBe('');
  const freed = once(held[0] ?? connect(socket), 'close');
  held[0]?.write('nonsense\r\n\r\n');
  held[0]?.resume();
  await freed;
  expect((await ask(here, `http://127.0.0.1:${here.port}/`)).status).toBe(207);
});

test('an abort closes it as well', async () => {
  const stop = new AbortController();
  const egress = await startEgress([], 'r', stop.signal);
  const open = connect(egress.socket);
  await once(open, 'connect');
  stop.abort();
  await once(open, 'close');
  expect(existsSync(egress.socket)).toBe(false);
});

test('a temp folder that is not there, or with too long a path, is refused with a way out', async () => {
  await using temp = await tempDir();
  const long = join(temp.path, 'x'.repeat(120));
  mkdirSync(long);
  vi.stubEnv('TMPDIR', long);
  try {
    await expect(startEgress([], 'r', signal)).rejects.toThrow(OperationalError);
    expect(readdirSync(long)).toEqual([]);
    vi.stubEnv('TMPDIR', join(temp.path, 'none'));
    await expect(startEgress([], 'r', signal)).rejects.toThrow(OperationalError);
  } finally {
    vi.unstubAllEnvs();
  }
});

/** One POST: where it goes, where it refuses to go, and what it makes of answers. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { INTERNET, postJson } from '../../src/notify/webhook.ts';
import { receiver } from './receiver.ts';

const signal = new AbortController().signal;

test('the JSON is posted to the address that was looked up, by the name of the host', async () => {
  await using hook = await receiver(204);
  const url = 'https://hooks.example.com:8443/a/b?c=d';
  expect(await postJson(url, '{"x":"é"}', hook.network(['8.8.8.8', '1.1.1.1']), signal)).toBeNull();
  expect(hook.dialled).toEqual(['hooks.example.com at 8.8.8.8:8443']);
  expect(hook.posts).toEqual([
    {
      method: 'POST',
      path: '/a/b?c=d',
      headers: {
        host: 'hooks.example.com:8443',
        'content-type': 'application/json',
        'content-length': '10',
        'user-agent': 'landfast',
        connection: 'close',
      },
      body: '{"x":"é"}',
    },
  ]);
});

describe('nothing is connected to', () => {
  test.each([
    ['a private address among public ones', 'https://h.example/', ['8.8.8.8', '10.0.0.1']],
    ['loopback', 'https://h.example/', ['127.0.0.1']],
    ['the metadata of a cloud', 'https://h.example/', ['169.254.169.254']],
    ['IPv6 loopback', 'https://h.example/', ['::1']],
    ['an address of IPv4 in IPv6', 'https://h.example/', ['::ffff:8.8.8.8']],
    ['a shared network', 'https://h.example/', ['100.64.0.1']],
    ['many at once', 'https://h.example/', ['224.0.0.1']],
    ['a name of this machine', 'https://localhost./', ['8.8.8.8']],
    ['a number', 'https://2130706433/', ['8.8.8.8']],
    ['an octal number', 'https://0177.0.0.1/', ['8.8.8.8']],
    ['a literal address', 'https://[::1]/', ['8.8.8.8']],
  ])('%s', async (_, url, addresses) => {
    await using hook = await receiver();
    expect(await postJson(url, '{}', hook.network(addresses), signal)).toContain(
      'is not on the public internet',
    );
    expect(hook.dialled).toEqual([]);
  });

  test('a name without an address, or plain http', async () => {
    await using hook = await receiver();
    const none = await postJson('https://h.example/', '{}', hook.network([]), signal);
    const plain = await postJson('http://h.example/', '{}', hook.network(['8.8.8.8']), signal);
    expect([none, plain]).toEqual(['h.example has no address', 'it is not an https address']);
    expect(hook.dialled).toEqual([]);
  });
});

test('a redirect is not followed, and an error of the receiver is told', async () => {
  await using moved = await receiver(302, { location: 'https://h.example/elsewhere' });
  const first = await postJson('https://h.example/', '{}', moved.network(['8.8.8.8']), signal);
  expect(first).toBe('it answered 302, and redirects are not followed');
  expect(moved.posts).toHaveLength(1);
  await using broken = await receiver(500);
  const second = await postJson('https://h.example/', '{}', broken.network(['8.8.8.8']), signal);
  expect(second).toBe('it answered 500');
});

test('a receiver that never answers is left when the sender is told to stop', async () => {
  await using hook = await receiver(null);
  const stop = new AbortController();
  const network = hook.network(['8.8.8.8']);
  const sent = postJson('https://h.example/', '{}', network, stop.signal);
  while (hook.posts.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error('enough'));
  expect(await sent).toMatch(/aborted|enough/);
});

test('a lookup that never ends is not waited for', async () => {
  const stop = new AbortController();
  const network = { ...INTERNET, resolve: () => new Promise<never>(() => {}) };
  const sent = postJson('https://h.example/', '{}', network, stop.signal);
  stop.abort(new Error('enough'));
  expect(await sent).toBe('enough');
});

test('the real connection speaks TLS: a receiver without it gets nothing', async () => {
  const said: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      said.push(bytes.toString('latin1'));
      socket.end('HTTP/1.1 200 OK\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = INTERNET.connect({ address: '127.0.0.1', port, host: 'h.example' });
  const [error] = (await once(socket, 'error')) as [Error & { code: string }];
  expect(error.code).toMatch(/SSL|PROTO|ECONNRESET/);
  expect(said.join('')).not.toContain('POST');
  server.close();
});

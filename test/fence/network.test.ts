/**
 * A fence whose only way out is a list of hosts, with the real tool. The servers are on loopback
 * of this machine, which is not the loopback inside of a fence.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Exit } from '../../src/base/exit.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import { type Egress, startEgress } from '../../src/process/egress.ts';
import type { FenceRules } from '../../src/process/fence/bounds.ts';
import { boundsOf } from '../../src/process/fence/bounds.ts';
import { bubblewrapCommand } from '../../src/process/fence/bubblewrap.ts';
import { fenceSupport, makeFence } from '../../src/process/fence.ts';
import { marked } from '../../src/process/process-tree.ts';
import { run } from '../../src/process/run.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const support = await fenceSupport(AbortSignal.timeout(20_000));
/** Not in NO_PROXY, as 127.0.0.1 is. */
const HOST = '127.0.0.2';
/** Longer than a program that obeys takes to end, however busy the machine is. */
const GRACE_MS = 60_000;
const OK: Exit = { kind: 'exited', code: 0 };

interface Site extends AsyncDisposable {
  readonly rules: FenceRules;
  readonly temp: TempDir;
  readonly egress: Egress;
  readonly port: number;
}

/** A server, a way out that leads to it and nowhere else, and a workspace. */
async function site(): Promise<Site> {
  const server = createServer((_, answer) => answer.end('hello'));
  server.listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const repo = await tempRepo({ name: 'my repo' });
  const workspace = join(repo.outside, 'task a');
  const commit = await repo.git('rev-parse', 'HEAD');
  const branch = 'landfast/r1.a';
  await addWorktree(repo.commonDir, { path: workspace, branch, commit }, repo.signal);
  const egress = await startEgress([`${HOST}:${port}`], 'r', repo.signal);
  const temp = await tempDir();
  const { commonDir } = repo;
  const branchRef = `refs/heads/${branch}`;
  const network = { proxy: egress.socket };
  return {
    rules: { workspace, commonDir, branchRef, writable: [], network },
    temp,
    egress,
    port,
    [Symbol.asyncDispose]: async () => {
      await egress.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await temp[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

interface Ended {
  readonly exit: Exit;
  readonly lines: readonly string[];
  readonly errors: string;
  readonly mark: string;
  readonly ms: number;
}

interface How {
  readonly stdin?: string;
  readonly abortOn?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the Node that runs this. */
  readonly node?: string;
}

/** Runs a shell script inside of the fence; its `$1` is Node, its `$2` the server's address. */
async function fenced({ rules, temp, port }: Site, text: string, how: How = {}): Promise<Ended> {
  const args = ['-c', text, 'sh', process.execPath, `http://${HOST}:${port}/`];
  const bare = { file: 'sh', args };
  const tool = support.kind === 'available' ? support.tool : '';
  const program =
    how.node === undefined
      ? makeFence(rules)(bare, temp.path)
      : bubblewrapCommand({ tool, bounds: boundsOf(rules), temp: temp.path, node: how.node }, bare);
  const lines: string[] = [];
  const errors: string[] = [];
  const stop = new AbortController();
  const mark = `test-${randomUUID()}`;
  const startedAt = performance.now();
  const onLine = (line: string, from: 'stdout' | 'stderr') => {
    (from === 'stdout' ? lines : errors).push(line);
    if (line === how.abortOn) stop.abort('enough');
  };
  const env = { ...process.env, TMPDIR: temp.path, NODE_NO_WARNINGS: '1', ...how.env };
  const rest = { stdin: how.stdin ?? '', graceMs: GRACE_MS, mark, onLine };
  const exit = await run({ ...program, ...rest, cwd: rules.workspace, env }, stop.signal);
  return { exit, lines, errors: errors.join('\n'), mark, ms: performance.now() - startedAt };
}

/** A Node that reads a lot of files on a thread of its own while it starts: its certificates. */
async function busyNode(temp: TempDir): Promise<string> {
  const names = Array.from({ length: 3_000 }, (_, index) => `certificates/${index}.pem`);
  await temp.write(Object.fromEntries(names.map((name) => [name, 'none\n'])));
  const set = [
    ...['NODE_USE_ENV_PROXY=1', 'NODE_USE_SYSTEM_CA=1'],
    ...[`SSL_CERT_DIR=${temp.path}/certificates`, `SSL_CERT_FILE=${temp.path}/${names[0]}`],
  ];
  const script = `#!/bin/sh\nexec env ${set.join(' ')} "${process.execPath}" "$@"\n`;
  await temp.write({ node: script });
  chmodSync(join(temp.path, 'node'), 0o755);
  return join(temp.path, 'node');
}

/** Asks for `$2` as a program does that knows the variables, such as npm or an agent. */
const FETCH = `"$1" -e 'fetch(process.argv[1]).then(async (r) => console.log(r.status,
  (await r.text()).trim()), (e) => console.log(e.cause.message))' "$2"`;

/** The same with a request that the proxy reads and passes on. */
const GET = `"$1" -e 'require("http").get(process.argv[1], async (r) => console.log(r.statusCode,
  (await require("stream/consumers").text(r)).trim()))' "$2"`;

/** Connects as a program does that does not care about proxies. */
const direct = (host: string, port: number) =>
  `"$1" -e 'require("net").connect(${port}, "${host}").on("connect", () => console.log("open"))
    .on("error", (e) => console.log(e.code)).on("connect", () => process.exit())'`;

beforeAll(() => vi.stubEnv('TMPDIR', '/var/tmp'));
afterAll(() => vi.unstubAllEnvs());

describe.skipIf(support.kind === 'missing')('a program with a list of hosts', () => {
  test('reaches a host of the list through the proxy, and no other', async () => {
    await using here = await site();
    const other = `set -- "$1" http://${HOST}:8081/; ${GET}`;
    const secret = `set -- "$1" https://a.example/; ${FETCH}`;
    const { exit, lines } = await fenced(here, [FETCH, GET, other, secret].join('\n'));
    const refusal = `Landfast's fence does not let this through: ${HOST}:8081 is not in fence.network.`;
    expect({ exit, lines }).toEqual({
      exit: OK,
      lines: ['200 hello', '200 hello', `403 ${refusal}`, expect.not.stringMatching(/^200/)],
    });
    expect(here.egress.denied()).toEqual([`${HOST}:8081`, 'a.example']);
  });

  test('reaches nothing directly: not the server, not the world, no names', async () => {
    await using here = await site();
    const tries = [
      direct(HOST, here.port),
      direct('192.0.2.1', 443),
      direct('2001:db8::1', 443),
      direct('a.example', 443),
    ];
    const { lines } = await fenced(here, `${tries.join('\n')}\ncat /proc/net/dev | grep -c :`);
    expect(lines).toEqual([
      'ECONNREFUSED',
      'ENETUNREACH',
      expect.stringMatching(/^ENETUNREACH|^EADDRNOTAVAIL/),
      expect.stringMatching(/^EAI_AGAIN|^ENOTFOUND/),
      '1',
    ]);
  });

  test('is told where the proxy is, and nothing of proxies outside', async () => {
    await using here = await site();
    const theirs = {
      ALL_PROXY: 'socks5://x',
      all_proxy: 'y',
      no_proxy: '*',
      HTTP_PROXY: 'http://z',
    };
    // npm, should it run the tests, sets variables of its own.
    const ask = 'env | grep -i proxy | grep -v ^npm_ | sort';
    const { lines } = await fenced(here, ask, { env: theirs });
    expect(lines.toSorted()).toEqual([
      'HTTPS_PROXY=http://127.0.0.1:61128',
      'HTTP_PROXY=http://127.0.0.1:61128',
      'NODE_USE_ENV_PROXY=1',
      'NO_PROXY=localhost,127.0.0.1,::1',
      'http_proxy=http://127.0.0.1:61128',
      'https_proxy=http://127.0.0.1:61128',
      'no_proxy=localhost,127.0.0.1,::1',
    ]);
  });

  test('talks to servers of its own on loopback without the proxy', async () => {
    await using here = await site();
    const text = `"$1" -e 'const s = require("http").createServer((_, r) => r.end("own"))
      .listen(8080, "127.0.0.1", async () => {
        console.log(await (await fetch("http://localhost:8080")).text()); process.exit(); })'`;
    expect((await fenced(here, text)).lines).toEqual(['own']);
    expect(here.egress.denied()).toEqual([]);
  });

  test('shares the way out with others, each in a fence of its own', async () => {
    await using here = await site();
    const all = await Promise.all([1, 2, 3].map(() => fenced(here, FETCH)));
    expect(all.map(({ lines }) => lines)).toEqual(Array(3).fill(['200 hello']));
  });

  test('keeps its way out whatever threads of Node open while the bridge begins', async () => {
    await using here = await site();
    const node = await busyNode(here.temp);
    for (const _ of Array(10)) {
      const { lines, errors } = await fenced(here, FETCH, { node });
      expect({ lines, errors }).toEqual({ lines: ['200 hello'], errors: '' });
    }
  });

  test('keeps input, output and exit code, and unusual settings of Node do no harm', async () => {
    await using here = await site();
    const env = { NODE_OPTIONS: '--require=/no/such/file' };
    const text = 'cat; echo err >&2; printf last; exit 129';
    const { exit, lines, errors } = await fenced(here, text, { stdin: 'in\n', env });
    expect({ exit, lines, errors }).toEqual({
      exit: { kind: 'exited', code: 129 },
      lines: ['in', 'last'],
      errors: 'err',
    });
    const killed = await fenced(here, 'kill -KILL $$');
    expect(killed.exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
  });

  test('does not start where the bridge cannot', async () => {
    await using here = await site();
    for (const node of ['/no/such/node', '/bin/false']) {
      const { exit, lines, errors } = await fenced(here, 'echo started', { node });
      expect({ exit, lines }).toEqual({ exit: { kind: 'exited', code: 126 }, lines: [] });
      expect(errors).toContain('the way to the hosts of fence.network could not be opened');
    }
  });
});

describe.skipIf(support.kind === 'missing')('the end of a program with a list of hosts', () => {
  test('leaves neither bridge nor connection nor file behind', async () => {
    await using here = await site();
    const hold = `"$1" -e 'const s = require("net").connect(61128, "127.0.0.1", () => {
      s.write("CONNECT ${HOST}:${here.port} HTTP/1.1\\r\\n\\r\\n"); });
      s.on("data", () => { console.log("held"); process.kill(process.pid, "SIGKILL"); })'`;
    const { exit, lines, mark, ms } = await fenced(here, `${hold}; exit 3`);
    expect({ exit, lines, left: marked(mark) }).toEqual({
      exit: { kind: 'exited', code: 3 },
      lines: ['held'],
      left: [],
    });
    expect(ms).toBeLessThan(GRACE_MS);
    await here.egress.close();
    expect(existsSync(dirname(here.egress.socket))).toBe(false);
  });

  test('on abort leaves time to say goodbye over the network', async () => {
    await using here = await site();
    const polite = `trap '${FETCH.replaceAll("'", `'\\''`)}; exit 0' INT
      echo ready; while :; do sleep 0.05; done`;
    const { exit, lines, mark } = await fenced(here, polite, { abortOn: 'ready' });
    expect({ exit, lines, left: marked(mark) }).toEqual({
      exit: { kind: 'aborted', reason: 'enough' },
      lines: ['ready', '200 hello'],
      left: [],
    });
  });

  test('comes before its beginning where the way out is closed', async () => {
    await using here = await site();
    await here.egress.close();
    const { exit, lines } = await fenced(here, 'echo started');
    expect({ exit, lines }).toEqual({ exit: { kind: 'exited', code: 1 }, lines: [] });
  });
});

test.skipIf(support.kind === 'missing')(
  'a plan with a list of hosts runs with them, says what was refused, and leaves nothing',
  async () => {
    await using here = await site();
    await using repo = await tempRepo();
    const node = `"${process.execPath}"`;
    const script = `set -- ${node} http://${HOST}:${here.port}/
      ${GET} > a.txt; set -- "$1" http://evil.example/; ${GET} > b.txt`;
    const network = [`${HOST}:${here.port}`, '*.npmjs.org'];
    const { code, stderr } = await runPlan(
      repo,
      { tasks: { a: script }, more: { sandbox: 'require', fence: { network } } },
      { env: { TMPDIR: here.temp.path } },
    );
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('The fence refused connections to: evil.example\n'),
    });
    expect(await repo.git('show', 'main:a.txt')).toBe('200 hello');
    expect(await repo.git('show', 'main:b.txt')).toMatch(/^403 .*evil.example is not in/);
    expect(readdirSync(here.temp.path).filter((name) => name.includes('egress'))).toEqual([]);
  },
);

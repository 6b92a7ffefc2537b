/**
 * The fence with the real tool: what a program can and cannot do inside, and that it ends.
 *
 * Repositories lie in /var/tmp, because /tmp is replaced inside of a fence; one test is about that.
 */

import { randomInt, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exit } from '../../src/base/exit.ts';
import { addWorktree } from '../../src/git/worktree.ts';
import type { FenceRules } from '../../src/process/fence/bounds.ts';
import { fenceSupport, makeFence } from '../../src/process/fence.ts';
import { processList } from '../../src/process/process-list.ts';
import { endMarked, marked } from '../../src/process/process-tree.ts';
import { run } from '../../src/process/run.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const support = await fenceSupport(AbortSignal.timeout(20_000));
const DAEMON = '(setsid nohup sleep 300 >/dev/null 2>&1 &)';
const BRANCH = 'landfast/r1.a';

test('this machine can fence programs in', ({ skip }) => {
  if (support.kind === 'available') return;
  const message = `THE FENCE WAS NOT TESTED: ${support.why}. ${support.remedy}`;
  if (process.env.CI) throw new Error(message);
  console.warn(message);
  skip(message);
});

/** A repository with two workspaces, a cache and a temp folder, in paths with spaces. */
interface Site extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly rules: FenceRules;
  readonly temp: TempDir;
  readonly other: string;
  readonly cache: string;
}

interface Ended {
  readonly exit: Exit;
  readonly lines: readonly string[];
  readonly errors: string;
  readonly mark: string;
  readonly ms: number;
}

async function site(more: Partial<FenceRules> = {}): Promise<Site> {
  const repo = await tempRepo({ name: 'my repo', files: { 'a.txt': 'one\n' } });
  const worktrees = join(repo.outside, 'my repo.worktrees');
  const commit = await repo.git('rev-parse', 'HEAD');
  await repo.git('branch', 'landfast/r1');
  const places = [
    { path: join(worktrees, 'task a'), branch: BRANCH, commit },
    { path: join(worktrees, 'task b'), branch: 'elsewhere/b', commit },
  ] as const;
  for (const place of places) await addWorktree(repo.commonDir, place, repo.signal);
  const temp = await tempDir();
  const cache = join(repo.outside, 'cache of tools');
  return {
    repo,
    temp,
    cache,
    other: places[1].path,
    rules: {
      workspace: places[0].path,
      commonDir: repo.commonDir,
      branchRef: `refs/heads/${BRANCH}`,
      writable: [cache],
      network: 'on',
      ...more,
    },
    [Symbol.asyncDispose]: async () => {
      await temp[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

interface More {
  readonly stdin?: string;
  readonly abortOn?: string;
  readonly args?: string[];
  readonly graceMs?: number;
}

/** Longer than a program that obeys takes to end, however busy the machine is. */
const GRACE_MS = 60_000;

/** Runs a shell script inside of the fence; `abortOn` is a line that makes us abort. */
async function fenced({ rules, temp }: Site, text: string, more: More = {}): Promise<Ended> {
  const program = makeFence(rules)(
    { file: 'sh', args: ['-c', text, 'sh', ...(more.args ?? [])] },
    temp.path,
  );
  const lines: string[] = [];
  const errors: string[] = [];
  const stop = new AbortController();
  const mark = `test-${randomUUID()}`;
  const startedAt = performance.now();
  const exit = await run(
    {
      ...program,
      cwd: rules.workspace,
      env: { ...process.env, TMPDIR: temp.path },
      stdin: more.stdin ?? '',
      graceMs: more.graceMs ?? GRACE_MS,
      mark,
      onLine: (line, from) => {
        (from === 'stdout' ? lines : errors).push(line);
        if (line === more.abortOn) stop.abort('enough');
      },
    },
    stop.signal,
  );
  return { exit, lines, errors: errors.join('\n'), mark, ms: performance.now() - startedAt };
}

/** A script that tries to write to each path given, and names those where it could. */
const TRY_EACH = 'for f; do if (echo x >> "$f") 2>/dev/null; then echo "$f"; fi; done';
const OK: Exit = { kind: 'exited', code: 0 };

const before = process.env.TMPDIR;
beforeAll(() => {
  process.env.TMPDIR = '/var/tmp';
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
});

describe.skipIf(support.kind === 'missing')('a fenced program', () => {
  test('writes to its workspace, its temp folder, /tmp and its caches, nowhere else', async () => {
    await using here = await site();
    const { repo, rules, temp, cache, other } = here;
    const allowed = [
      join(rules.workspace, 'new'),
      join(temp.path, 'new'),
      '/tmp/landfast-new',
      join(cache, 'new'),
      '/dev/null',
    ];
    const forbidden = [
      join(repo.dir, 'a.txt'),
      join(repo.dir, 'new'),
      join(repo.outside, 'new'),
      join(repo.outside, '.profile'),
      join(other, 'a.txt'),
      join(other, '.git'),
      '/etc/landfast-new',
      '/var/tmp/landfast-new',
      '/usr/bin/landfast-new',
    ];
    const { lines } = await fenced(here, TRY_EACH, { args: [...forbidden, ...allowed] });
    expect(lines).toEqual(allowed);
    expect(await readFile(join(cache, 'new'), 'utf8')).toBe('x\n');
    expect((await stat(cache)).mode & 0o777).toBe(0o700);
    expect(existsSync('/tmp/landfast-new')).toBe(false);
    expect(await readFile(join(temp.path, 'landfast-new'), 'utf8')).toBe('x\n');
  });

  test('cannot write what git shares, nor what tells git how to behave', async () => {
    await using here = await site();
    const { repo, rules } = here;
    const admin = await runGit(rules.workspace, ['rev-parse', '--absolute-git-dir']);
    const otherAdmin = await runGit(here.other, ['rev-parse', '--absolute-git-dir']);
    await repo.git('pack-refs', '--all', '--no-prune');
    const names = [
      ...['config', 'HEAD', 'packed-refs', 'index', 'info/exclude', 'description'],
      ...['hooks/pre-commit', 'refs/heads/main', 'refs/heads/new', 'refs/heads/elsewhere/b'],
      ...['refs/heads/main.lock', 'refs/tags/v1', 'logs/HEAD', 'logs/refs/heads/main', 'new'],
      ...['logs/refs/heads/landfast/r1', 'objects/info/alternates', 'objects/pack/new.pack'],
      'refs/landfast',
    ];
    const forbidden = [
      ...names.map((name) => join(repo.commonDir, name)),
      ...['HEAD', 'index', 'new'].map((name) => join(otherAdmin, name)),
      ...['commondir', 'gitdir', 'config.worktree'].map((name) => join(admin, name)),
      join(rules.workspace, '.git'),
    ];
    const { lines } = await fenced(here, TRY_EACH, { args: forbidden });
    expect(lines).toEqual([]);
    const replace = 'for f; do rm -rf "$f" || mv "$f" gone; test -e "$f" || echo "$f"; done';
    const kept = [...forbidden.slice(-4), join(repo.commonDir, 'objects', 'pack')];
    expect((await fenced(here, replace, { args: kept })).lines).toEqual([]);
  });

  test('reads the repository, edits and commits', async () => {
    await using here = await site();
    const { repo, rules } = here;
    const status = await repo.git('status', '--porcelain', '--branch');
    const { exit, lines } = await fenced(
      here,
      `set -e
       cat "$1/a.txt"
       git log --format=%s main
       echo two >> a.txt
       mkdir sub; echo new > sub/b.txt
       git add --all
       git commit --quiet --message 'By the agent'
       git commit --quiet --amend --message 'By the agent, amended'
       git commit --quiet --allow-empty --message 'Another'
       git rebase --quiet --force-rebase HEAD~2
       git reset --quiet --hard HEAD~1
       git status --porcelain
       git log --format=%s`,
      { args: [repo.dir] },
    );
    expect({ exit, lines }).toEqual({
      exit: OK,
      lines: ['one', 'Change', 'By the agent, amended', 'Change'],
    });
    expect(await repo.git('log', '--format=%s', BRANCH)).toBe('By the agent, amended\nChange');
    expect(await repo.git('show', `${BRANCH}:sub/b.txt`)).toBe('new');
    expect(await repo.git('reflog', 'show', '--format=%gs', BRANCH)).toMatch(/^reset: /);
    expect(await repo.git('status', '--porcelain', '--branch')).toBe(status);
    await repo.git('fsck', '--strict');
    await runGit(rules.workspace, ['commit', '--quiet', '--allow-empty', '-m', 'Outside again']);
  });

  test('commits with a packed branch, a detached HEAD, and when git wants to tidy up', async () => {
    await using here = await site();
    const { repo, rules } = here;
    await repo.git('config', 'gc.auto', '1');
    await repo.git('config', 'gc.autoDetach', 'false');
    await repo.git('pack-refs', '--all', '--prune');
    const text = 'git commit --quiet --allow-empty -m packed; git log -1 --format=%s';
    const packed = await fenced(here, text);
    expect({ exit: packed.exit, lines: packed.lines }).toEqual({ exit: OK, lines: ['packed'] });
    await runGit(rules.workspace, ['checkout', '--quiet', '--detach']);
    const detached = { ...here, rules: { ...rules, branchRef: null } };
    const { lines } = await fenced(detached, `${text}; git update-ref refs/heads/${BRANCH} HEAD`);
    expect(lines).toEqual(['packed']);
    expect(await repo.git('rev-parse', BRANCH)).not.toBe(
      await runGit(rules.workspace, ['rev-parse', 'HEAD']),
    );
  });

  test('cannot make other branches, tags or settings, nor move main', async () => {
    await using here = await site();
    const tries = [
      'branch new',
      'tag v1',
      'config user.name Eve',
      'update-ref refs/heads/main HEAD',
    ];
    const text = tries.map((args) => `git ${args} 2>/dev/null && echo '${args}'`).join('\n');
    await fenced(here, 'git commit --quiet --allow-empty -m Ours');
    expect((await fenced(here, text)).lines).toEqual([]);
  });

  test('cannot mount or otherwise undo the fence, even as root', async () => {
    await using here = await site();
    const text = `
      mount -o remount,bind,rw /
      umount /proc /run "$1/.git"
      unshare --user --map-root-user --mount mount -o remount,bind,rw /
      (echo x > /landfast-escaped) && echo escaped
      grep -E '^Cap(Prm|Eff|Bnd)' /proc/self/status | grep -v 0000000000000000`;
    const { lines } = await fenced(here, text, { args: [here.rules.workspace] });
    expect({ lines, escaped: existsSync('/landfast-escaped') }).toEqual({
      lines: [],
      escaped: false,
    });
  });

  test('sees no process and no socket folder of others', async () => {
    await using here = await site();
    const text =
      'ls /run /tmp; [ -e /proc/$1/exe ] && kill -0 $1 && tr "\\0" " " </proc/$1/cmdline';
    const { lines } = await fenced(here, text, { args: [String(process.pid)] });
    expect(lines.join(' ')).not.toMatch(/docker|dbus|user|node|vitest/);
  });

  test('without network reaches no server, with it does', async () => {
    const server = createServer((_, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `"$1" -e 'fetch("http://127.0.0.1:${port}").then(async (r) =>
      console.log(await r.text()), (e) => console.log(e.cause.code))'`;
    // Inside, /tmp is the temp folder; should Node lie there, it has to be named to be seen.
    const writable = [dirname(process.execPath)];
    try {
      await using open = await site({ writable });
      expect((await fenced(open, ask, { args: [process.execPath] })).lines).toEqual(['hello']);
      await using closed = await site({ writable, network: 'off' });
      const { lines } = await fenced(closed, ask, { args: [process.execPath] });
      expect(lines).toEqual(['ECONNREFUSED']);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('works where everything lies below /tmp, and in a cache behind a link', async () => {
    process.env.TMPDIR = '/tmp';
    try {
      await using here = await site();
      const { repo, rules } = here;
      const link = join(repo.outside, 'link');
      await mkdir(here.cache);
      await symlink(here.cache, link);
      const linked = { ...here, rules: { ...rules, writable: [link] } };
      const text = `${TRY_EACH}; cat "$1"; git commit --quiet --allow-empty -m Ours && echo done`;
      const forbidden = [join(repo.dir, 'a.txt'), join(repo.commonDir, 'config')];
      const allowed = [join(here.cache, 'new'), join(here.temp.path, 'new')];
      const { lines } = await fenced(linked, text, { args: [...forbidden, ...allowed] });
      expect(lines).toEqual([...allowed, 'one', 'done']);
      expect(await readFile(allowed[0] ?? '', 'utf8')).toBe('x\n');
    } finally {
      process.env.TMPDIR = '/var/tmp';
    }
  });
});

describe.skipIf(support.kind === 'missing')('the end of a fenced program', () => {
  test('passes on input, output, arguments, folder and exit code', async () => {
    await using here = await site();
    const text = 'cat; pwd; echo "$1"; echo err >&2; printf last; exit 129';
    const ended = await fenced(here, text, { stdin: 'in\n', args: ['a  "b" $c\n\'d'] });
    const { exit, lines, errors } = ended;
    expect({ exit, lines, errors }).toEqual({
      exit: { kind: 'exited', code: 129 },
      lines: ['in', here.rules.workspace, 'a  "b" $c', "'d", 'last'],
      errors: 'err',
    });
  });

  test.each(['KILL', 'TERM', 'SEGV'])('tells that SIG%s killed it', async (name) => {
    await using here = await site();
    const { exit } = await fenced(here, `kill -${name} $$`);
    expect(exit).toEqual({ kind: 'signalled', signal: `SIG${name}` });
  });

  test('a program that does not exist is code 127', async () => {
    await using here = await site();
    const program = makeFence(here.rules)({ file: 'no-such-program', args: [] }, here.temp.path);
    const { rules } = here;
    const rest = { stdin: '', graceMs: 0, mark: null, onLine: () => {} };
    const env = { PATH: '/usr/bin:/bin' };
    const exit = await run({ ...program, ...rest, env, cwd: rules.workspace }, here.repo.signal);
    expect(exit).toEqual({ kind: 'exited', code: 127 });
  });

  test('leaves no daemon behind', async () => {
    await using here = await site();
    const { exit, mark, ms } = await fenced(here, `${DAEMON}; exit 3`);
    expect({ exit, left: marked(mark) }).toEqual({ exit: { kind: 'exited', code: 3 }, left: [] });
    expect(ms).toBeLessThan(GRACE_MS);
  });

  test('on abort takes along daemons, also one with a clean environment', async () => {
    await using here = await site();
    const seconds = `298.${randomInt(1e9, 1e10)}`; // No other process of the machine has it.
    const clean = `(env -i setsid nohup sleep ${seconds} >/dev/null 2>&1 &)`;
    // Without `exec`, dash can lose a SIGINT that comes between its fork and the start of `sleep`.
    const text = `${DAEMON}; ${clean}; sleep 0.2; echo ready; exec sleep 300`;
    const ended = await fenced(here, text, { abortOn: 'ready' });
    expect(ended.exit).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(marked(ended.mark)).toEqual([]);
    const commands = await Promise.all(
      processList().map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    expect(commands.filter((command) => command.includes(seconds))).toEqual([]);
    expect(ended.ms).toBeLessThan(GRACE_MS);
  });

  test('on abort gives time to say goodbye', async () => {
    await using here = await site();
    const polite = `trap 'sleep 0.5; echo bye > bye; echo bye; exit 0' INT
      ${DAEMON}; echo ready; while :; do sleep 0.05; done`;
    const { lines, mark, ms } = await fenced(here, polite, { abortOn: 'ready' });
    expect({ lines, left: marked(mark) }).toEqual({ lines: ['ready', 'bye'], left: [] });
    expect(existsSync(join(here.rules.workspace, 'bye'))).toBe(true);
    expect(ms).toBeLessThan(GRACE_MS);
  });

  test('on abort comes to one that ignores signals too', async () => {
    await using here = await site();
    const stubborn = 'trap "" INT TERM; echo ready; while :; do sleep 0.2; done';
    const { exit, mark } = await fenced(here, stubborn, { abortOn: 'ready', graceMs: 500 });
    expect({ exit, left: marked(mark) }).toEqual({
      exit: { kind: 'aborted', reason: 'enough' },
      left: [],
    });
  });

  test('can be brought about by the next engine, which knows only the mark', async () => {
    await using here = await site();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const mark = `test-${randomUUID()}`;
    const script = ['-c', `${DAEMON}; echo ready; exec sleep 300`];
    const program = makeFence(here.rules)({ file: 'sh', args: script }, here.temp.path);
    const rest = { stdin: '', graceMs: 0, env: process.env, onLine: () => resolve() };
    const cwd = here.rules.workspace;
    const ended = run({ ...program, ...rest, mark, cwd }, here.repo.signal);
    await ready;
    expect(marked(mark).length).toBeGreaterThan(3);
    expect(await endMarked(mark, here.repo.signal)).toEqual([]);
    await ended;
  });
});

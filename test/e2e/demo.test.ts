/** `landfast demo` as a user gets it: the built program, a home of its own, no account. */

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isWhole } from '../support/seeds.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'bin', 'landfast.cjs');
const run = promisify(execFile);

/** What a busy machine is allowed. */
const LIMIT_MS = 300_000;
/** What the demo promises, on a machine that does nothing else. */
const PROMISED_MS = isWhole ? 20_000 : LIMIT_MS;

beforeAll(async () => {
  if (existsSync(join(root, 'dist', 'main.js'))) return;
  await run(process.execPath, [join(root, 'scripts', 'build.ts')]);
}, LIMIT_MS);

test(
  'the demo shows a retry, an overlap and a catch, and leaves nothing behind',
  async () => {
    const scratch = await scratchDir();

    const { code, stdout, stderr, ms } = await landfast(['demo'], scratch);

    expect({ code, inTime: ms < PROMISED_MS }).toEqual({ code: 0, inTime: true });
    expect(lineOf(stderr, 'stock', 'attempt 1 failed')).toContain('The connection was lost');
    expect(lineOf(stderr, 'stock', 'landed as')).toBeDefined();
    expect(lineOf(stderr, 'receipt', 'did not land')).toMatch(/gate-failed: .*tests.*\(cents/);
    expect(lineOf(stderr, 'receipt', 'landed as')).toBeDefined();
    const [landedFirst, startedSecond] = [
      stderr.search(/discount +landed as/),
      stderr.search(/shipping +attempt 1 started/),
    ];
    expect(landedFirst).toBeGreaterThan(0);
    expect(startedSecond).toBeGreaterThan(landedFirst);

    expect(stdout).toContain('All 7 tasks succeeded; main is at ');
    expect(stdout.match(/Land \w+$/gm)?.sort()).toEqual([
      'Land cents',
      'Land checkout',
      'Land discount',
      'Land guide',
      'Land receipt',
      'Land shipping',
      'Land stock',
    ]);
    expect(stdout).toContain('discount and shipping both write src/rules/**, so they took turns.');
    // A second, and what a busy machine adds.
    expect(stdout).toMatch(/stock failed and was tried again after (?:[1-9]\.\d|[1-9]\d) s:/);
    expect(stdout).toContain('receipt was caught by the gate tests before it could land:');
    expect(stdout).toContain("+ 'Total in euros: 700.00'\n");
    expect(stdout).toContain("- 'Total in euros: 7.00'\n");
    expect(stdout).toMatch(
      /\*\*`receipt` is green alone, red together with what landed meanwhile: .*cents/,
    );
    expect(stdout).toContain('landfast demo --keep');
    expect(await readdir(join(scratch.path, 'tmp'))).toEqual([]);
    expect(await readdir(join(scratch.path, 'home'))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a kept demo is green, tidy and can be looked at',
  async () => {
    const scratch = await scratchDir();

    const { code, stdout } = await landfast(['demo', '--keep'], scratch);

    const [name = ''] = await readdir(join(scratch.path, 'tmp'));
    const folder = join(scratch.path, 'tmp', name);
    const repository = join(folder, 'shop');
    expect(code).toBe(0);
    expect(stdout).toContain(`cd ${repository}\n`);
    expect((await readdir(folder)).sort()).toEqual(['report.md', 'shop']);
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toContain(
      '| receipt | tests | ✗ red |',
    );
    const git = async (...args: string[]) => (await run('git', args, { cwd: repository })).stdout;
    expect(await git('status', '--porcelain', '--branch')).toBe('## main\n');
    expect((await git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
    expect(await git('branch', '--format=%(refname:short)')).toBe('main\n');
    const tests = await run(process.execPath, ['--test', '--test-reporter=spec'], {
      cwd: repository,
      env: env(scratch),
    });
    expect(tests.stdout).toMatch(/pass 8\n.*fail 0\n/);

    expect(commandsIn(stdout).length).toBeGreaterThan(0);
    for (const line of commandsIn(stdout)) {
      const args = line.replace('landfast ', '').split(' ');
      const { code: answer, stdout: shown } = await landfast(['-C', repository, ...args], scratch, {
        cwd: repository,
      });
      expect({ line, answer, isEmpty: shown === '' }).toEqual({ line, answer: 0, isEmpty: false });
    }
  },
  LIMIT_MS,
);

test(
  'Ctrl-C ends the demo, and its folder goes',
  async () => {
    const scratch = await scratchDir();
    const child = spawn(process.execPath, [program, 'demo'], {
      env: env(scratch),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));

    for await (const line of createInterface(child.stderr)) {
      if (/ stock +attempt 1 started/.test(line)) child.kill('SIGINT');
    }

    expect(await ended).toBe(130);
    expect(await readdir(join(scratch.path, 'tmp'))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'an agent that is not installed is said at once, and nothing is left',
  async () => {
    const scratch = await scratchDir();

    const path = join(scratch.path, 'bin');
    await mkdir(path);
    const { stdout: git } = await run('/bin/sh', ['-c', 'command -v git']);
    await symlink(git.trim(), join(path, 'git'));

    const { code, stderr } = await landfast(['demo', '--agent', 'claude'], scratch, { path });

    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('The program of agent claude was not found'),
    });
    expect(await readdir(join(scratch.path, 'tmp'))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'an agent that does not exist is refused with those there are',
  async () => {
    const scratch = await scratchDir();

    const { code, stderr } = await landfast(['demo', '--agent', 'nobody'], scratch);

    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('There are: ') });
    expect(await readdir(join(scratch.path, 'tmp'))).toEqual([]);
  },
  LIMIT_MS,
);

async function scratchDir(): Promise<TempDir> {
  const scratch = await tempDir();
  onTestFinished(() => scratch[Symbol.asyncDispose]());
  await mkdir(join(scratch.path, 'home'));
  await mkdir(join(scratch.path, 'tmp'));
  return scratch;
}

/** An environment from nothing: no identity, key or session of the user who runs the tests. */
function env({ path }: TempDir, PATH = process.env.PATH ?? ''): Record<string, string> {
  return { PATH, HOME: join(path, 'home'), TMPDIR: join(path, 'tmp'), LANG: 'C.UTF-8' };
}

async function landfast(
  args: readonly string[],
  scratch: TempDir,
  { path, cwd = scratch.path }: { readonly path?: string; readonly cwd?: string } = {},
) {
  const began = performance.now();
  const child = run(process.execPath, [program, ...args], { cwd, env: env(scratch, path) });
  const { stdout, stderr } = await child.catch((error) => error);
  return { code: child.child.exitCode, stdout, stderr, ms: performance.now() - began };
}

/** The progress line of a task that says so. */
function lineOf(stderr: string, task: string, words: string): string | undefined {
  return stderr.split('\n').find((line) => line.includes(` ${task} `) && line.includes(words));
}

/** The commands that the demo suggests next. */
function commandsIn(stdout: string): readonly string[] {
  const next = stdout.slice(stdout.indexOf('Where to look next'));
  return [...next.matchAll(/^ +(landfast .+?)(?: {2}|$)/gm)].map(([, command = '']) => command);
}

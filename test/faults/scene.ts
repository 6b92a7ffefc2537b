/**
 * What the tests of faults share: a run to disturb, and what must be true once it has been resumed.
 *
 *   F1. Whatever happened, users are told in sentences: a stack trace is a failure of the test.
 *   F2. In the end everything has landed once, and nothing of the run is left.
 */

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Entry, Event } from '../../src/model/event.ts';
import { marked } from '../../src/process/process-tree.ts';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { nativePlan, type PlanParts } from '../support/native-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);
const PRELOAD = join(import.meta.dirname, 'preload.mjs');

/** Another clock or another host for one engine; see preload.mjs. */
export interface Elsewhere {
  /** Added to the time of day. */
  readonly clockMs?: number;
  /** A file that holds what is added, from the moment it is there. */
  readonly clockFile?: string;
  readonly host?: string;
}

/** The environment that puts an engine elsewhere. */
export function elsewhere(what: Elsewhere): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${PRELOAD}`, FAULTS_ELSEWHERE: JSON.stringify(what) };
}

/** A script that says that it is up, then waits until the test lets it go on. */
export const WAITS = 'touch ../../../up; while test ! -e ../../../go; do sleep 0.05; done';

/** Writes a plan beside the repository and starts it with `--events`. */
export function begin(
  repo: TempRepo,
  plan: PlanParts,
  {
    args = [],
    env = {},
  }: { args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Running {
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan(plan));
  return start(['run', '../plan.yaml', '--events', ...args], { cwd: repo.dir, env });
}

/** Makes a file beside the repository. */
export function make(repo: TempRepo, name: string): void {
  writeFileSync(join(repo.outside, name), '');
}

/** Waits for a file beside the repository. */
export async function untilMade(repo: TempRepo, name: string): Promise<void> {
  while (!existsSync(join(repo.outside, name))) await new Promise((go) => setTimeout(go, 20));
}

/** The folder of a task's workspace. */
export function workspaceOf(repo: TempRepo, task: string): string {
  return join(repo.outside, 'repo.worktrees', runOf(repo), task);
}

/** The id of the only run. */
export function runOf(repo: TempRepo): string {
  return String(query(repo, 'SELECT run FROM runs')[0]?.run ?? '');
}

/** The journal of the only run, as it lies on the disk. */
export function journalOf(repo: TempRepo): readonly Entry[] {
  const rows = query(repo, 'SELECT seq, at, event FROM entries ORDER BY run, seq');
  return rows.map(({ seq, at, event }) => ({
    seq: Number(seq),
    at: Number(at),
    event: JSON.parse(String(event)) as Event,
  }));
}

function query(repo: TempRepo, sql: string): readonly Record<string, SQLOutputValue>[] {
  const db = new DatabaseSync(join(repo.commonDir, 'landfast', 'landfast.db'));
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** Asserts that a user was told what is wrong and what to do, and nothing of our insides. */
export function expectTold(ended: Ended, code: number, ...texts: readonly string[]): void {
  for (const text of texts) expect(ended.stderr).toContain(text);
  expect(ended.stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(ended.code, ended.stderr).toBe(code);
}

/** Resumes and asserts that everything lands once and that nothing is left of the run. */
export async function expectResumed(repo: TempRepo, files: readonly string[]): Promise<Ended> {
  const resumed = await landfast(['resume'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  await expectWhole(repo, files);
  return resumed;
}

/** Asserts that the target holds these files, each landed once, and nothing else is there. */
export async function expectWhole(repo: TempRepo, files: readonly string[]): Promise<void> {
  expect((await repo.git('ls-tree', '--name-only', 'main')).split('\n')).toEqual(
    ['README.md', ...files].sort(),
  );
  const subjects = (await repo.git('log', '--first-parent', '--format=%s', 'main')).split('\n');
  expect(subjects.filter((subject) => subject.startsWith('Land ')).length).toBe(files.length);
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await repo.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
    'refs/heads/main',
  );
  expect(await repo.git('fsck', '--no-dangling', '--no-progress')).toBe('');
  const inside = readdirSync(repo.commonDir, { recursive: true, encoding: 'utf8' });
  expect(inside.filter((name) => name.endsWith('.lock'))).toEqual([]);
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  expect(marked(`${runOf(repo)}/`)).toEqual([]);
}

/** Stops an engine at a moment when it does not hold the database, which would block all writers. */
export async function stopBetweenWrites(engine: Running, repo: TempRepo): Promise<void> {
  const db = new DatabaseSync(join(repo.commonDir, 'landfast', 'landfast.db'), { timeout: 0 });
  for (;;) {
    engine.child.kill('SIGSTOP');
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      return db.close();
    } catch (error) {
      if (!/locked|busy/.test(String(error))) throw error;
      engine.child.kill('SIGCONT');
      await new Promise((go) => setTimeout(go, 20));
    }
  }
}

/** A `git` on PATH before the real one, as a shell script that knows `$count` and `$real`. */
export async function gitBefore(
  repo: TempRepo,
  script: string,
): Promise<{ readonly PATH: string }> {
  const { stdout } = await exec('sh', ['-c', 'command -v git']);
  const bin = join(repo.outside, 'bin');
  mkdirSync(bin);
  writeFileSync(join(repo.outside, 'git-count'), '0\n');
  const text = `#!/bin/sh
real='${stdout.trim()}'
exec 8>>'${repo.outside}/git-lock'
flock 8
read -r count < '${repo.outside}/git-count'
count=$((count + 1))
echo "$count" > '${repo.outside}/git-count'
exec 8>&-
${script}
exec "$real" "$@"
`;
  writeFileSync(join(bin, 'git'), text);
  chmodSync(join(bin, 'git'), 0o755);
  return { PATH: `${bin}:${process.env.PATH}` };
}

/** A folder that is a disk of its own, so many megabytes small; or why there is none. */
export async function smallDisk(
  megabytes: number,
): Promise<(AsyncDisposable & { readonly path: string }) | string> {
  const place = await tempDir();
  const { path } = place;
  try {
    await exec('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  } catch (error) {
    await place[Symbol.asyncDispose]();
    const why = String((error as { stderr?: string }).stderr ?? error).trim();
    return `No disk can be mounted here: ${why}`;
  }
  const dispose = async (): Promise<void> => {
    await exec('umount', ['-l', path]);
    await place[Symbol.asyncDispose]();
  };
  return { path, [Symbol.asyncDispose]: dispose };
}

/** A repository on such a disk; or why there is none. */
export async function repoOnSmallDisk(
  megabytes: number,
): Promise<{ readonly repo: TempRepo; readonly why: '' } | { readonly repo: null; why: string }> {
  const place = await smallDisk(megabytes);
  if (typeof place === 'string') return { repo: null, why: place };
  const disk = place.path;
  const before = process.env.TMPDIR;
  process.env.TMPDIR = disk;
  const repo = await tempRepo();
  const dispose = async (): Promise<void> => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await repo[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  };
  return { repo: { ...repo, [Symbol.asyncDispose]: dispose }, why: '' };
}

/** Makes a folder read-only, for root too; calling the answer undoes it. Or why that cannot be. */
export async function readOnly(dir: string): Promise<(() => Promise<void>) | string> {
  if (process.getuid?.() !== 0) {
    chmodSync(dir, 0o555);
    return async () => chmodSync(dir, 0o755);
  }
  try {
    await exec('mount', ['--bind', dir, dir]);
  } catch (error) {
    return `Root may write anywhere, and nothing can be mounted here: ${String(error)}`;
  }
  await exec('mount', ['-o', 'remount,ro,bind', dir]);
  return async () => void (await exec('umount', [dir]));
}

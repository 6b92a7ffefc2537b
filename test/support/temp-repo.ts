/**
 * A real repository for one test, alone in the world: no global or system configuration, a home
 * of its own.
 *
 * The isolation is done in `process.env`, so that the code under test sees it as well; each test
 * file has a process of its own, and the values before are put back when the scope ends. Two
 * repositories in one scope are fine, two tests at once in one file are not.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gitEnvironment } from '../../src/git/environment.ts';
import { tempDir, writeFiles } from './temp-dir.ts';

/** Contents by path; null deletes the file. */
export type Files = Readonly<Record<string, string | null>>;

export interface TempRepo extends AsyncDisposable {
  /** The checkout of `main`. */
  readonly dir: string;
  /** Its `.git`. */
  readonly commonDir: string;
  /** A folder around the checkout, for clones and worktrees. */
  readonly outside: string;
  readonly signal: AbortSignal;
  /**
   * Commits files on a branch, without touching the checkout unless the branch is checked out
   * there. A new branch starts at `main`.
   */
  commit(branch: string, files: Files): Promise<string>;
  /** Writes files in the checkout. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs git in the checkout and gives its output, trimmed. */
  git(...args: readonly string[]): Promise<string>;
}

const USER = '[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n';

/** Makes a repository with one commit on `main`. */
export async function tempRepo(
  options: {
    /** The first commit's files; null for a repository without commits. */
    readonly files?: Readonly<Record<string, string>> | null;
    /** The name of the checkout's folder. */
    readonly name?: string;
    /** More for `git init`. */
    readonly init?: readonly string[];
  } = {},
): Promise<TempRepo> {
  const home = await tempDir();
  const restore = setEnvironment({
    HOME: home.path,
    XDG_CONFIG_HOME: join(home.path, '.config'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CEILING_DIRECTORIES: home.path,
  });
  const dir = join(home.path, options.name ?? 'repo');
  await runGit(home.path, ['init', '--quiet', '-b', 'main', ...(options.init ?? []), dir]);
  await appendFile(join(dir, '.git', 'config'), USER);
  const files = options.files === undefined ? { 'README.md': 'hello\n' } : options.files;
  const git = (...args: readonly string[]) => runGit(dir, args);
  if (files !== null) await commitAll(dir, files);
  return {
    dir,
    commonDir: join(dir, '.git'),
    outside: home.path,
    signal: new AbortController().signal,
    git,
    write: (more) => writeFiles(dir, more),
    commit: async (branch, changes) => {
      const head = await git('symbolic-ref', '--short', 'HEAD').catch(() => '');
      return head === branch ? commitCheckedOut(dir, changes) : importCommit(dir, branch, changes);
    },
    [Symbol.asyncDispose]: async () => {
      restore();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** Runs git and gives its output, trimmed; throws what it said if it fails. */
export async function runGit(dir: string, args: readonly string[], stdin = ''): Promise<string> {
  const child = spawn('git', args, { cwd: dir, env: gitEnvironment(process.env) });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

function setEnvironment(values: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

async function commitCheckedOut(dir: string, files: Files): Promise<string> {
  await commitAll(dir, files);
  return runGit(dir, ['rev-parse', 'HEAD']);
}

async function commitAll(dir: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) await runGit(dir, ['rm', '--quiet', '--', path]);
    else await writeFiles(dir, { [path]: content });
  }
  await runGit(dir, ['add', '--all']);
  await runGit(dir, ['commit', '--quiet', '--allow-empty', '--message', 'Change']);
}

/** One process, no checkout. */
async function importCommit(dir: string, branch: string, files: Files): Promise<string> {
  const ref = `refs/heads/${branch}`;
  const from = await runGit(dir, ['rev-parse', '--verify', ref]).catch(() => 'refs/heads/main^0');
  const changes = Object.entries(files).map(([path, content]) =>
    content === null ? `D ${quoted(path)}\n` : `M 100644 inline ${quoted(path)}\n${data(content)}`,
  );
  const committer = 'committer Ada Lovelace <ada@example.com> now\n';
  const stream = `commit ${ref}\n${committer}${data('Change')}from ${from}\n${changes.join('')}`;
  await runGit(dir, ['fast-import', '--quiet', '--date-format=now'], stream);
  return runGit(dir, ['rev-parse', '--verify', ref]);
}

function data(content: string): string {
  return `data ${Buffer.byteLength(content)}\n${content}\n`;
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

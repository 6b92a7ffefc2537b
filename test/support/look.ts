/**
 * Everything that a program can see of a working tree: `node look.ts FOLDER` prints it as JSON.
 *
 * Names are bytes, written as Latin-1. What lies in a `.git` is left out, that there is one is not.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs';
import { isSystemError } from '../../src/base/errors.ts';

/** A line for each path, and the lines of each of git's answers. */
export interface Sight {
  readonly git: readonly string[];
  readonly files: readonly string[];
}

const QUESTIONS = [
  'git rev-parse HEAD^{tree} --abbrev-ref HEAD',
  'git ls-files -v -s',
  'git status --porcelain=v2 --ignored --untracked-files=all --ignore-submodules=none',
  'cd "$(git rev-parse --git-dir)"; ls -d [MCR]*_HEAD MERGE_* BISECT_* rebase-* sequencer',
  'git for-each-ref refs/bisect refs/worktree refs/rewritten',
  'git config --show-scope --get-regexp "^(core|user|filter|merge)[.]" | grep ^worktree',
];

const OF_SUBMODULES = [
  'git submodule status --recursive',
  'git submodule foreach -q --recursive "git ls-files -v -s; git status --porcelain --ignored"',
];

/** What is in a working tree. */
export function lookAt(dir: string): Sight {
  const questions = existsSync(`${dir}/.gitmodules`) ? OF_SUBMODULES : [];
  const script = [...QUESTIONS, ...questions].map((one) => `echo '$ ${one}'; (${one}) 2>&1\n`);
  const options = { cwd: dir, encoding: 'latin1', input: `${script.join('')}exit 0\n` } as const;
  const answers = execFileSync('sh', options).replaceAll(dir, '.');
  return { git: answers.split('\n'), files: [...listing(dir)] };
}

/** Every file and folder of a working tree: its name, kind, mode and content. */
export function* listing(dir: string, below = ''): Generator<string> {
  const folder = Buffer.from(`${dir}/${below}`, 'latin1');
  for (const name of namesIn(folder)) {
    const path = `${below}${name}`;
    if (path === '.git') continue;
    const full = Buffer.from(`${dir}/${path}`, 'latin1');
    const found = lstatSync(full);
    yield `${path} ${found.mode.toString(8)} ${contentOf(full, found)}`;
    if (found.isDirectory() && name !== '.git') yield* listing(dir, `${path}/`);
  }
}

function namesIn(folder: Buffer): readonly string[] {
  try {
    const names = readdirSync(folder, 'buffer');
    return names.map((name) => name.toString('latin1')).sort();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return []; // Its mode says why.
  }
}

function contentOf(path: Buffer, found: Stats): string {
  if (found.isSymbolicLink()) return `-> ${readlinkSync(path, 'latin1')}`;
  if (!found.isFile()) return found.isDirectory() ? '' : 'special';
  if (path.toString('latin1').endsWith('/.git')) return 'of a submodule'; // Names where it is.
  const digest = createHash('sha256');
  try {
    digest.update(readFileSync(path));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `${found.nlink} unreadable`;
  }
  return `${found.nlink} ${found.size} ${digest.digest('hex').slice(0, 12)}`;
}

if (import.meta.main) console.log(JSON.stringify(lookAt(process.argv[2] ?? '.')));

/**
 * What a workspace with some folders costs beside a whole one, in a repository of 50,000 files: to
 * make one, to look at what has changed, to remove one. A whole one is also handed on to the next
 * task, as the pool does. Both take turns, round by round. One of 50 packages, with 1,000 files, is
 * what the task may write.
 *
 *   npm run bench:sparse [-- --files 50000 --rounds 5 --dir /dev/shm]
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changedFiles } from '../src/git/diff.ts';
import type { Cone } from '../src/git/sparse.ts';
import { addWorktree, removeWorktree } from '../src/git/worktree.ts';
import { thisClaimOwner } from '../src/workspace/pool/claim-owner.ts';
import { Pool } from '../src/workspace/pool/pool.ts';
import { defaultPlace } from './ground.ts';

const PACKAGES = 50;
const FOLDERS = 20;
const MINUTES = 60_000;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '5' },
    dir: { type: 'string' },
  },
});
const place = mkdtempSync(join(values.dir ?? defaultPlace(tmpdir()), 'landfast-sparse-'));
try {
  await measure(join(place, 'repo'));
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function measure(dir: string): Promise<void> {
  const commits = build(dir, Number(values.files));
  const kinds: Readonly<Record<string, Cone | null>> = { full: null, sparse: ['packages/p7'] };
  const times = new Map<string, number[]>();
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [name, cone] of Object.entries(kinds)) {
      for (const [step, ms] of await once(dir, commits, cone)) {
        const key = `${step} ${name}`;
        times.set(key, [...(times.get(key) ?? []), ms]);
      }
    }
  }
  const full = (step: string): number => median(times.get(`${step} full`) ?? []);
  for (const [key, all] of times) {
    const ratio = median(all) / full(key.replace(/ \w+$/, ''));
    console.log(`${key}: ${median(all).toFixed(0)} ms, ratio ${ratio.toFixed(3)}`);
  }
}

/** The life of one workspace: how long each step took. */
async function once(
  dir: string,
  { base, next }: { readonly base: string; readonly next: string },
  cone: Cone | null,
): Promise<readonly (readonly [string, number])[]> {
  const signal = AbortSignal.timeout(10 * MINUTES);
  const commonDir = join(dir, '.git');
  const pool = new Pool({
    ...{ commonDir, folder: join(`${dir}.worktrees`, 'landfast.pool'), run: 'bench' },
    ...{ most: 4, later: 0, small: true, disk: null, keepFiles: [], me: thisClaimOwner() },
  });
  const [one, two] = [join(`${dir}.worktrees`, 'one'), join(`${dir}.worktrees`, 'two')];
  const steps: (readonly [string, number])[] = [];
  const timed = async (step: string, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    await work();
    steps.push([step, performance.now() - began]);
  };
  mkdirSync(`${dir}.worktrees`, { recursive: true });
  await timed('make', async () => {
    const worktree = { path: one, branch: null, commit: base, cone };
    pool.begin(one, await addWorktree(commonDir, worktree, signal));
  });
  writeFileSync(join(one, 'packages/p7/d3/f1.ts'), 'changed\n');
  await timed('look', () => changedFiles(one, base, signal));
  if (cone !== null) {
    await timed('remove', () => removeWorktree(commonDir, one, signal));
    return steps;
  }
  const what = { commit: base, bare: false, flagged: false };
  await timed('restore', () => pool.put(one, what, signal));
  const wanted = { dir: two, commit: next, branch: null, owner: null };
  await timed('hand on', async () => {
    if (!(await pool.take(wanted, signal))) throw new Error('nothing was handed on');
  });
  await timed('remove', () => removeWorktree(commonDir, two, signal));
  return steps;
}

/** Two commits that differ in one file of every package. */
function build(dir: string, files: number): { readonly base: string; readonly next: string } {
  mkdirSync(dir, { recursive: true });
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: dir, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  const each = Math.ceil(files / PACKAGES / FOLDERS);
  const commit = (text: string, count: number): string => {
    for (let at = 0; at < PACKAGES * FOLDERS; at += 1) {
      const folder = join(dir, `packages/p${Math.floor(at / FOLDERS)}/d${at % FOLDERS}`);
      mkdirSync(folder, { recursive: true });
      for (let nth = 0; nth < count; nth += 1) {
        writeFileSync(
          join(folder, `f${nth}.ts`),
          `export const ${text} = '${at}.${nth}';\n`.repeat(25),
        );
      }
    }
    writeFileSync(join(dir, 'package.json'), '{}\n');
    git('add', '-A');
    git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-q', '-m', text);
    return git('rev-parse', 'HEAD');
  };
  return { base: commit('one', each), next: commit('two', 1) };
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
}

/**
 * The honesty check: a run counts only if all of the work is where it should be.
 *
 *   H1. main has one merge for each task, and each task's file and no other change.
 *   H2. The checkout of main followed: git sees no difference in it.
 *   H3. Nothing is left over: no worktree, no branch but main.
 *   H4. landfast did all of its own work: there is a journal, and a transcript for each task.
 *
 * That both contestants reach the same tree is for the caller to compare.
 */

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Contestant, Job } from './contestants.ts';
import { type Ground, git } from './ground.ts';

/** A run did not do its work, so that its cost means nothing. */
export class DishonestError extends Error {
  override readonly name = 'DishonestError';
}

/** What a repository looks like after a run. */
interface Leftovers {
  readonly merges: number;
  readonly added: readonly string[];
  readonly dirty: string;
  readonly worktrees: number;
  readonly branches: string;
  readonly transcripts: number | null;
}

/** Checks what a run has left, and answers with the tree of main. */
export async function inspect(
  ground: Ground,
  { name }: Contestant,
  job: Job & { readonly start: string },
  signal: AbortSignal,
): Promise<string> {
  const ask = (...args: string[]): Promise<string> => git(ground, job.repository, args, signal);
  const range = `${job.start}..main`;
  const found: Leftovers = {
    merges: Number(await ask('rev-list', '--count', '--merges', '--first-parent', range)),
    added: linesOf(await ask('diff', '--name-status', '--no-renames', job.start, 'main')).sort(),
    dirty: await ask('status', '--porcelain'),
    worktrees: linesOf(await ask('worktree', 'list')).length,
    branches: await ask('for-each-ref', '--format=%(refname)', 'refs/heads'),
    transcripts: name === 'landfast' ? await countTranscripts(job.repository) : null,
  };
  const wanted: Leftovers = {
    merges: job.tasks,
    added: Array.from({ length: job.tasks }, (_, index) => `A\ttask-${index + 1}.txt`).sort(),
    dirty: '',
    worktrees: 1,
    branches: 'refs/heads/main',
    transcripts: name === 'landfast' ? job.tasks : null,
  };
  for (const key of Object.keys(wanted) as (keyof Leftovers)[]) {
    const [is, should] = [JSON.stringify(found[key]), JSON.stringify(wanted[key])];
    if (is !== should) throw new DishonestError(`${name}: ${key} is ${is}, not ${should}`);
  }
  return ask('rev-parse', 'main^{tree}');
}

async function countTranscripts(repository: string): Promise<number> {
  const state = join(repository, '.git', 'landfast');
  if (!existsSync(join(state, 'landfast.db'))) throw new DishonestError('landfast: no journal');
  const runs = await readdir(join(state, 'runs'));
  const attempts = await Promise.all(
    runs.map((run) => readdir(join(state, 'runs', run, 'attempts'))),
  );
  return attempts.flat().length;
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

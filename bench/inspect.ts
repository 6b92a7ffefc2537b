/**
 * The honesty check: a run counts only if all of the work is where it should be.
 *
 *   H1. main has one merge for each task, and each task's file and no other change.
 *   H2. The checkout of main followed: git sees no difference in it.
 *   H3. Nothing is left over: no worktree, no ref but main, no process, no temporary file. Only
 *       workspaces that wait in landfast's pool are, and a drain leaves none of them.
 *   H4. landfast did all of its own work: there is a journal, a transcript for each task, and a
 *       report that says that everything succeeded. Where the agent is `claude`, what every answer
 *       says that it cost is in the report, too: its stream was understood.
 *
 * That entrants with the same tasks reach the same tree is for the caller to compare.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Contestant, reportOf, runProgram } from './contestants.ts';
import { type Ground, git } from './ground.ts';
import { fileOf, type Job, STAND_IN_USD } from './jobs.ts';

/** A run did not do its work, so that its cost means nothing. */
export class DishonestError extends Error {
  override readonly name = 'DishonestError';
}

/** What a repository looks like after a run. */
interface Found {
  readonly merges: number;
  readonly added: readonly string[];
  readonly dirty: string;
  readonly worktrees: number;
  readonly refs: string;
  readonly processes: readonly string[];
  readonly temporary: readonly string[];
  readonly transcripts: number | null;
  readonly report: string | null;
}

/** Checks what a run has left, and answers with the tree of main. */
export async function inspect(
  ground: Ground,
  { name, way }: Contestant,
  job: Job,
  signal: AbortSignal,
): Promise<string> {
  const ask = (...args: string[]): Promise<string> => git(ground, job.repository, args, signal);
  const range = `${job.start}..main`;
  const wasIdle = await idleInPool(job);
  const processes = processesOf(ground);
  if (wasIdle > 0) await runProgram(ground, ['pool', 'drain', '-C', job.repository], signal);
  const found: Found = {
    merges: Number(await ask('rev-list', '--count', '--merges', '--first-parent', range)),
    added: linesOf(await ask('diff', '--name-status', '--no-renames', job.start, 'main')).sort(),
    dirty: await ask('status', '--porcelain'),
    worktrees: linesOf(await ask('worktree', 'list')).length,
    refs: await ask('for-each-ref', '--format=%(refname)'),
    processes,
    temporary: await readdir(join(ground.dir, 'tmp')),
    transcripts: way === null ? null : await countTranscripts(job),
    report: way === null ? null : await reportIn(job),
  };
  const usd = way === 'shell' ? 0 : job.tasks.length * STAND_IN_USD;
  const wanted: Found = {
    merges: job.tasks.length,
    added: job.tasks.map((task) => `A\t${fileOf(task)}`).sort(),
    dirty: '',
    worktrees: 1,
    refs: 'refs/heads/main',
    processes: [],
    temporary: [],
    transcripts: way === null ? null : job.tasks.length,
    report: way === null ? null : `succeeded for $${usd.toFixed(2)}`,
  };
  for (const key of Object.keys(wanted) as (keyof Found)[]) {
    const [is, should] = [JSON.stringify(found[key]), JSON.stringify(wanted[key])];
    if (is !== should) throw new DishonestError(`${name}: ${key} is ${is}, not ${should}`);
  }
  if (wasIdle > job.workers) throw new DishonestError(`${name}: ${wasIdle} wait in the pool`);
  return ask('rev-parse', 'main^{tree}');
}

async function idleInPool({ repository }: Job): Promise<number> {
  const pool = join(`${repository}.worktrees`, 'landfast.pool');
  return existsSync(pool) ? (await readdir(pool)).length : 0;
}

/** What still runs of all that was started here: whatever it is, it has this HOME. */
function processesOf({ env }: Ground): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(join('/proc', name, 'environ'), 'utf8').includes(`HOME=${env.HOME}\0`);
    } catch {
      return false; // It is gone, or somebody else's.
    }
  });
}

async function countTranscripts({ repository }: Job): Promise<number> {
  const state = join(repository, '.git', 'landfast');
  if (!existsSync(join(state, 'landfast.db'))) throw new DishonestError('landfast: no journal');
  const runs = await readdir(join(state, 'runs'));
  const attempts = await Promise.all(
    runs.map((run) => readdir(join(state, 'runs', run, 'attempts'))),
  );
  return attempts.flat().length;
}

async function reportIn(job: Job): Promise<string> {
  const report = JSON.parse(await readFile(reportOf(job), 'utf8')) as Report;
  return `${report.outcome} for $${report.cost_usd.toFixed(2)}`;
}

interface Report {
  readonly outcome: string;
  readonly cost_usd: number;
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

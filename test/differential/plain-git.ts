/**
 * The same tasks with plain git: a worktree and a branch each, `add -A`, `commit`, `merge --no-ff`,
 * in the order of Landfast's own steps and from the same heads.
 */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Event } from '../../src/model/event.ts';

/** How a task ended. */
export type Ending = 'landed' | 'conflict' | 'not committed';

export interface Side {
  /** The user's checkout. */
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Repeats the steps recorded in the facts, and says how each task ended. */
export function replay(
  side: Side,
  facts: readonly Event[],
  scriptOf: (task: string) => string,
): Readonly<Record<string, Ending>> {
  const { repo } = side;
  const endings: Record<string, Ending> = {};
  const heads = new Map<string, string>();
  const dirOf = (task: string): string => join(repo, '..', 'work', task);
  for (const fact of facts) {
    if (fact.type === 'attempt.started') {
      const from = fact.base ?? 'HEAD';
      const base = heads.get(from) ?? from;
      const add = ['worktree', 'add', '-q', '-b', `task/${fact.task}`, dirOf(fact.task), base];
      must(git(side, repo, add), add);
    } else if (fact.type === 'attempt.finished' || fact.type === 'attempt.failed') {
      const committed = work(side, dirOf(fact.task), scriptOf(fact.task));
      if (!committed) endings[fact.task] = 'not committed';
    } else if (fact.type === 'merge.landed' || fact.type === 'merge.rejected') {
      const ending = merge(side, fact.task);
      endings[fact.task] = ending;
      if (ending === 'landed') remove(side, fact.task, dirOf(fact.task));
      const head = git(side, repo, ['rev-parse', 'HEAD']).stdout.trim();
      if (fact.type === 'merge.landed') heads.set(fact.commit, head);
    }
  }
  return endings;
}

/** Runs a task's script and commits what it did. */
function work({ env }: Side, dir: string, script: string): boolean {
  const commit = 'git add -A && { git diff --cached --quiet || git commit -q -m work; }';
  return run('sh', ['-c', `sh '${script}'; ${commit}`], { cwd: dir, env }).code === 0;
}

/** Merges a task's branch into the checkout; a conflict leaves it as it was. */
function merge(side: Side, task: string): Ending {
  const args = ['merge', '-q', '--no-ff', '-m', `Land ${task}`, `task/${task}`];
  const merged = git(side, side.repo, args);
  if (merged.code === 0) return 'landed';
  const unmerged = git(side, side.repo, ['ls-files', '--unmerged']).stdout;
  if (unmerged === '') must(merged, args); // It failed for another reason.
  // `merge --abort` gives up where a file stands in a folder's way.
  const reset = ['reset', '-q', '--hard'];
  must(git(side, side.repo, reset), reset);
  return 'conflict';
}

function remove(side: Side, task: string, dir: string): void {
  const steps = [
    ['worktree', 'remove', '--force', dir],
    ['branch', '-q', '-D', `task/${task}`],
  ];
  for (const args of steps) must(git(side, side.repo, args), args);
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function must({ code, stderr }: Ended, args: readonly string[]): void {
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
}

/** Runs git, and says how it ended. */
export function git({ env }: Side, cwd: string, args: readonly string[], input = ''): Ended {
  return run('git', ['-c', 'gc.auto=0', ...args], { cwd, env, input });
}

function run(
  file: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input?: string;
  },
): Ended {
  try {
    const stdout = execFileSync(file, args, { ...options, encoding: 'latin1', stdio: 'pipe' });
    return { code: 0, stdout, stderr: '' };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number } & Omit<Ended, 'code'>;
    return { code: status, stdout, stderr };
  }
}

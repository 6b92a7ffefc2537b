/**
 * judge: what a finished agent left behind, measured against what its task allows.
 *
 *   J1. The diff is taken from the files themselves against the recorded base, untracked ones
 *       included: an agent's word for it does not count.
 *   J2. Nothing is undone. A refused commit or a change out of scope leaves everything in place.
 */

import { commitAll } from '../git/commit.ts';
import { changedFiles, conflictMarkersIn } from '../git/diff.ts';
import { headRefOf, unmergedFiles } from '../git/git-dir.ts';
import { resolveCommit, setRef } from '../git/refs.ts';
import type { Failure } from '../model/failure.ts';
import { commitMessage } from '../model/names.ts';
import type { Sha, TaskSpec } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check } from './check.ts';
import { branchOf, type Ground } from './ground.ts';

export interface Work {
  readonly task: TaskSpec;
  readonly dir: string;
  readonly base: Sha;
  readonly mark: string;
}

export type Judged =
  | {
      readonly kind: 'good';
      readonly commit: Sha | null;
      readonly files: readonly string[];
      readonly outside: readonly string[];
    }
  | { readonly kind: 'bad'; readonly failure: Failure };

/** Judges the files, runs the task's checks, and commits. */
export async function judgeWork(ground: Ground, work: Work, signal: AbortSignal): Promise<Judged> {
  const { task, dir, base } = work;
  const unmerged = await unmergedFiles(dir, signal);
  const files = await changedFiles(dir, base, signal);
  if (task.mode === 'read') return { kind: 'good', commit: null, files: [], outside: files };
  if (files.length === 0) {
    if (task.allowEmpty) return { kind: 'good', commit: null, files, outside: [] };
    return bad({ kind: 'no-change', message: 'The agent said it was done but changed nothing.' });
  }
  const unresolved = await conflictMarkersIn(dir, unmerged, signal);
  if (unresolved.length > 0) {
    const output = unresolved.join('\n');
    const message = `Conflict markers are left in ${unresolved.join(', ')}.`;
    return bad({ kind: 'checks-failed', message, check: 'no conflict markers', output });
  }
  const forbidden = files.filter((file) => inScope(file, task.forbids));
  if (forbidden.length > 0) return bad(outOfScope(forbidden, `forbidden by the plan`));
  const outside =
    task.writes.length === 0 ? [] : files.filter((file) => !inScope(file, task.writes));
  if (outside.length > 0 && task.outside === 'fail') {
    return bad(outOfScope(outside, `outside ${task.writes.join(', ')}`));
  }
  const red = await runChecks(ground, work, signal);
  if (red !== null) return bad(red);
  return commit(ground, work, { files, outside }, signal);
}

async function runChecks(
  ground: Ground,
  { task, dir, mark }: Work,
  signal: AbortSignal,
): Promise<Failure | null> {
  for (const command of task.checks) {
    const env = { ...ground.env, ...task.env };
    const result = await check({ dir, command, env, timeoutMs: task.timeoutMs, mark }, signal);
    signal.throwIfAborted();
    if (result.kind === 'failed') {
      const message = `The task's check failed: ${command}`;
      return { kind: 'checks-failed', message, check: command, output: result.output };
    }
  }
  return null;
}

async function commit(
  ground: Ground,
  { task, dir }: Work,
  changes: { readonly files: readonly string[]; readonly outside: readonly string[] },
  signal: AbortSignal,
): Promise<Judged> {
  const message = commitMessage(ground.plan.conventions, ground.run, task);
  const answer = await commitAll(dir, { message }, signal);
  if (answer.kind === 'refused') {
    return bad({
      kind: 'commit-failed',
      message: `The work could not be committed. ${answer.why}`,
    });
  }
  const head =
    answer.kind === 'committed' ? answer.commit : await resolveCommit(dir, 'HEAD', signal);
  // The agent may have left its branch; the work must be reachable from ours all the same.
  const ref = `refs/heads/${branchOf(ground, task.id)}`;
  if (head !== null && (await headRefOf(dir)) !== ref) await setRef(dir, ref, head, signal);
  return { kind: 'good', commit: head, ...changes };
}

function outOfScope(files: readonly string[], why: string): Failure {
  return { kind: 'out-of-scope', message: `Changed ${files.join(', ')}: ${why}.`, files };
}

function bad(failure: Failure): Judged {
  return { kind: 'bad', failure };
}

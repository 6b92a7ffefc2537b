/**
 * judge: what a finished agent left behind, measured against what its task allows.
 *
 *   J1. The diff is taken from the files themselves against the recorded base, untracked ones
 *       included: an agent's word for it does not count.
 *   J2. Nothing is undone. A refused commit or a change out of scope leaves everything in place.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll } from '../git/commit.ts';
import { changedFiles, conflictMarkersIn } from '../git/diff.ts';
import { headRefOf } from '../git/git-dir.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { quickStage, type Staged } from '../git/quick-stage.ts';
import { detachHead, headOf, setRef } from '../git/refs.ts';
import { mendLink } from '../git/worktree-link.ts';
import { ownDoer } from '../model/doer.ts';
import type { Failure } from '../model/failure.ts';
import { commitMessage } from '../model/names.ts';
import type { Sha, TaskSpec } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check } from './check.ts';
import { branchOf, type Ground } from './ground.ts';
import { takeBack } from './inject.ts';
import { keepAside } from './keep.ts';

export interface Work {
  readonly task: TaskSpec;
  readonly dir: string;
  readonly base: Sha;
  readonly mark: string;
  /** It began with a merge laid out, so that conflict markers may be left. */
  readonly mended: boolean;
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
  const { task, dir } = work;
  await removeStaleLocks(dir, signal); // Everything that ran here has ended.
  await takeBack(dir, signal);
  // A check may look at what is staged, so that nothing is before it has run.
  const isLast = task.mode !== 'read' && task.checks.length === 0;
  const first = isLast ? await look(ground, work, signal) : await lookOnly(work, signal);
  const refusal = await refusalOf(work, first.files, signal);
  if (refusal !== null) {
    first.drop();
    return refusal;
  }
  if (isLast) return commit(ground, work, first, signal);
  const red = await runChecks(ground, work, signal);
  if (red !== null) return bad(red);
  const now = await look(ground, work, signal); // Checks may have changed something, too.
  const late = await judgeFiles(work, now.files, signal);
  if (late === null) return commit(ground, work, now, signal);
  now.drop();
  return bad(late);
}

/** What there is to judge; perhaps staged already, aside, to be committed or dropped. */
interface Looked extends Pick<Staged, 'files' | 'drop'> {
  readonly staged: Staged | null;
}

async function look(ground: Ground, work: Work, signal: AbortSignal): Promise<Looked> {
  const { commonDir } = ground.repository;
  const times = ground.pool.timesOf(work.dir);
  const staged = await quickStage({ ...work, commonDir, times }, signal);
  return staged === null ? lookOnly(work, signal) : { ...staged, staged };
}

async function lookOnly({ dir, base }: Work, signal: AbortSignal): Promise<Looked> {
  return { files: await changedFiles(dir, base, signal), drop: () => undefined, staged: null };
}

/** The end of work that is not to be committed; null for work that may be. */
async function refusalOf(
  work: Work,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Judged | null> {
  const { task } = work;
  if (task.mode === 'read') return { kind: 'good', commit: null, files: [], outside: files };
  if (files.length === 0) {
    if (task.allowEmpty) return { kind: 'good', commit: null, files, outside: [] };
    return bad(NO_CHANGE);
  }
  const wrong = await judgeFiles(work, files, signal);
  return wrong === null ? null : bad(wrong);
}

/** What is wrong with the changed files; null where nothing is. */
async function judgeFiles(
  { task, dir, mended }: Work,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Failure | null> {
  const nested = files.find((file) => isRepository(dir, file));
  if (nested !== undefined) {
    const message = `${nested} is a git repository of its own: its files would not be committed.`;
    return { kind: 'commit-failed', message };
  }
  const unresolved = mended ? await conflictMarkersIn(dir, files, signal) : [];
  if (unresolved.length > 0) {
    const message = `Conflict markers are left in ${unresolved.join(', ')}.`;
    const output = unresolved.join('\n');
    return { kind: 'checks-failed', message, check: 'no conflict markers', output };
  }
  const forbidden = files.filter((file) => inScope(file, task.forbids));
  if (forbidden.length > 0) return outOfScope(forbidden, 'forbidden by the plan');
  const outside = outsideOf(task, files);
  if (outside.length === 0 || task.outside === 'report') return null;
  return outOfScope(outside, `outside ${task.writes.join(', ')}`);
}

/** A repository inside of the workspace that is not one of its submodules. */
function isRepository(dir: string, file: string): boolean {
  if (!existsSync(join(dir, file, '.git'))) return false;
  const modules = join(dir, '.gitmodules');
  const text = existsSync(modules) ? readFileSync(modules, 'utf8') : '';
  return !text.split('\n').some((line) => line.trim() === `path = ${file}`);
}

function outsideOf(task: TaskSpec, files: readonly string[]): readonly string[] {
  return task.writes.length === 0 ? [] : files.filter((file) => !inScope(file, task.writes));
}

/** Runs a task's own checks where its work is; what is wrong, or null. */
export async function runChecks(
  around: Pick<Ground, 'env' | 'suspension'>,
  { task, dir, mark }: Pick<Work, 'task' | 'dir' | 'mark'>,
  signal: AbortSignal,
): Promise<Failure | null> {
  for (const command of task.checks) {
    const env = { ...around.env, ...task.env };
    const { timeoutMs } = task;
    const what = { dir, command, env, timeoutMs, mark, suspension: around.suspension };
    const result = await check(what, signal);
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
  { task, dir, base }: Work,
  { files, staged }: Looked,
  signal: AbortSignal,
): Promise<Judged> {
  const message = commitMessage(ground.plan.conventions, ground.run, task, ownDoer(task));
  const ref = `refs/heads/${branchOf(ground, task.id)}`;
  const on = await headRefOf(dir);
  ground.assertHeld();
  if (on !== null && on !== ref) await detachHead(dir, signal); // That branch is somebody else's.
  const quick = on === ref ? ((await staged?.commit(message, signal)) ?? null) : null;
  if (on !== ref) staged?.drop();
  // Without hooks nothing has touched the files since they were staged.
  if (quick !== null) ground.pool.note(dir, staged?.isExact === true);
  const answer = quick ?? (await commitAll(dir, { message }, signal));
  if (answer.kind === 'refused') {
    return bad({
      kind: 'commit-failed',
      message: `The work could not be committed. ${answer.why}`,
    });
  }
  const head = answer.kind === 'committed' ? answer.commit : await headOf(dir, signal);
  if (head === base) return bad(NO_CHANGE); // What seemed to differ is the same to a commit.
  // The agent may have left its branch; the work must be reachable from ours all the same.
  if (head !== null && (await headRefOf(dir)) !== ref) {
    await keepAside(ground, task.id, dir, signal);
    await setRef(dir, ref, head, signal);
  }
  return { kind: 'good', commit: head, files, outside: outsideOf(task, files) };
}

/** What is wrong where a workspace is no worktree any more, although its link was put right. */
export function lostLink({ repository }: Ground, dir: string): Failure | null {
  if (mendLink(repository.commonDir, dir)) return null;
  const message =
    'The agent has replaced `.git` in its workspace, or has deleted what it leads to: nothing can ' +
    `be committed. Its files are in ${dir}, or beside it if it was tried again.`;
  return { kind: 'commit-failed', message };
}

function outOfScope(files: readonly string[], why: string): Failure {
  return { kind: 'out-of-scope', message: `Changed ${files.join(', ')}: ${why}.`, files };
}

const NO_CHANGE: Failure = {
  kind: 'no-change',
  message: 'The agent said it was done but changed nothing.',
};

function bad(failure: Failure): Judged {
  return { kind: 'bad', failure };
}

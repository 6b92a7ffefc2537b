/**
 * judge: what a finished agent left behind, measured against what its task allows.
 *
 *   J1. The diff is taken from the files themselves against the recorded base, untracked ones
 *       included: an agent's word for it does not count.
 *   J2. Nothing is undone. A refused commit or a change out of scope leaves everything in place.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, stageAll, unstageAll } from '../git/commit.ts';
import { changedSince, conflictMarkersIn } from '../git/diff.ts';
import { GitError } from '../git/git.ts';
import { areRelated } from '../git/history.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { objectProblem } from '../git/object-check.ts';
import { detachHead, headOf, readRef, setRef } from '../git/refs.ts';
import { type Status, statusOf } from '../git/status.ts';
import { syncRepository } from '../git/sync.ts';
import { mendLink } from '../git/worktree-link.ts';
import { ownDoer } from '../model/doer.ts';
import type { Failure } from '../model/failure.ts';
import { commitMessage } from '../model/names.ts';
import type { Sha, TaskSpec } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check } from './check.ts';
import { isSameFolder } from './folder-identity.ts';
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
  const { commonDir } = ground.repository;
  const branch = branchOf(ground, task.id);
  await removeStaleLocks({ commonDir, dir, branch }, signal); // Everything that ran here has ended.
  const isPlain = ground.pool.isGitAsGiven(dir) && (await headOf(dir, signal)) === work.base;
  await takeBack(dir, signal);
  // A check may look at what is staged, so that nothing is before it has run.
  const canStage = isPlain && task.mode !== 'read' && task.checks.length === 0;
  const staged = canStage ? await judgeStaged(ground, work, signal) : null;
  if (staged !== null) return staged;
  const first = await lookAgain(ground, work, await look(work, signal), signal);
  const refusal =
    (await brokenState(work, first, signal)) ?? (await refusalOf(work, first.files, signal));
  if (refusal !== null) return refusal;
  const red = await runChecks(ground, work, signal);
  if (red !== null) return bad(red);
  const now = task.checks.length === 0 ? first : await look(work, signal); // They may change files.
  const late = await judgeFiles(work, now.files, signal);
  return late === null ? commit(ground, work, now, signal) : bad(late);
}

/**
 * The agent has left git alone: what can be staged is all that it has done. Null where git does not
 * stage it: a closer look tells why.
 */
async function judgeStaged(
  ground: Ground,
  work: Work,
  signal: AbortSignal,
): Promise<Judged | null> {
  const { task, dir, base } = work;
  if (!isSameFolder(dir)) return replaced();
  const stagedAt = Date.now();
  const staging = await stageAll(dir, signal).catch((error: unknown) => {
    if (!(error instanceof GitError)) throw error;
    return null;
  });
  const files = staging === null ? null : [...staging].sort();
  const refusal = files === null ? null : await refusalOf(work, files, signal);
  if (files === null || refusal !== null) {
    await unstageAll(dir, signal);
    return refusal;
  }
  const branch = branchOf(ground, task.id);
  const staged = { files, head: base, branch, staged: [], stagedAt };
  return commit(ground, work, staged, signal);
}

/** What there is to judge. */
interface Looked extends Status {
  readonly files: readonly string[];
}

async function look({ dir, base }: Work, signal: AbortSignal): Promise<Looked> {
  const status = await statusOf(dir, { untracked: 'all' }, signal);
  if (status.head === null) return { ...status, files: [] };
  return { ...status, files: await changedSince(dir, base, status, signal) };
}

/** Somebody may have deleted the branch under the agent's feet: it begins again at its base. */
async function lookAgain(
  ground: Ground,
  work: Work,
  looked: Looked,
  signal: AbortSignal,
): Promise<Looked> {
  const branch = branchOf(ground, work.task.id);
  if (looked.head !== null || looked.branch !== branch) return looked;
  await setRef(ground.repository.commonDir, `refs/heads/${branch}`, work.base, signal);
  return look(work, signal);
}

/** What is wrong with a workspace in which nothing can be committed as it is; null for nothing. */
async function brokenState(
  { task, dir, base, mended }: Work,
  { head, unmerged }: Looked,
  signal: AbortSignal,
): Promise<Judged | null> {
  const broken = (message: string): Judged => bad({ kind: 'commit-failed', message });
  if (!isSameFolder(dir)) return replaced();
  if (head === null) {
    return broken('The agent left its workspace on a branch without a commit (an orphan branch).');
  }
  if (head !== base && !(await areRelated(dir, head, base, signal))) {
    return broken('What the agent has committed has no history in common with what it began from.');
  }
  // A merge that was laid out for it may be resolved in the files alone: markers tell.
  if (unmerged.length === 0 || mended || task.mode === 'read') return null;
  return broken(
    `The agent stopped in the middle of a merge: ${unmerged.join(', ')} is not resolved.`,
  );
}

function replaced(): Judged {
  const message =
    'The folder of the workspace was replaced by another one: what is missing there would count ' +
    'as deleted.';
  return bad({ kind: 'commit-failed', message });
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

/** What is to be committed; perhaps staged already. */
interface ToCommit extends Pick<Looked, 'files' | 'head' | 'branch' | 'staged'> {
  /** When that began: what somebody, or a hook, does later is not in it. */
  readonly stagedAt?: number;
}

async function commit(
  ground: Ground,
  { task, dir, base }: Work,
  looked: ToCommit,
  signal: AbortSignal,
): Promise<Judged> {
  const message = commitMessage(ground.plan.conventions, ground.run, task, ownDoer(task));
  const { commonDir } = ground.repository;
  const branch = branchOf(ground, task.id);
  const { files } = looked;
  ground.assertHeld();
  const isElsewhere = looked.branch !== null && looked.branch !== branch;
  // That branch is somebody else's.
  if (isElsewhere && looked.head !== null) await detachHead(dir, looked.head, signal);
  const isStaged = looked.stagedAt !== undefined;
  const answer = await commitAll(dir, { message, isStaged }, signal);
  if (answer.kind === 'refused') {
    return bad({
      kind: 'commit-failed',
      message: `The work could not be committed. ${answer.why}`,
    });
  }
  const head = answer.kind === 'committed' ? answer.commit : await headOf(dir, signal);
  if (head === base || head === null) return bad(NO_CHANGE); // It is the same to a commit.
  // What our own `git add` has made needs no check: git made sure of it then.
  const isForeign = looked.head !== base || looked.staged.length > 0;
  const problem = isForeign ? await objectProblem(dir, { from: base, to: head }, signal) : null;
  if (isForeign) await syncRepository(commonDir, signal);
  if (problem !== null) {
    return bad({
      kind: 'commit-failed',
      message: `Git's own checks refuse what the agent has committed: ${problem}`,
    });
  }
  // The agent may have left its branch; the work must be reachable from ours all the same.
  const ref = `refs/heads/${branch}`;
  if (looked.branch !== branch || (await readRef(commonDir, ref, signal)) !== head) {
    await keepAside(ground, task.id, dir, signal);
    await setRef(commonDir, ref, head, signal);
  }
  if (looked.stagedAt !== undefined) ground.pool.commit(dir, head, looked.stagedAt);
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

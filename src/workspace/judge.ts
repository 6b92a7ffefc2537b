/**
 * judge: checks a finished agent's work against its task, and commits it. The diff is taken from
 * the files against the recorded base, untracked files included; what the agent claims does not
 * count. Nothing is undone: a refused commit or a change out of scope leaves everything in place.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commitAll, stageAll, unstageAll } from '../git/commit.ts';
import { changedSince, conflictMarkersIn } from '../git/diff.ts';
import { syncRepository } from '../git/file-system.ts';
import { GitError } from '../git/git.ts';
import { mendLink } from '../git/git-dir.ts';
import { areRelated } from '../git/history.ts';
import { removeStaleLocks } from '../git/locks.ts';
import { objectProblem } from '../git/object-check.ts';
import { detachHead, headOf, readRef, setRef } from '../git/refs.ts';
import { type Status, statusOf } from '../git/status.ts';
import { blobChanges } from '../git/trees.ts';
import type { Failure } from '../model/failure.ts';
import { commitMessage } from '../model/names.ts';
import { firstAssignee, type Sha, type TaskSpec } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check } from './check.ts';
import { isSameFolder } from './folders.ts';
import { restoreInjected } from './inject.ts';
import { keepBranchTip } from './keep.ts';
import { readPlain } from './plain-file.ts';
import { branchOf, type RunContext } from './run-context.ts';
import { nextFileTime } from './touched-files.ts';

export interface Work {
  readonly task: TaskSpec;
  readonly dir: string;
  readonly base: Sha;
  readonly mark: string;
  /** It started from an unfinished merge, so conflict markers may be left. */
  readonly mended: boolean;
  readonly onLine?: (line: string) => void;
}

export type Judged =
  | {
      readonly kind: 'good';
      readonly commit: Sha | null;
      readonly files: readonly string[];
      readonly outside: readonly string[];
    }
  | { readonly kind: 'bad'; readonly failure: Failure };

export async function judgeWork(
  context: RunContext,
  work: Work,
  signal: AbortSignal,
): Promise<Judged> {
  const { task, dir } = work;
  const { commonDir } = context.repository;
  const branch = branchOf(context, task.id);
  await removeStaleLocks({ commonDir, dir, branch }, signal); // Everything that ran here has ended.
  const isPlain = context.pool.isGitAsGiven(dir) && (await headOf(dir, signal)) === work.base;
  await restoreInjected(dir, signal);
  // A check may look at the index: nothing is staged before the checks.
  const canStage = isPlain && task.mode !== 'read' && task.checks.length === 0;
  const staged = canStage ? await judgeStaged(context, work, signal) : null;
  if (staged !== null) return staged;
  const first = await withBranch(context, work, await inspect(work, signal), signal);
  const refusal =
    (await brokenState(work, first, signal)) ?? (await refusalOf(work, first.files, signal));
  if (refusal !== null) return refusal;
  const red = await runChecks(context, work, signal);
  if (red !== null) return bad(red);
  const now = task.checks.length === 0 ? first : await inspect(work, signal); // They may change files.
  const late = await judgeFiles(work, now.files, signal);
  return late === null ? commit(context, work, now, signal) : bad(late);
}

/** For an agent that did not use git. Null where git refuses to stage: the slow path says why. */
async function judgeStaged(
  context: RunContext,
  work: Work,
  signal: AbortSignal,
): Promise<Judged | null> {
  const { task, dir, base } = work;
  if (!isSameFolder(dir)) return bad(REPLACED);
  // The agent's last write is older than that: one look is enough.
  const stagedAt = await nextFileTime(dir, signal);
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
  const branch = branchOf(context, task.id);
  const staged = { files, head: base, branch, staged: [], stagedAt };
  return commit(context, work, staged, signal);
}

interface WorkState extends Status {
  readonly files: readonly string[];
}

async function inspect({ dir, base }: Work, signal: AbortSignal): Promise<WorkState> {
  const status = await statusOf(dir, { untracked: 'all' }, signal);
  if (status.head === null) return { ...status, files: [] };
  return { ...status, files: await changedSince(dir, base, status, signal) };
}

/** A branch that was deleted meanwhile starts over at its base. */
async function withBranch(
  context: RunContext,
  work: Work,
  state: WorkState,
  signal: AbortSignal,
): Promise<WorkState> {
  const branch = branchOf(context, work.task.id);
  if (state.head !== null || state.branch !== branch) return state;
  await setRef(context.repository.commonDir, `refs/heads/${branch}`, work.base, signal);
  return inspect(work, signal);
}

/** Why nothing can be committed in this workspace; null where it can. */
async function brokenState(
  { task, dir, base, mended }: Work,
  { head, unmerged }: WorkState,
  signal: AbortSignal,
): Promise<Judged | null> {
  if (!isSameFolder(dir)) return bad(REPLACED);
  if (head === null) {
    return broken('The agent left its workspace on a branch without a commit (an orphan branch).');
  }
  if (head !== base && !(await areRelated(dir, head, base, signal))) {
    return broken('What the agent has committed has no history in common with what it began from.');
  }
  // A merge that the attempt started from may be resolved in the files alone: markers tell.
  if (unmerged.length === 0 || mended || task.mode === 'read') return null;
  return broken(
    `The agent stopped in the middle of a merge: ${unmerged.join(', ')} is not resolved.`,
  );
}

/** The verdict on work that is not committed; null for work that is. */
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

async function judgeFiles(
  { task, dir, mended }: Work,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Failure | null> {
  const nested = await nestedRepository(dir, files);
  if (nested !== null) {
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

const MODULES_BYTES = 1024 * 1024;

/** A repository inside of the workspace that is not one of its submodules, or null. */
async function nestedRepository(dir: string, files: readonly string[]): Promise<string | null> {
  const nested = files.filter((file) => existsSync(join(dir, file, '.git')));
  if (nested.length === 0) return null;
  const modules = (await readPlain(dir, '.gitmodules', MODULES_BYTES))?.toString('utf8') ?? '';
  const lines = modules.split('\n').map((line) => line.trim());
  return nested.find((file) => !lines.includes(`path = ${file}`)) ?? null;
}

function outsideOf(task: TaskSpec, files: readonly string[]): readonly string[] {
  return task.writes.length === 0 ? [] : files.filter((file) => !inScope(file, task.writes));
}

/** Runs a task's own checks; the first failure, or null. */
export async function runChecks(
  around: Pick<RunContext, 'env' | 'suspension'>,
  { task, dir, mark, onLine = () => {} }: Pick<Work, 'task' | 'dir' | 'mark' | 'onLine'>,
  signal: AbortSignal,
): Promise<Failure | null> {
  for (const command of task.checks) {
    const env = { ...around.env, ...task.env };
    const { timeoutMs } = task;
    const { suspension = null } = around;
    const what = { dir, command, env, timeoutMs, mark, suspension, onLine };
    const result = await check(what, signal);
    signal.throwIfAborted();
    if (result.kind === 'failed') {
      const message = `The task's check failed: ${command}`;
      const { exitCode, output } = result;
      return { kind: 'checks-failed', message, check: command, exitCode, output };
    }
  }
  return null;
}

interface ToCommit extends Pick<WorkState, 'files' | 'head' | 'branch' | 'staged'> {
  /** When staging began; later changes are not part of it. Absent if nothing is staged. */
  readonly stagedAt?: number;
}

async function commit(
  context: RunContext,
  { task, dir, base }: Work,
  state: ToCommit,
  signal: AbortSignal,
): Promise<Judged> {
  const message = commitMessage(context.plan.conventions, context.run, task, firstAssignee(task));
  const { commonDir } = context.repository;
  const branch = branchOf(context, task.id);
  const { files } = state;
  context.assertHeld();
  const isElsewhere = state.branch !== null && state.branch !== branch;
  // The agent switched to another branch, which must not move.
  if (isElsewhere && state.head !== null) await detachHead(dir, state.head, signal);
  const isStaged = state.stagedAt !== undefined;
  const answer = await commitAll(dir, { message, isStaged }, signal);
  if (answer.kind === 'refused') {
    return broken(`The work could not be committed. ${answer.why}`);
  }
  const head = answer.kind === 'committed' ? answer.commit : await headOf(dir, signal);
  if (head === base || head === null) return bad(NO_CHANGE); // It is the same to a commit.
  // Objects written by our own `git add` need no check.
  const isForeign = state.head !== base || state.staged.length > 0;
  const problem = isForeign ? await objectProblem(dir, { from: base, to: head }, signal) : null;
  if (isForeign) await syncRepository(commonDir, signal);
  if (problem !== null) {
    return broken(`Git's own checks refuse what the agent has committed: ${problem}`);
  }
  // The agent may have left its branch; the task's branch must hold the work all the same.
  const ref = `refs/heads/${branch}`;
  if (state.branch !== branch || (await readRef(commonDir, ref, signal)) !== head) {
    await keepBranchTip(context, task.id, dir, signal);
    await setRef(commonDir, ref, head, signal);
  }
  if (state.stagedAt !== undefined) context.pool.commit(dir, head, state.stagedAt);
  return { kind: 'good', commit: head, files, outside: outsideOf(task, files) };
}

/** The failure of a workspace whose link to the repository cannot be repaired; null if it is intact. */
export function lostLink({ repository }: RunContext, dir: string): Failure | null {
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

const REPLACED: Failure = {
  kind: 'commit-failed',
  message:
    'The folder of the workspace was replaced by another one: what is missing there would count ' +
    'as deleted.',
};

function bad(failure: Failure): Judged {
  return { kind: 'bad', failure };
}

function broken(message: string): Judged {
  return bad({ kind: 'commit-failed', message });
}

/** The blob id of an empty file, in SHA-1 and SHA-256. */
const EMPTY: ReadonlySet<Sha | null> = new Set([
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
]);

/** Whether work leaves only empty files, as an agent does that could not write. Deletions count as changes. */
export async function leavesOnlyEmptyFiles(
  { repository }: RunContext,
  { base, commit }: { readonly base: Sha; readonly commit: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  const changes = await blobChanges(repository.commonDir, { from: base, to: commit }, signal);
  return changes.length > 0 && changes.every(({ after }) => EMPTY.has(after));
}

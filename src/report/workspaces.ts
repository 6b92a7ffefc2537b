/**
 * What `landfast worktrees` shows: the workspaces that runs have left or are using and those of the
 * pool, whose they are, what would be lost with them, and what to do about them.
 *
 *   W1. It follows from journals, git's list of worktrees and what was measured in them. A worktree
 *       that no journal accounts for is the user's own and is not shown.
 *   W2. A folder that several runs have used in turn belongs to the newest that has not given it
 *       back.
 */

import type { RunOutcome } from '../model/event.ts';
import { taskBranch, workspaceName } from '../model/names.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { brief, shellWord } from './clean.ts';
import type { Cell, Ink, Style } from './format.ts';
import { columns, count, PLAIN_INK } from './format.ts';
import { resumeCommand } from './remedy.ts';

/** A run, and where its workspaces are. */
export interface RunPlace {
  readonly run: string;
  readonly state: RunState;
  /** Whether an engine is working on it. */
  readonly live: boolean;
  /** The folder that the workspaces of all runs are in; absolute. */
  readonly folder: string;
}

/** A worktree as git lists it. */
export interface Listed {
  readonly path: string;
  readonly branch: string | null;
  /** Its folder is not there. */
  readonly gone: boolean;
  /** Git does not remove it: it is a mount. */
  readonly locked?: boolean;
}

/** A workspace and whose it is. */
export interface Claimed extends Listed {
  readonly of: RunPlace;
  readonly kind: 'task' | 'gate';
  /** The task that uses it or used it last; null for gates and what others are mounted over. */
  readonly task: TaskState | null;
}

/** A workspace of the pool: no run's at the moment. */
export interface Pooled {
  readonly path: string;
  /**
   *   idle    waits for a task                 claimed  a process is moving it
   *   broken  not what it was left as          gone     git knows it, but its folder is not there
   */
  readonly state: 'idle' | 'claimed' | 'broken' | 'gone';
  /** Since when it waits, in milliseconds since 1970; null where that is not known. */
  readonly since: number | null;
}

/** What a workspace holds that the target branch does not. */
export interface Unmerged {
  readonly commits: number;
  /** Files that are changed or new and in no commit. */
  readonly files: number;
}

/** One workspace, for programs. */
export interface WorkspaceRow {
  readonly path: string;
  readonly kind: Claimed['kind'] | 'idle';
  /**
   *   live  in use by a run that goes on        kept  left for a person, see `why`
   *   left  its engine has died or was ended    gone  git knows it, but its folder is not there
   *   idle  in the pool
   */
  readonly state: 'live' | 'kept' | 'left' | 'gone' | 'idle';
  readonly why: string;
  /** Null in the pool. */
  readonly run: string | null;
  readonly task: TaskId | null;
  readonly branch: string | null;
  readonly unmerged: Unmerged | null;
  /** The command that takes it up again; null where there is none. */
  readonly resume: string | null;
  /** The command that removes it, and loses nothing by that; null while it is used. */
  readonly remove: string | null;
}

/** Whose each worktree is; `runs` are the newest first. */
export function claim(listed: readonly Listed[], runs: readonly RunPlace[]): readonly Claimed[] {
  return listed.flatMap((one) => {
    const owners = runs.flatMap((of) => ownedBy(one, of));
    const owner = owners.find(({ task }) => task === null || isOpen(task)) ?? owners[0];
    return owner === undefined ? [] : [owner];
  });
}

/** The row of a workspace. */
export function workspaceRow(claimed: Claimed, unmerged: Unmerged | null): WorkspaceRow {
  const { path, kind, of, task } = claimed;
  const state = stateOf(claimed);
  const isResumable = task !== null && !of.live && of.state.outcome !== 'succeeded';
  return {
    path,
    kind,
    state,
    why: whyOf(claimed, state),
    run: of.run,
    task: task?.spec.id ?? null,
    branch: claimed.branch ?? branchNamed(claimed),
    unmerged,
    resume: isResumable ? resumeCommand(of.run) : null,
    remove: isForGit(claimed, unmerged) ? removeCommand(state, path) : keepCommand(state, of.run),
  };
}

/** The row of a workspace of the pool. */
export function pooledRow({ path, state }: Pooled): WorkspaceRow {
  const none = { run: null, task: null, branch: null, unmerged: null, resume: null };
  return { path, kind: 'idle', ...none, ...OF_THE_POOL[state](path) };
}

const DRAIN = 'landfast pool drain';
/** Whether that process is alive cannot be seen from here. */
export const ELSEWHERE =
  'it is held by a process of another host or container; untouched for an hour it counts as left behind';

const OF_THE_POOL: Readonly<
  Record<Pooled['state'], (path: string) => Pick<WorkspaceRow, 'state' | 'why' | 'remove'>>
> = {
  idle: () => ({ state: 'idle', why: 'waits for the next task', remove: DRAIN }),
  claimed: () => ({ state: 'live', why: 'a process is moving it', remove: null }),
  broken: () => ({ state: 'left', why: 'it is not what it was left as', remove: DRAIN }),
  gone: (path) => ({ state: 'gone', why: MISSING, remove: removeCommand('gone', path) }),
};

/** The list for people. */
export function workspacesText(rows: readonly WorkspaceRow[], ink: Ink = PLAIN_INK): string {
  if (rows.length === 0) return 'No workspaces.\n';
  const lines = rows.flatMap((row) => [
    ...columns([cellsOf(row)], ink),
    `    ${brief(row.path, 300)}`,
    ...(row.why === '' ? [] : [`    ${brief(row.why, 200)}`]),
    ...commandsOf(row).map((command) => `    ${ink.paint('accent', command)}`),
  ]);
  return `${lines.join('\n')}\n`;
}

function ownedBy(one: Listed, of: RunPlace): readonly Claimed[] {
  const folder = `${of.folder}/${of.run}/`;
  if (one.path.startsWith(`${folder}.gate-`)) return [{ ...one, of, kind: 'gate', task: null }];
  const { conventions } = of.state.plan;
  return [...of.state.tasks.values()]
    .filter(
      ({ spec, attempts }) =>
        attempts.length > 0 &&
        one.path === `${of.folder}/${workspaceName(conventions, of.run, spec)}`,
    )
    .map((task) => ({ ...one, of, kind: 'task', task }));
}

/** The journal does not say that the workspace is gone. */
function isOpen({ workspace }: TaskState): boolean {
  return workspace !== 'removed' && workspace !== 'none';
}

function stateOf({ gone, of, task }: Claimed): Exclude<WorkspaceRow['state'], 'idle'> {
  if (gone) return 'gone';
  if (task?.workspace === 'kept') return 'kept';
  return of.live ? 'live' : 'left';
}

const MISSING = 'its folder is not there; perhaps its disk is not';

function whyOf({ of, task }: Claimed, state: ReturnType<typeof stateOf>): string {
  switch (state) {
    case 'gone':
      return MISSING;
    case 'kept':
      return task?.keptWhy ?? '';
    case 'live':
      return '';
    case 'left':
      return of.state.outcome === null ? 'its engine has died' : ENDED[of.state.outcome];
  }
}

const ENDED: Readonly<Record<RunOutcome, string>> = {
  succeeded: 'its run has succeeded',
  failed: 'its run has failed',
  cancelled: 'its run was cancelled',
  interrupted: 'its run was interrupted',
};

function branchNamed({ of, task }: Claimed): string | null {
  return task === null ? null : taskBranch(of.state.plan.conventions, of.run, task.spec);
}

/**
 * Whether git alone may remove it: it leaves the branch, and takes all else along. It refuses to
 * where it sees loose files, but does not see all of them, and does not remove a mount.
 */
function isForGit({ locked, gone, kind, branch }: Claimed, unmerged: Unmerged | null): boolean {
  if (locked) return false;
  if (gone || kind !== 'task') return true;
  return unmerged?.files === 0 && (branch !== null || unmerged.commits === 0);
}

function removeCommand(state: WorkspaceRow['state'], path: string): string | null {
  return state === 'live' ? null : `git worktree remove ${shellWord(path)}`;
}

/** Holds what is in it by a ref first. */
function keepCommand(state: WorkspaceRow['state'], run: string): string | null {
  return state === 'live' ? null : `landfast cleanup --all --run ${shellWord(run)}`;
}

function cellsOf({ kind, state, run, task, branch, unmerged }: WorkspaceRow): Cell[] {
  return [
    { text: brief(task ?? (kind === 'idle' ? 'pool' : kind), 60), style: 'bold' },
    { text: state, style: STYLES[state] },
    { text: run === null ? '' : brief(run, 60) },
    { text: branch === null ? '' : brief(branch, 120) },
    { text: unmergedText(unmerged) },
  ];
}

const STYLES: Readonly<Record<WorkspaceRow['state'], Style>> = {
  live: 'accent',
  kept: 'warn',
  left: 'warn',
  gone: 'dim',
  idle: 'dim',
};

function unmergedText(unmerged: Unmerged | null): string {
  if (unmerged === null) return '';
  const { commits, files } = unmerged;
  const parts = [
    ...(commits > 0 ? [`${count(commits, 'commit')} not merged`] : []),
    ...(files > 0 ? [`${count(files, 'file')} not committed`] : []),
  ];
  return parts.length === 0 ? 'nothing to lose' : parts.join(', ');
}

function commandsOf({ resume, remove }: WorkspaceRow): readonly string[] {
  return [...(resume === null ? [] : [resume]), ...(remove === null ? [] : [remove])];
}

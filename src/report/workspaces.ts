/**
 * What `landfast worktrees` shows: workspaces in use, left behind or idle, whose they are, what
 * would be lost with them, and what to do. A worktree that no journal accounts for is the user's
 * own and is not shown; one that several runs used belongs to the newest that has not returned it.
 */

import { taskBranch, workspaceName } from '../model/names.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { type Cell, columns, count, type Ink, PLAIN_INK, type Style } from './format.ts';
import { resumeCommand } from './remedy.ts';
import { brief, shellWord } from './sanitize.ts';

export interface RunPlace {
  readonly run: string;
  readonly state: RunState;
  readonly live: boolean;
  /** Absolute folder of the workspaces of all runs. */
  readonly folder: string;
  /** Absolute folder of the run's gate workspaces. */
  readonly gates: string;
}

export interface Listed {
  readonly path: string;
  readonly branch: string | null;
  /** Its folder is missing. */
  readonly gone: boolean;
  /** A mount, which git does not remove. */
  readonly locked?: boolean;
}

export interface Claimed extends Listed {
  readonly of: RunPlace;
  readonly kind: 'task' | 'gate';
  /** The task that uses it or used it last; null for gates and overlay bases. */
  readonly task: TaskState | null;
}

/** A workspace in the pool, which belongs to no run. */
export interface Pooled {
  readonly path: string;
  /**
   *   idle    waits for a task                 claimed  a process is using it
   *   broken  not what it was left as          gone     git knows it, but its folder is not there
   */
  readonly state: 'idle' | 'claimed' | 'broken' | 'gone';
  /** Idle since, in milliseconds since 1970; null if unknown. */
  readonly since: number | null;
}

/** What a workspace holds that the target branch does not. */
export interface Unmerged {
  readonly commits: number;
  /** Changed or new files in no commit. */
  readonly files: number;
}

export interface WorkspaceRow {
  readonly path: string;
  readonly kind: Claimed['kind'] | 'idle';
  /**
   *   live  in use by a running run             kept  left for a person, see `why`
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
  /** The command that resumes its run; null if there is none. */
  readonly resume: string | null;
  /** The command that removes it without losing work; null while it is in use. */
  readonly remove: string | null;
}

/** Assigns each worktree to its run; `runs` are newest first. */
export function claim(listed: readonly Listed[], runs: readonly RunPlace[]): readonly Claimed[] {
  return listed.flatMap((one) => {
    const owners = runs.flatMap((of) => ownedBy(one, of));
    const owner = owners.find(({ task }) => task === null || isOpen(task)) ?? owners[0];
    return owner === undefined ? [] : [owner];
  });
}

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
    branch: claimed.branch ?? (task && taskBranch(of.state.plan.conventions, of.run, task.spec)),
    unmerged,
    resume: isResumable ? resumeCommand(of.run) : null,
    remove: state === 'live' ? null : removeCommand(claimed, unmerged),
  };
}

export function pooledRow({ path, state }: Pooled): WorkspaceRow {
  const none = { run: null, task: null, branch: null, unmerged: null, resume: null };
  const remove = state === 'gone' ? gitCommand(path) : state === 'claimed' ? null : DRAIN;
  return { path, kind: 'idle', ...none, ...OF_THE_POOL[state], remove };
}

export const MISSING = 'its folder is missing; perhaps its disk is not mounted';
const DRAIN = 'landfast pool drain';
/** Whether that process is alive is not visible from here. */
export const ELSEWHERE =
  'a process on another host or in a container holds it; after an hour without activity it counts as left behind';

const OF_THE_POOL: Readonly<Record<Pooled['state'], Pick<WorkspaceRow, 'state' | 'why'>>> = {
  idle: { state: 'idle', why: 'ready for the next task' },
  claimed: { state: 'live', why: 'a process is using it' },
  broken: { state: 'left', why: 'it was changed while idle' },
  gone: { state: 'gone', why: MISSING },
};

export function workspacesText(rows: readonly WorkspaceRow[], ink: Ink = PLAIN_INK): string {
  if (rows.length === 0) return 'No workspaces.\n';
  const lines = rows.flatMap((row) => [
    ...columns([cellsOf(row)], ink),
    `    ${brief(row.path, 300)}`,
    ...(row.why === '' ? [] : [`    ${brief(row.why, 200)}`]),
    ...[row.resume, row.remove].flatMap((command) =>
      command === null ? [] : [`    ${ink.paint('accent', command)}`],
    ),
  ]);
  return `${lines.join('\n')}\n`;
}

function ownedBy(one: Listed, of: RunPlace): readonly Claimed[] {
  if (one.path.startsWith(`${of.gates}/`)) return [{ ...one, of, kind: 'gate', task: null }];
  const { conventions } = of.state.plan;
  return [...of.state.tasks.values()]
    .filter(({ attempts }) => attempts.length > 0)
    .filter(({ spec }) => one.path === `${of.folder}/${workspaceName(conventions, of.run, spec)}`)
    .map((task) => ({ ...one, of, kind: 'task', task }));
}

/** The journal has not recorded its removal. */
function isOpen({ workspace }: TaskState): boolean {
  return workspace !== 'removed' && workspace !== 'none';
}

function stateOf({ gone, of, task }: Claimed): Exclude<WorkspaceRow['state'], 'idle'> {
  if (gone) return 'gone';
  if (task?.workspace === 'kept') return 'kept';
  return of.live ? 'live' : 'left';
}

function whyOf({ of, task }: Claimed, state: ReturnType<typeof stateOf>): string {
  if (state === 'gone') return MISSING;
  if (state === 'kept') return task?.keptWhy ?? '';
  if (state === 'live') return '';
  const outcome = of.state.outcome ?? 'interrupted';
  const ended = outcome === 'succeeded' || outcome === 'failed' ? outcome : `was ${outcome}`;
  return `its run ${ended}`;
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

/** Where git must not, ours backs up the contents by a ref first. */
function removeCommand(claimed: Claimed, unmerged: Unmerged | null): string {
  if (isForGit(claimed, unmerged)) return gitCommand(claimed.path);
  return `landfast cleanup --all --run ${shellWord(claimed.of.run)}`;
}

function gitCommand(path: string): string {
  return `git worktree remove ${shellWord(path)}`;
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

/**
 * What `landfast cleanup` removes, what it keeps, and why: facts in, decisions out.
 *
 * A live run keeps everything; a resumable one keeps its workspaces, branches and transcripts. A
 * workspace is removed by default only if a branch holds all of it; loose files need `all`, which
 * makes a backup ref first. A branch is removed by default only if Landfast named it and the target
 * or a kept ref contains it. Transcripts go only with an age. Worktrees that no journal accounts
 * for never get here.
 */

import { count, shortSha } from './format.ts';
import { type Claimed, MISSING, type Pooled, type RunPlace, type Unmerged } from './workspaces.ts';

export interface MeasuredWorkspace {
  readonly claimed: Claimed;
  /** Null if it could not be measured. */
  readonly unmerged: Unmerged | null;
  /** Whether the workspace's commit is on its branch. */
  readonly onBranch: boolean;
}

export interface CleanupOptions {
  readonly now: number;
  /** Also remove unmerged work, after a backup. */
  readonly all: boolean;
  /** Only runs without activity for this long. */
  readonly olderThanMs: number;
  /** Null for all runs. */
  readonly run: string | null;
}

export interface Verdict {
  readonly kind: 'workspace' | Leftover['kind'];
  /** For a branch, its name. */
  readonly path: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly remove: boolean;
  readonly why: string;
  /** In use: even `all` leaves it. */
  readonly live: boolean;
}

export function planWorkspaces(
  leftovers: readonly MeasuredWorkspace[],
  wish: CleanupOptions,
): readonly Verdict[] {
  return leftovers
    .filter(({ claimed: { of } }) => wish.run === null || of.run === wish.run)
    .filter(({ claimed: { of } }) => of.live || wish.now - of.state.at >= wish.olderThanMs)
    .map((leftover) => {
      const { path, of, task } = leftover.claimed;
      const whose = { run: of.run, task: task?.spec.id ?? null, live: of.live };
      return { kind: 'workspace', path, ...whose, ...workspaceFate(leftover, wish.all) };
    });
}

type Fate = Pick<Verdict, 'remove' | 'why'>;
const leave = (why: string): Fate => ({ remove: false, why });
const remove = (why: string): Fate => ({ remove: true, why });

/** A run that can go on keeps what it has, unless `all`. */
function forResuming({ run, state: { outcome } }: RunPlace, all: boolean): Fate | null {
  const isOpen = outcome === null || outcome === 'interrupted';
  return isOpen && !all ? leave(`its run can be resumed: landfast resume ${run}`) : null;
}

function workspaceFate({ claimed, unmerged, onBranch }: MeasuredWorkspace, all: boolean) {
  const { of, kind, gone } = claimed;
  if (of.live)
    return leave(`its run is live; end it first: landfast cancel --run ${of.run}, or add --cancel`);
  if (gone) return leave(MISSING);
  if (kind !== 'task') return remove('it holds no work');
  if (unmerged === null) return leave('its contents could not be determined');
  const kept = forResuming(of, all);
  if (kept !== null) return kept;
  const loose = unmerged.files === 0 ? '' : `${count(unmerged.files, 'file')} in no commit`;
  const apart = onBranch || unmerged.commits === 0 ? '' : 'commits on no branch';
  const lost = [loose, apart].filter((part) => part !== '').join(' and ');
  if (lost === '' && unmerged.commits === 0) return remove('everything in it is merged');
  if (lost === '') {
    return remove(`its branch stays and holds ${count(unmerged.commits, 'commit')} not merged`);
  }
  return all ? remove(`a backup ref will keep it: ${lost}`) : leave(`it holds ${lost} (--all)`);
}

/** Decides what happens to idle workspaces, which belong to no run. */
export function planPooled(pooled: readonly Pooled[], wish: CleanupOptions): readonly Verdict[] {
  if (wish.run !== null) return [];
  return pooled.map((one) => {
    const whose = { run: null, task: null, live: one.state === 'claimed' };
    return { kind: 'workspace', path: one.path, ...whose, ...pooledFate(one, wish) };
  });
}

function pooledFate({ state, since }: Pooled, { now, all, olderThanMs }: CleanupOptions) {
  const age = since === null ? 0 : now - since;
  switch (state) {
    case 'claimed':
      return leave('a process is using it');
    case 'gone':
      return remove('its folder is missing, and it held no work');
    case 'broken':
      return remove('it was changed while idle; a backup ref will keep its contents');
    case 'idle':
      if (olderThanMs > 0 && age >= olderThanMs)
        return remove('it has not been used for that long');
      return all ? remove('it holds no work') : leave('it is ready for the next task (--all)');
  }
}

export function cleanupText(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'Nothing to clean up.\n';
  const line = ({ path, why }: Verdict): string => `  ${path}\n      ${why}`;
  const gone = verdicts.filter(({ remove }) => remove);
  const left = verdicts.filter(({ remove }) => !remove);
  return [
    ...(gone.length === 0 ? [] : [`To remove: ${countKinds(gone)}`]),
    ...gone.map(line),
    ...(left.length === 0 ? [] : [`To keep: ${countKinds(left)}`]),
    ...left.map(line),
    '',
  ].join('\n');
}

const KINDS: Readonly<Record<Verdict['kind'], readonly [string, string]>> = {
  workspace: ['workspace', 'workspaces'],
  branch: ['branch', 'branches'],
  data: ['folder of transcripts', 'folders of transcripts'],
  scratch: ['temporary folder', 'temporary folders'],
  folder: ['unused folder', 'unused folders'],
  lock: ['lock', 'locks'],
};

/** `2 workspaces, 1 branch` */
export function countKinds(verdicts: readonly Pick<Verdict, 'kind'>[]): string {
  const kinds = Object.keys(KINDS) as readonly Verdict['kind'][];
  return kinds
    .map((kind) => ({ kind, n: verdicts.filter((each) => each.kind === kind).length }))
    .filter(({ n }) => n > 0)
    .map(({ kind, n }) => count(n, ...KINDS[kind]))
    .join(', ');
}

export type Leftover =
  | {
      readonly kind: 'branch';
      /** Without `refs/heads/`. */
      readonly path: string;
      readonly of: RunPlace;
      readonly task: string | null;
      /** Named by the plan or holding delivered work: listed only if it is removed. */
      readonly isNamed: boolean;
      /** A branch or ref that contains all of it. */
      readonly heldBy: string | null;
      /** The commit in the target that has its changes, squashed or rebased. */
      readonly landedAs: string | null;
      /** A worktree that stays and has it checked out. */
      readonly usedBy: string | null;
    }
  /** Transcripts; a temporary folder; a folder for gates that git does not know. */
  | { readonly kind: 'data' | 'scratch' | 'folder'; readonly path: string; readonly of: RunPlace }
  /** A lock on a Landfast ref; `busy` while a git process runs in the repository. */
  | { readonly kind: 'lock'; readonly path: string; readonly busy: boolean };

export function planLeftovers(
  traces: readonly Leftover[],
  wish: CleanupOptions,
): readonly Verdict[] {
  return traces
    .filter((trace) => isMeant(trace, wish))
    .map((trace) => {
      const { kind, path } = trace;
      const run = kind === 'lock' ? null : trace.of.run;
      const task = kind === 'branch' ? trace.task : null;
      return { kind, path, run, task, live: false, ...leftoverFate(trace, wish.all) };
    });
}

function isMeant(trace: Leftover, wish: CleanupOptions): boolean {
  if (trace.kind === 'lock') return wish.run === null;
  const { run, state, live } = trace.of;
  if (wish.run !== null && wish.run !== run) return false;
  if (trace.kind === 'data' && wish.olderThanMs === 0) return false;
  if (trace.kind === 'branch') {
    if (trace.usedBy !== null) return false; // It goes or stays with that.
    if (trace.isNamed && !(wish.all && isEqual(trace))) return false;
  }
  return !live && wish.now - state.at >= wish.olderThanMs;
}

/** Whether the target contains everything on the branch. */
function isEqual({ heldBy, landedAs, of }: Leftover & { kind: 'branch' }): boolean {
  return (heldBy !== null && heldBy === of.state.target) || landedAs !== null;
}

function leftoverFate(trace: Leftover, all: boolean): Fate {
  switch (trace.kind) {
    case 'lock':
      return trace.busy
        ? leave('a git process runs in the repository and may hold it')
        : remove('no git process runs in the repository, so the lock is stale');
    case 'scratch':
      return remove('its engine is no longer running');
    case 'folder':
      return remove('it holds no work, and git does not know it');
    case 'data':
    case 'branch':
      break;
  }
  const kept = forResuming(trace.of, all);
  if (kept !== null) return kept;
  if (trace.kind !== 'branch') return remove('transcripts only; the journal of the run stays');
  if (trace.heldBy !== null) return remove(`all of it is in ${trace.heldBy}`);
  if (trace.landedAs === null) return leave('nothing else holds its commits');
  const landed = `its changes landed as ${shortSha(trace.landedAs)}`;
  return all
    ? remove(`${landed}; a backup ref will keep its commits`)
    : leave(`${landed}, and nothing else holds its commits (--all)`);
}

/**
 * What `landfast cleanup` removes, what it leaves, and why. Facts in, decisions out.
 *
 *   Q1. What a live run uses is never removed.
 *   Q2. A workspace goes by itself only if a branch holds all of it; loose files go only with
 *       `all`, after a backup ref was made. A run that can be resumed keeps its workspaces.
 *   Q3. Worktrees that no journal accounts for and that are not in the pool are not ours: they do
 *       not even come here.
 */

import { count } from './format.ts';
import type { Trace } from './traces.ts';
import type { Claimed, Pooled, Unmerged } from './workspaces.ts';

/** A workspace, and what was measured in it. */
export interface Leftover {
  readonly claimed: Claimed;
  /** Null where it could not be measured. */
  readonly unmerged: Unmerged | null;
  /** Whether its branch is where the workspace is. */
  readonly onBranch: boolean;
}

export interface CleanupWish {
  readonly now: number;
  /** Also what is not merged, after a backup. */
  readonly all: boolean;
  /** Only what belongs to runs that have been still for so long. */
  readonly olderThanMs: number;
  /** Only this run; null for all of them. */
  readonly run: string | null;
}

export interface Verdict {
  readonly kind: 'workspace' | Trace['kind'];
  /** Of a branch its name. */
  readonly path: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly remove: boolean;
  readonly why: string;
  /** It is in use, so that even `all` leaves it. */
  readonly live: boolean;
}

/** What is to become of each leftover of the runs that are meant. */
export function planCleanup(leftovers: readonly Leftover[], wish: CleanupWish): readonly Verdict[] {
  return leftovers
    .filter(({ claimed: { of } }) => wish.run === null || of.run === wish.run)
    .filter(({ claimed: { of } }) => of.live || wish.now - of.state.at >= wish.olderThanMs)
    .map((leftover) => {
      const { path, of, task } = leftover.claimed;
      const fate = fateOf(leftover, wish.all);
      return {
        kind: 'workspace',
        path,
        run: of.run,
        task: task?.spec.id ?? null,
        live: of.live,
        ...fate,
      };
    });
}

function fateOf({ claimed, unmerged, onBranch }: Leftover, all: boolean) {
  const { of, kind, gone } = claimed;
  const leave = (why: string) => ({ remove: false, why });
  const remove = (why: string) => ({ remove: true, why });
  if (of.live)
    return leave(`its run is live; end it first: landfast cancel --run ${of.run}, or add --cancel`);
  if (gone) return leave('its folder is not there; perhaps its disk is not');
  if (kind !== 'task') return remove('it holds no work');
  if (unmerged === null) return leave('nobody can tell what is in it');
  const { outcome } = of.state;
  if ((outcome === null || outcome === 'interrupted') && !all) {
    return leave(`its run can go on: landfast resume ${of.run}`);
  }
  const loose = unmerged.files === 0 ? '' : `${count(unmerged.files, 'file')} in no commit`;
  const apart = onBranch || unmerged.commits === 0 ? '' : 'commits that no branch of ours holds';
  const lost = [loose, apart].filter((part) => part !== '').join(' and ');
  if (lost === '' && unmerged.commits === 0) return remove('everything in it is merged');
  if (lost === '') {
    return remove(`its branch stays and holds ${count(unmerged.commits, 'commit')} not merged`);
  }
  return all ? remove(`a backup ref will hold it: ${lost}`) : leave(`it holds ${lost} (--all)`);
}

/** What is to become of the workspaces of the pool: they are no run's. */
export function planPooled(pooled: readonly Pooled[], wish: CleanupWish): readonly Verdict[] {
  if (wish.run !== null) return [];
  return pooled.map((one) => {
    const of = { kind: 'workspace', path: one.path, run: null, task: null } as const;
    return { ...of, live: isHeld(one), ...pooledFate(one, wish) };
  });
}

function isHeld({ state }: Pooled): boolean {
  return state === 'claimed';
}

function pooledFate({ state, since }: Pooled, { now, all, olderThanMs }: CleanupWish) {
  const leave = (why: string) => ({ remove: false, why });
  const remove = (why: string) => ({ remove: true, why });
  const age = since === null ? 0 : now - since;
  switch (state) {
    case 'claimed':
      return leave('a process is moving it');
    case 'gone':
      return remove('its folder is not there, and it held no work');
    case 'broken':
      return remove('it is not what it was left as; a backup ref will hold what is in it');
    case 'idle':
      if (olderThanMs > 0 && age >= olderThanMs) return remove('nobody has used it for so long');
      return all ? remove('it holds no work') : leave('it waits for the next task (--all)');
  }
}

/** The list for people. */
export function cleanupText(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'Nothing to clean up.\n';
  const line = ({ path, why }: Verdict): string => `  ${path}\n      ${why}`;
  const gone = verdicts.filter(({ remove }) => remove);
  const left = verdicts.filter(({ remove }) => !remove);
  return [
    ...(gone.length === 0 ? [] : [`To remove: ${countKinds(gone)}`]),
    ...gone.map(line),
    ...(left.length === 0 ? [] : [`To leave: ${countKinds(left)}`]),
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

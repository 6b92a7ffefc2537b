/**
 * idle: the workspaces that wait for a task, as they lie on the disk, and how one is claimed.
 *
 *     <workspaces>/.pool/<n>                        waits; its HEAD is detached
 *     <workspaces>/.pool/.claim-<owner>.<time>-<n>  one process has it in its hands
 *
 *   D1. A folder is claimed by renaming it, which only one process can do: no lock is needed, and
 *       none can be left behind. The claim names its process, so that one of a dead process is
 *       known as such.
 *   D2. What an idle workspace is, is written down in its git folder (`landfast-idle`) before it is
 *       idle, and deleted when a task has it. Without that note, or where anything differs from it,
 *       it is not trusted.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { lastChangeIn } from '../git/folder-times.ts';
import {
  forgetGitFolders,
  gitDirOf,
  gitFolderOf,
  placesBelow,
  removeOwn,
  writeOwn,
} from '../git/git-dir.ts';
import { printOf, readIndexFile } from '../git/index-file.ts';
import { type Cone, coneOf } from '../git/sparse.ts';
import { placeTold } from '../git/worktree.ts';
import type { Sha } from '../model/plan.ts';
import { claimTouchedAt } from './touched.ts';

/** What is known of an idle workspace. */
export interface Idle {
  readonly commit: Sha;
  readonly files: number;
  readonly bytes: number;
  /** When it became idle. */
  readonly at: number;
  /** Somebody asked for it ahead of a run: it stays, however small the repository is. */
  readonly asked: boolean;
  /** The index as it was left: its inode, size and times. */
  readonly index: string;
  /** It holds nothing but files of the commit: no ignored ones that a plan keeps. */
  readonly bare: boolean;
  /** When a folder in it was last changed, where one can tell. */
  readonly changed: number | null;
  /** The folders that are checked out, where not all are. */
  readonly cone?: Cone;
}

/** A process that claims workspaces, and how to tell whether another one still lives. */
export interface Claimant {
  /** In letters that can be part of a file's name, without a dot. */
  readonly name: string;
  /** Of a process of another host only `touchedAt` tells, the time when it last did something. */
  isAlive(name: string, touchedAt: () => number): boolean;
}

const NOTE = 'landfast-idle';
const CLAIM = '.claim-';
/** One process makes no two of them alike in a millisecond. */
const ONCE_LENGTH = 8;

/** The numbers of the idle workspaces in a pool's folder. */
export function idleSlots(folder: string): readonly number[] {
  return namesIn(folder)
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * The claims of processes that are not there any more, also those of which only git still knows: a
 * process may end while it throws one away.
 */
export async function deadClaims(
  { commonDir, folder }: { readonly commonDir: string; readonly folder: string },
  me: Claimant,
): Promise<readonly string[]> {
  const known = placesBelow(commonDir, folder);
  const names = new Set([...namesIn(folder), ...known.map((path) => basename(path))]);
  return claimsAmong([...names], folder)
    .filter(({ path, owner }) => owner !== me.name && !isHeld({ commonDir, path, owner }, me))
    .map(({ path }) => path);
}

/** Whether a claim is that of a living process. */
export function isHeld(
  claim: { readonly commonDir: string; readonly path: string; readonly owner: string },
  me: Claimant,
): boolean {
  return me.isAlive(claim.owner, () => claimTouchedAt(claim.commonDir, claim.path));
}

/** All claims in a pool's folder, and whose they are. */
export function claims(
  folder: string,
): readonly { readonly path: string; readonly owner: string }[] {
  return claimsAmong(namesIn(folder), folder);
}

function claimsAmong(names: readonly string[], folder: string) {
  return names.flatMap((name) => {
    const owner = claimantOf(name);
    return owner === null ? [] : [{ path: `${folder}/${name}`, owner }];
  });
}

/** Whose claim a folder with this name is; null where it is none. */
export function claimantOf(name: string): string | null {
  return name.startsWith(CLAIM) ? name.slice(CLAIM.length).replace(/\..*$/, '') : null;
}

/** Claims an idle workspace: where it is from now on, or null if another process was faster. */
export function claimSlot(folder: string, slot: number, me: Claimant): string | null {
  const place = newClaim(folder, me);
  try {
    renameSync(`${folder}/${String(slot)}`, place);
    forgetGitFolders();
    return place;
  } catch {
    return null;
  }
}

/** A folder that is nobody else's, for a workspace in the hands of a process. */
export function newClaim(folder: string, me: Claimant): string {
  const once = randomUUID().slice(0, ONCE_LENGTH);
  return `${folder}/${CLAIM}${me.name}.${Date.now()}-${once}`;
}

/** What is written down of a workspace; null where that is nothing, or cannot be read. */
export function readIdle(dir: string): Idle | null {
  if (!existsSync(`${dir}/.git`)) return null;
  try {
    return JSON.parse(readFileSync(`${gitFolderOf(dir)}/${NOTE}`, 'utf8')) as Idle;
  } catch {
    return null;
  }
}

/** What is known of a workspace that was wiped. */
export interface ToShelve {
  readonly commit: Sha;
  /** What it takes on the disk besides its commit, in bytes. */
  readonly extra: number;
  readonly asked: boolean;
  /** It holds nothing but files of the commit: no ignored ones that a plan keeps. */
  readonly bare: boolean;
}

/** Writes down what a workspace is that is about to be idle. */
export async function noteIdle(dir: string, what: ToShelve): Promise<Idle | null> {
  const gitDir = await gitDirOf(dir);
  const index = readIndexFile(gitDir);
  if (index === null) return null;
  const { extra, ...known } = what;
  const bytes = index.bytes + statSync(`${gitDir}/index`).size + extra;
  const print = indexPrint(gitDir);
  const cone = coneOf(dir);
  const changed = lastChangeIn(dir);
  const idle = {
    ...{ ...known, files: index.files, bytes, at: Date.now(), index: print, changed },
    ...(cone === null ? {} : { cone }),
  };
  await writeOwn(dir, NOTE, JSON.stringify(idle satisfies Idle));
  return idle;
}

/** What a note tells of a workspace that is claimed; anybody may have put something into it. */
export function knownOf(claimed: string, idle: Idle, untouched: boolean) {
  const { commit, at, asked, changed } = idle;
  const isAsNoted = untouched || (changed !== null && lastChangeIn(claimed) === changed);
  return { at: commit, wipedAt: at, asked, bare: idle.bare && isAsNoted };
}

/** Forgets that a workspace was idle. */
export async function forgetIdle(dir: string): Promise<void> {
  await removeOwn(dir, [NOTE]);
}

/** Whether a claimed workspace is as we left it: then all else that its note says is true, too. */
export function isAsLeft(claimed: string, idle: Idle): boolean {
  const gitDir = gitFolderOf(claimed);
  return indexPrint(gitDir) === idle.index && textIn(gitDir, 'HEAD').trim() === idle.commit;
}

/** Whether a claimed workspace, which was in `slot`, is what its note says. */
export async function isTrusted(claimed: string, slot: string, idle: Idle): Promise<boolean> {
  const gitDir = await gitDirOf(claimed);
  const head = textIn(gitDir, 'HEAD').trim();
  const isWhole =
    head === idle.commit && indexPrint(gitDir) === idle.index && isCone(idle, coneOf(claimed));
  const isLocked = ['index.lock', 'HEAD.lock', 'locked'].some((name) =>
    existsSync(`${gitDir}/${name}`),
  );
  return isWhole && !isLocked && (await placeTold(claimed)) === slot;
}

/** Whether an idle workspace has these folders checked out; null for all. */
export function isCone({ cone }: Idle, wanted: Cone | null): boolean {
  return JSON.stringify(cone ?? null) === JSON.stringify(wanted);
}

function indexPrint(gitDir: string): string {
  return printOf(`${gitDir}/index`) ?? '';
}

function textIn(gitDir: string, name: string): string {
  try {
    return readFileSync(`${gitDir}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

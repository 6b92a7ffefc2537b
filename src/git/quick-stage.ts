/**
 * quick-stage: all that a working tree holds, ready to be committed, by as few processes as can be.
 *
 *   S1. Staging happens in an index beside the worktree's own (`landfast-stage`), which takes its
 *       place only with the commit: work that is refused is left exactly as it was.
 *   S2. It answers only where git would make the same commit: nothing is half done (a merge, a
 *       rebase), the index began as the base's, no hook has a say, nothing is signed. Anything else
 *       is null: ask git step by step (diff.ts, commit.ts).
 *   S3. What git decides stays git's: which files are ignored, how their content is converted.
 */

import { renameSync, rmSync } from 'node:fs';
import type { Committed } from './commit.ts';
import { isHalfDone } from './diff.ts';
import type { FolderTimes } from './folder-times.ts';
import { GitError, git, LONG_LIMIT_MS, type Sha } from './git.ts';
import { gitDirOf, headRefOf } from './git-dir.ts';
import { type ByHand, stageByHand, type ToStage } from './hand-stage.ts';
import { hooksIn } from './hooks.ts';
import { copyIndex } from './index-file.ts';
import { IndexTree } from './index-tree.ts';
import { ONE_THREAD } from './look-at-folders.ts';
import { writesPlainly } from './loose-object.ts';
import { quickCommit } from './quick-commit.ts';
import { headInFiles } from './ref-files.ts';
import { treeOf, updateRef } from './refs.ts';
import { signsCommits } from './signing.ts';

/** Work that is staged aside. It is committed or dropped, and either ends it. */
export interface Staged {
  /** Every path in which it differs from the base. */
  readonly files: readonly string[];
  /** Times of files were compared to less than a microsecond; git compares seconds. */
  readonly isExact: boolean;
  /** Commits it on the branch that HEAD is on; null where git has to do it. */
  commit(message: string, signal: AbortSignal): Promise<Committed | null>;
  drop(): void;
}

interface Place {
  readonly commonDir: string;
  readonly dir: string;
  readonly base: Sha;
  /** Its folders when it held exactly the files of the base; null where nobody knows. */
  readonly times: FolderTimes | null;
}

/** Stages everything in a worktree whose HEAD is at the base; null where that is for git to do. */
export async function quickStage(place: Place, signal: AbortSignal): Promise<Staged | null> {
  const { commonDir, dir, base, times } = place;
  if ((await headInFiles(dir)) !== base || (await isHalfDone(dir))) return null;
  if (!(await isPlain(place, signal))) return null;
  const gitDir = await gitDirOf(dir);
  const own = `${gitDir}/index`;
  const aside = `${gitDir}/landfast-stage`;
  const tree = await treeOf(commonDir, base, signal);
  const what = { commonDir, dir, own, aside, tree, times };
  const drop = (): void => rmSync(aside, { force: true });
  try {
    const done = (await stageByHand(what, signal)) ?? (await stageByGit(what, signal));
    if (done !== null) return staged(place, { ...done, own, aside, before: tree, drop });
  } catch (error) {
    if (!(error instanceof GitError)) throw error; // Step by step git will say what is wrong.
  }
  drop();
  return null;
}

async function stageByGit(
  { commonDir, dir, own, aside, tree }: ToStage,
  signal: AbortSignal,
): Promise<ByHand | null> {
  const before = IndexTree.read(own);
  if (before === null || before.known !== tree) return null;
  copyIndex(own, aside);
  const env = { GIT_INDEX_FILE: aside };
  const options = { env, config: ONE_THREAD, limitMs: LONG_LIMIT_MS };
  await git(dir, ['add', '--all', '--sparse'], signal, options);
  const after = IndexTree.readForNow(aside);
  if (after === null) return null;
  const files = after.changedSince(before);
  return { tree: after.writeTree(commonDir), files, isExact: false };
}

interface Done extends ByHand {
  readonly own: string;
  readonly aside: string;
  /** The tree that it began with. */
  readonly before: Sha;
  readonly drop: () => void;
}

function staged({ commonDir, dir, base }: Place, done: Done): Staged {
  const { own, aside, files, isExact, tree, before, drop } = done;
  return {
    files,
    isExact,
    drop,
    commit: async (message, signal) => {
      const ref = await headRefOf(dir);
      const said = cleanMessage(message);
      const commit =
        ref === null || said === '' || tree === before
          ? null
          : await quickCommit(commonDir, { tree, parents: [base], message: said }, signal);
      if (ref === null || commit === null) {
        drop();
        return null;
      }
      renameSync(aside, own); // Before the ref: an index that is ahead is merely staged work.
      const moved = await updateRef(commonDir, ref, { to: commit, from: base }, signal);
      return moved.kind === 'moved' ? { kind: 'committed', commit } : null;
    },
  };
}

async function isPlain({ commonDir, dir }: Place, signal: AbortSignal): Promise<boolean> {
  if (!(await writesPlainly(commonDir, signal))) return false;
  return !(await hooksIn(commonDir, dir, signal)) && !(await signsCommits(commonDir, signal));
}

/** As `git commit` cleans a message that nobody edits: blanks at the ends, lines without a text. */
export function cleanMessage(message: string): string {
  const lines = message.split('\n').map((line) => line.replace(/[ \t\r]+$/, ''));
  const text = lines.join('\n').replace(/^\n+/, '').replace(/\n+$/, '');
  return text === '' ? '' : `${text.replace(/\n{3,}/g, '\n\n')}\n`;
}

/**
 * The transport of work: how commits get from the engine's repository to the place where an attempt
 * is made, and back. Work crosses as commits, never as files.
 *
 * - An attempt begins once `send` has resolved, and a fact names a commit only once `receive` has:
 *   every commit in the journal is in the engine's repository.
 */

import { OperationalError } from '../base/errors.ts';
import { GitError } from '../git/git.ts';
import { treeOf } from '../git/refs.ts';
import type { Sha } from '../model/plan.ts';

export interface Transport {
  /** Resolves once a workspace can be made from `base`, with its history. */
  send(base: Sha, signal: AbortSignal): Promise<void>;
  /** Resolves once `commit`, with its history, is in the engine's repository. */
  receive(commit: Sha, signal: AbortSignal): Promise<void>;
}

/**
 * Workspaces are worktrees of the engine's own repository: a commit is there the moment git has
 * written it. What is left to do is to refuse one that is not.
 */
export function sameRepository({ commonDir }: { readonly commonDir: string }): Transport {
  const requireCommit = async (commit: Sha, signal: AbortSignal): Promise<void> => {
    try {
      await treeOf(commonDir, commit, signal);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw new OperationalError(`Commit ${commit} is not in ${commonDir}.`, { cause: error });
    }
  };
  return { send: requireCommit, receive: requireCommit };
}

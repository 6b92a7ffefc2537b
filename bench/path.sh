#!/usr/bin/env bash
#
# What a chain of tasks costs in git alone: nothing can be done at the same time, so this is done one
# after the other, in one worktree that serves all of them.
#
#   path.sh REPOSITORY TASK…
#
# Each step brings the worktree to what has been merged, writes one file, commits it, and merges it
# into main as script.sh does. There is no worktree and no branch for a task, nothing to wait for and
# nothing to clean up but the one worktree at the end.

set -euo pipefail

repository=$1
shift
worktree=$repository.worktrees/path

git() {
  command git -c gc.auto=0 -c maintenance.auto=false "$@"
}

git -C "$repository" worktree add --quiet --detach "$worktree" main
for name; do
  git -C "$worktree" checkout --quiet --detach main
  echo "$name" >"$worktree/$name.txt"
  git -C "$worktree" add "$name.txt"
  git -C "$worktree" commit --quiet -m "$name"
  git -C "$repository" merge --quiet --no-ff -m "Land $name" worktrees/path/HEAD
done
git -C "$repository" worktree remove "$worktree"

#!/usr/bin/env bash
#
# What landfast is measured against: the same git work, done by a plain script.
#
#   script.sh REPOSITORY TASKS WORKERS AGENT
#
# Each task gets a worktree on a new branch, in which the program AGENT is started with its prompt on
# standard input; what it says goes to a log. The file it has written is committed and merged into
# main, and worktree and branch are removed. WORKERS tasks are under way at a time. Merging needs the one
# checkout of main, and deleting a branch rewrites the one configuration file, so that part waits
# for a lock; meanwhile the other tasks go on. That is faster than doing all the merges at the end.
#
# git fails now and then when it meets a worktree that another process is just adding or removing,
# so these commands are tried again. There is nothing else in it: no journal, no judging, no
# recovery. Any other error ends it.

set -euo pipefail

repository=$1 tasks=$2 workers=$3 agent=$4

git() {
  command git -c gc.auto=0 -c maintenance.auto=false "$@"
}

again() {
  local try
  for try in 1 2 3 4 5 6 7 8 9; do
    if "$@"; then return; fi
    sleep 0.02
  done
  "$@"
}

task() {
  local name=task-$1
  local worktree=$repository.worktrees/$name

  again git -C "$repository" worktree add --quiet -B "$name" "$worktree" main
  (cd "$worktree" && exec "$agent" -p --output-format stream-json --verbose) \
    <<<"Write $name to $name.txt" >"$repository.logs/$name.log" 2>&1
  git -C "$worktree" add "$name.txt"
  git -C "$worktree" commit --quiet -m "task $1"

  exec 9>"$repository.lock"
  flock 9
  git -C "$repository" merge --quiet --no-ff -m "Land task $1" "$name"
  again git -C "$repository" worktree remove "$worktree"
  again git -C "$repository" branch --quiet -d "$name"
}

mkdir "$repository.logs"
running=0
for ((i = 1; i <= tasks; i++)); do
  if ((running == workers)); then
    wait -n
    running=$((running - 1))
  fi
  task "$i" &
  running=$((running + 1))
done
for (( ; running > 0; running--)); do
  wait -n
done

/**
 * A `git` that stands before the real one on PATH: it counts the commands of an engine, and at one of
 * them ends the engine as `kill -9` would, with or without everything that the engine started.
 *
 *   before  git has not run
 *   during  git has just begun, and is ended with the engine
 *   after   git has done its work, but its caller does not know
 *
 * An engine may also be halted instead, after a command: it hears of its end when it is let go on.
 *
 * `git-log` has a line for each command, so that a point can be told by its name.
 */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type When = 'before' | 'during' | 'after';

export interface Blow {
  /** The how-manieth command; 0 for none. */
  readonly at: number;
  readonly when: When;
  /** Whether what the engine started dies too. */
  readonly everybody: boolean;
  /** Whether the engine is not ended but halted. */
  readonly halts?: boolean;
}

/** Writes the wrapper below `dir` and answers with the folder for PATH. */
export function wrapGit(dir: string, git: string, blow: Blow): string {
  const bin = join(dir, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(dir, 'git-count'), '0\n');
  const path = join(bin, 'git');
  writeFileSync(path, script({ ...blow, dir, git }));
  chmodSync(path, 0o755);
  return bin;
}

function script(blow: Blow & { readonly dir: string; readonly git: string }): string {
  const { dir, git, at, when, everybody, halts = false } = blow;
  const tree = everybody ? 'tree "$engine"' : ':';
  return `#!/bin/sh
exec 8>>'${dir}/git-lock'
flock 8
read -r count < '${dir}/git-count'
count=$((count + 1))
echo "$count" > '${dir}/git-count'
echo "$count $*" >> '${dir}/git-log'
exec 8>&-
[ "$count" = ${at} ] || exec '${git}' "$@"

# Every process below one, by the parents that /proc tells; not this shell, which still has to act.
tree() {
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" 2>/dev/null || continue
    rest=\${line##*) }
    set -- "$1" $rest
    pid=\${stat#/proc/}; pid=\${pid%/stat}
    [ "$3" = "$1" ] && [ "$pid" != "$$" ] || continue
    ( tree "$pid" )
    kill -9 "$pid" 2>/dev/null
  done
}
strike() {
  until [ -s '${dir}/engine-pid' ]; do sleep 0.01; done
  read -r engine < '${dir}/engine-pid'
  kill -STOP "$engine"
  ${halts ? 'return' : tree}
  kill -9 "$engine"
}

case ${when} in
  before) strike; exit 137 ;;
  during)
    exec 7<&0
    '${git}' "$@" <&7 &
    real=$!
    strike
    kill -9 "$real" 2>/dev/null
    exit 137 ;;
  after) '${git}' "$@"; code=$?; strike; exit "$code" ;;
esac
`;
}

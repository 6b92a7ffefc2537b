/**
 * Hooks that log their calls to `$HOOK_LOG`: name, folder, arguments and input.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Random } from '../sim/random.ts';

const NAMES = [
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-checkout'],
  ...['reference-transaction', 'pre-merge-commit', 'post-merge', 'post-rewrite', 'pre-rebase'],
];

const READS_INPUT = ['reference-transaction', 'post-rewrite'];

/** What a hook may do besides logging. */
const DEEDS: Readonly<Record<string, readonly string[]>> = {
  'pre-commit': [
    'stamp=stamp-$(basename "$PWD"); echo stamped >> $stamp; git add $stamp',
    'test "$(basename "$PWD")" != t2',
  ],
  'commit-msg': ['echo "Checked-by: hook" >> "$1"'],
};

/** Installs all, some or no hooks, in `.git/hooks` or in a tracked folder. */
export function installHooks(repo: string, random: Random): void {
  const how = random.pick(['none', 'all', 'all', 'some']);
  const names = how === 'none' ? [] : NAMES.filter(() => how === 'all' || random.chance(0.5));
  const isTracked = random.chance(0.3);
  const folder = join(repo, isTracked ? '.githooks' : '.git/hooks');
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    const deed = random.chance(0.3) ? random.pick(DEEDS[name] ?? [':']) : ':';
    writeFileSync(join(folder, name), hookText(name, deed));
    chmodSync(join(folder, name), 0o755);
  }
  if (!isTracked || names.length === 0) return;
  writeFileSync(join(folder, '.gitattributes'), '* -text\n'); // A shell wants no CR.
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: repo });
  git('add', '-A');
  git('commit', '-q', '-m', 'Hooks');
  git('config', 'core.hooksPath', '.githooks');
}

/** One line per call, written at once, so that calls of parallel tasks do not mix. */
function hookText(name: string, deed: string): string {
  const read = 'while read -r line; do input="$input$line,"; done';
  return `#!/bin/sh
input=
${READS_INPUT.includes(name) ? read : ':'}
printf '%s|%s|%s|%s\\n' ${name} "$PWD" "$*" "$input" >> "$HOOK_LOG"
${deed}
`;
}

/** A call of a hook. */
export interface Call {
  readonly hook: string;
  /** The last part of the folder that it was called in. */
  readonly where: string;
  /** Its arguments; commits are named by their trees, files without their folder. */
  readonly args: readonly string[];
  /** The lines of its input, likewise. */
  readonly input: readonly string[];
}

/** The calls in a log, in order. */
export function readCalls(log: string, treeOf: (commit: string) => string): readonly Call[] {
  const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
  const named = (words: string): string => words.replace(/\b[0-9a-f]{40}\b/g, treeOf);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [hook = '', folder = '', args = '', input = ''] = line.split('|');
      return {
        hook,
        where: basename(folder),
        args: args.split(' ').map((word) => named(word.includes('/') ? basename(word) : word)),
        input: input.split(',').slice(0, -1).map(named),
      };
    });
}

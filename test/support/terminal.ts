/** A program on a real terminal: `script` of util-linux makes one and passes on what is typed. */

import { spawn, spawnSync } from 'node:child_process';
import { quoted } from '../../src/base/shell-word.ts';
import { BIN, bareEnv, Running } from './landfast.ts';
import type { TempRepo } from './temp-repo.ts';

/** Whether this machine has it. */
export const hasScript = (
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? ''
).includes('util-linux');

export const CTRL_C = '\x03';

/** Runs the built program on a terminal, with what the shell is to do afterwards. */
export function onTerminal(
  repo: TempRepo,
  args: readonly string[],
  afterwards = '',
): { readonly shown: Running; type(text: string): void } {
  const run = [process.execPath, BIN, ...args].map(quoted).join(' ');
  const command = `trap : INT; ${run}; echo "code=$?"; ${afterwards}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: repo.dir,
    env: { ...bareEnv(repo.outside), TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return { shown: new Running(child), type: (text) => child.stdin?.write(text) };
}

/** The one command that the program named, typed as it stands where the user is. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { quoted } from '../../src/base/shell-word.ts';
import { BIN, bareEnv } from './landfast.ts';
import type { TempRepo } from './temp-repo.ts';

export interface Typed {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the command of a remedy in the checkout; what has to be done before it stands in front. */
export async function typed(remedy: string | undefined, repo: TempRepo): Promise<Typed> {
  const command = remedy?.split(', then: ').at(-1) ?? 'false';
  const bin = join(repo.outside, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(BIN)} "$@"\n`;
  writeFileSync(join(bin, 'landfast'), program, { mode: 0o755 });
  const env = bareEnv(repo.outside);
  const child = spawn('sh', ['-c', command], {
    cwd: repo.dir,
    env: { ...env, PATH: `${bin}:${env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { code, output: `${stdout}${stderr}` };
}

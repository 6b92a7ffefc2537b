/** A stand-in for Claude Code: a script of that name which is found first. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TempRepo } from './temp-repo.ts';

/** A folder with a claude of our own, alone on PATH with what the system needs. */
export function withClaude(repo: TempRepo, script: string): Record<string, string> {
  const bin = join(repo.outside, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'claude'), 0o755);
  return { PATH: `${bin}:/usr/bin:/bin` };
}

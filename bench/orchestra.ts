/**
 * parallel-orchestra beside ours, where its source is on this machine (`PO_SRC` names it): the same
 * tasks, with the same stand-in in the place of its agent.
 *
 *   O1. It runs as its users run it: `python3 -m parallel_orchestra run MANIFEST` in the repository,
 *       with its logs, and only its display turned off.
 *   O2. What it puts into the repository for itself (`.claude`, `.po-worktrees`) is excluded there,
 *       since it would otherwise be committed, and the trees could not be compared.
 */

import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { type Contestant, excludeOf, script, writeManifest } from './contestants.ts';
import { execute } from './ground.ts';
import { STAND_IN } from './jobs.ts';

const PACKAGE = 'parallel_orchestra';

/** Adds it to the cases that have a script to be compared with. */
export function withOrchestra(cases: readonly Case[], orchestra: Contestant): readonly Case[] {
  return cases.map((each) => ({
    ...each,
    entrants: each.entrants.flatMap((entrant) => {
      if (entrant.by !== script) return [entrant];
      return [entrant, { name: orchestra.name, by: orchestra, work: entrant.work }];
    }),
  }));
}

/** The contestant whose source is in this folder. */
export async function findOrchestra(source: string, signal: AbortSignal): Promise<Contestant> {
  const path = [join(source, 'src'), source].find((dir) => existsSync(join(dir, PACKAGE)));
  if (path === undefined) throw new Error(`PO_SRC: there is no ${PACKAGE} in ${source}`);
  // A version manager's `python3` would look for the real one at every start, and on our time.
  const asked = ['-c', 'import sys; print(sys.executable)'];
  const python = (await execute('python3', asked, { signal })).stdout.trim();
  return {
    name: 'parallel-orchestra',
    way: null,
    command: async (job) => {
      const manifest = await writeManifest(job);
      await appendFile(excludeOf(job), '/.claude/\n/.po-worktrees/\n');
      const program = [`PYTHONPATH=${path}`, python, '-m', PACKAGE, 'run', manifest];
      const flags = ['--max-workers', String(job.workers), '--claude-exe', STAND_IN];
      return ['env', '-C', job.repository, ...program, ...flags, '--no-dashboard'];
    },
  };
}

/**
 * verdict-key: all that a gate's verdict on a candidate depends on, in one name.
 *
 *   K1. The same key means the same files, command, set-up, environment and tools.
 *   K2. A gate with `paths` depends on those files alone, so that work elsewhere leaves it known.
 */

import { createHash } from 'node:crypto';
import { git } from '../git/git.ts';
import type { GateSpec, Sha } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import type { Ground } from '../workspace/ground.ts';
import { toolsOf } from '../workspace/tools.ts';

/** The key of a gate's verdict on a tree. */
export async function verdictKey(
  ground: Ground,
  gate: GateSpec,
  tree: Sha,
  signal: AbortSignal,
): Promise<string> {
  const { setup, copy } = ground.plan.workspace;
  const files = gate.paths === undefined ? tree : await part(ground, gate.paths, tree, signal);
  const tools = await toolsOf(ground, signal);
  const all = [files, gate.run, gate.env ?? {}, setup, copy, tools, process.platform, process.arch];
  return digest(JSON.stringify(all));
}

/** The files of a tree that are in these paths, with their contents, as one name. */
async function part(
  { repository }: Ground,
  paths: readonly string[],
  tree: Sha,
  signal: AbortSignal,
): Promise<string> {
  const { stdout } = await git(repository.commonDir, ['ls-tree', '-r', '-z', tree], signal);
  const lines = stdout.split('\0').filter((line) => {
    const name = line.slice(line.indexOf('\t') + 1);
    return line !== '' && inScope(name, paths);
  });
  return digest(lines.join('\0'));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * verdict-key: everything a gate's verdict depends on, as one digest.
 *
 *   K1. Equal keys mean equal inputs: files, command, variables, copied files, set-up and tools.
 *       Variables that only describe a log-in session are left out; those that the gate itself
 *       sets always count.
 *   K2. A gate with `paths` declares that it reads no other tracked files, so work elsewhere keeps
 *       its verdict. The key files of set-up count besides: it finds what was made from them.
 *   K3. A gate that sees the commit (`sees: commit`) has one verdict per commit.
 */

import { createHash } from 'node:crypto';
import { git, splitNul } from '../git/git.ts';
import type { GateSpec, Sha } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import type { Ground } from '../workspace/ground.ts';
import { isOfSession } from '../workspace/setup.ts';
import { toolsOf } from '../workspace/tools.ts';
import { copiedFiles } from './copied-files.ts';

/** What every gate of a candidate is given. */
export interface GateInputs {
  readonly tree: Sha;
  readonly commit: Sha;
  /** The tree as `git ls-tree` lists it; empty where no gate has paths. */
  readonly entries: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A digest of the untracked files that come from the user's checkout. */
  readonly copied: string;
  readonly setup: readonly string[];
  /** The files that set-up depends on. */
  readonly setupKey: readonly string[];
  readonly tools: string;
}

/** Collects what the gates of a candidate are given. */
export async function gateInputs(
  ground: Ground,
  { tree, commit }: { readonly tree: Sha; readonly commit: Sha },
  signal: AbortSignal,
): Promise<GateInputs> {
  const { gates, workspace } = ground.plan;
  const { setup, setupKey } = workspace;
  const isListed = gates.some(({ paths }) => paths !== undefined);
  const [entries, copied, tools] = await Promise.all([
    isListed ? listTree(ground, tree, signal) : [],
    copiedFiles(ground, signal),
    toolsOf(ground, signal),
  ]);
  const env = Object.entries(ground.env).filter(([name]) => !isOfSession(name));
  const variables = { env: Object.fromEntries(env) };
  return { tree, commit, entries, ...variables, copied, setup, setupKey, tools };
}

/** The key of a gate's verdict. */
export function verdictKey(inputs: GateInputs, gate: GateSpec): string {
  const { tree, commit, copied, setup, tools } = inputs;
  const env = Object.entries({ ...inputs.env, ...gate.env });
  return digest({
    files: gate.paths === undefined ? tree : filesFor(inputs, gate.paths),
    commit: gate.sees === 'commit' ? commit : null,
    command: gate.run,
    env: env.sort(([a], [b]) => (a < b ? -1 : 1)),
    copied,
    setup,
    tools,
    machine: [process.platform, process.arch],
  });
}

/** The entries in these paths, and those of set-up's key files: mode, content and name. */
function filesFor({ entries, setup, setupKey }: GateInputs, paths: readonly string[]) {
  const counted = setup.length === 0 ? paths : [...paths, ...setupKey];
  return entries.filter((entry) => inScope(entry.slice(entry.indexOf('\t') + 1), counted));
}

async function listTree(
  { repository }: Ground,
  tree: Sha,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['ls-tree', '-r', '-z', tree];
  return splitNul((await git(repository.commonDir, args, signal)).stdout);
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/**
 * Everything a gate's verdict depends on, as one digest: files, command, variables, copied files,
 * set-up and tools. Variables of a log-in session are left out, unless the gate itself sets them.
 *
 * A gate with `paths` declares that it reads no other tracked files; the key files of set-up count
 * besides. One that sees the commit (`sees: commit`) has one verdict per commit. Only its program
 * knows what a gate function depends on: its key counts, and without one a verdict is valid while
 * this process drives the run.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isSystemError } from '../base/errors.ts';
import { git, splitNul } from '../git/git.ts';
import { untrackedMatching } from '../git/untracked.ts';
import type { GateSpec, Sha } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { includePatterns } from '../workspace/prepare.ts';
import type { GateFunction, RunContext } from '../workspace/run-context.ts';
import { isOfSession, MACHINE, toolVersions } from '../workspace/setup.ts';

export interface GateInputs {
  readonly tree: Sha;
  readonly commit: Sha;
  /** The tree as `git ls-tree` lists it; empty where no gate has paths. */
  readonly entries: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A digest of the untracked files that come from the user's checkout. */
  readonly copied: string;
  readonly setup: readonly string[];
  readonly setupKey: readonly string[];
  readonly tools: string;
  readonly functionKeys: ReadonlyMap<string, string>;
}

export async function gateInputs(
  context: RunContext,
  { tree, commit }: { readonly tree: Sha; readonly commit: Sha },
  signal: AbortSignal,
): Promise<GateInputs> {
  const { repository, plan } = context;
  const { setup, setupKey } = plan.workspace;
  const isListed = plan.gates.some(({ paths }) => paths !== undefined);
  const [listed, copied, tools] = await Promise.all([
    isListed ? git(repository.commonDir, ['ls-tree', '-r', '-z', tree], signal) : null,
    copiedFiles(context, signal),
    toolVersions(context, signal),
  ]);
  const entries = splitNul(listed?.stdout ?? '');
  const env = Object.entries(context.env).filter(([name]) => !isOfSession(name));
  const { gateFunctions = new Map<string, GateFunction>(), session } = context;
  const functionKeys = new Map(
    [...gateFunctions].map(([name, { key }]) => [
      name,
      key === undefined ? `session ${session.id}` : `key ${key}`,
    ]),
  );
  const variables = { env: Object.fromEntries(env), functionKeys };
  return { tree, commit, entries, ...variables, copied, setup, setupKey, tools };
}

export function verdictKey(inputs: GateInputs, gate: GateSpec): string {
  const { tree, commit, copied, setup, tools } = inputs;
  const env = Object.entries({ ...inputs.env, ...gate.env });
  return digest({
    files: gate.paths === undefined ? tree : filesFor(inputs, gate.paths),
    commit: gate.sees === 'commit' ? commit : null,
    command: gate.run,
    ...(gate.inProcess === true ? { function: inputs.functionKeys.get(gate.name) } : {}),
    env: env.sort(([a], [b]) => (a < b ? -1 : 1)),
    copied,
    setup,
    tools,
    machine: MACHINE,
  });
}

/** The entries in these paths, and those of set-up's key files: mode, content and name. */
function filesFor({ entries, setup, setupKey }: GateInputs, paths: readonly string[]) {
  const counted = setup.length === 0 ? paths : [...paths, ...setupKey];
  return entries.filter((entry) => inScope(entry.slice(entry.indexOf('\t') + 1), counted));
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Names, modes and contents of the files in the user's checkout that would be copied now. */
export async function copiedFiles(context: RunContext, signal: AbortSignal): Promise<string> {
  const patterns = await includePatterns(context);
  if (patterns.length === 0) return '';
  const from = context.repository.dir;
  const { files } = await untrackedMatching(from, patterns, signal);
  const all = createHash('sha256');
  for (const file of files) {
    all.update(JSON.stringify([file, await describeFile(join(from, file), signal)]));
  }
  return all.digest('hex');
}

async function describeFile(path: string, signal: AbortSignal): Promise<readonly unknown[]> {
  const content = createHash('sha256');
  try {
    const { mode } = await stat(path);
    await pipeline(createReadStream(path), content, { signal });
    return [mode & 0o777, content.digest('hex')];
  } catch (error) {
    signal.throwIfAborted();
    if (!isSystemError(error)) throw error;
    return [(error as NodeJS.ErrnoException).code]; // Copying it says what is wrong with it.
  }
}

/**
 * verify: run the gates on exactly a candidate's tree.
 *
 *   V1. A gate sees the candidate's files and nothing of an earlier one's: the workspace is moved
 *       to the commit and cleaned first, of ignored files too; only what set-up made may stay.
 *   V2. The first red gate decides; those after it are not run.
 *   V3. Interrupted is not red.
 */

import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { blobIds } from '../git/blobs.ts';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { isWorkingTree } from '../git/git-dir.ts';
import { addWorktree, removeWorktree } from '../git/worktree.ts';
import type { Event } from '../model/event.ts';
import type { GateSpec, Sha, TaskId } from '../model/plan.ts';
import { bring, cleanWorkspace } from '../workspace/bring.ts';
import { check } from '../workspace/check.ts';
import { type Ground, gateDir } from '../workspace/ground.ts';

export type Verdict =
  | { readonly kind: 'green' }
  | { readonly kind: 'red'; readonly gate: string; readonly output: string }
  | { readonly kind: 'stopped' };

export interface ToVerify {
  readonly task: TaskId | null;
  readonly commit: Sha;
  readonly tree: Sha;
}

/** Runs the gates of the plan on a candidate, one after the other, in a workspace of its own. */
export async function verify(
  ground: Ground,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { gates, landing } = ground.plan;
  if (gates.length === 0 || landing.verify === 'off') return { kind: 'green' };
  using slot = takeSlot(ground);
  const place = { ...candidate, dir: gateDir(ground, slot.number), mark: slot.mark };
  for (const gate of gates) {
    const broken = await prepare(ground, place, report, signal);
    if (broken !== null) return broken;
    const verdict = await runGate(ground, { ...place, gate }, report, signal);
    if (verdict.kind !== 'green') return verdict;
  }
  return { kind: 'green' };
}

type Placed = ToVerify & { readonly dir: string; readonly mark: string };

const slots = new WeakMap<Ground, Set<number>>();

/** The first place for a gate workspace that nobody uses. */
function takeSlot(ground: Ground): Disposable & { readonly number: number; readonly mark: string } {
  const used = slots.get(ground) ?? new Set();
  slots.set(ground, used);
  let number = 0;
  while (used.has(number)) number += 1;
  used.add(number);
  const mark = `${ground.run}/gate.${number}`;
  return { number, mark, [Symbol.dispose]: () => void used.delete(number) };
}

/**
 * The candidate's files and their set-up, for each gate anew: none sees what another one did. A
 * verdict only where that did not work.
 */
async function prepare(
  ground: Ground,
  { task, tree, commit, dir, mark }: Placed,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict | null> {
  await moveTo(ground, dir, commit, signal);
  const key = await setupKey(ground, commit, signal);
  const brought = await bring(ground, { dir, key, mark, suspension: null }, signal);
  if (brought.kind === 'stopped') return brought;
  if (brought.kind === 'ready') return null;
  const output = `${brought.message}\n${brought.output}`;
  report({ type: 'gate.finished', task, gate: SETUP, tree, ok: false, ms: 0, output });
  return { kind: 'red', gate: SETUP, output };
}

/** How the set-up of a gate workspace is called where it fails. */
const SETUP = 'setup';

async function runGate(
  ground: Ground,
  { gate, task, tree, dir, mark }: Placed & { readonly gate: GateSpec },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { run: command, timeoutMs, name } = gate;
  const what = { dir, command, env: ground.env, timeoutMs, mark, suspension: null };
  const result = await check(what, signal);
  if (result.kind === 'stopped') return result;
  const ok = result.kind === 'passed';
  const output = ok ? '' : result.output;
  report({ type: 'gate.finished', task, gate: name, tree, ok, ms: result.ms, output });
  return ok ? { kind: 'green' } : { kind: 'red', gate: name, output };
}

/** Brings the gate workspace to a commit, making it where it is missing or broken. */
async function moveTo(
  ground: Ground,
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<void> {
  const { commonDir } = ground.repository;
  if (await isWorkingTree(dir)) {
    const limit = { limitMs: LONG_LIMIT_MS };
    await git(dir, ['checkout', '-q', '-f', '--detach', commit], signal, limit);
    await cleanWorkspace(dir, signal);
    return;
  }
  await rm(dir, { recursive: true, force: true });
  await removeWorktree(commonDir, dir, signal); // Git may still know of one that is gone.
  await mkdir(dirname(dir), { recursive: true });
  await addWorktree(commonDir, { path: dir, branch: null, commit }, signal);
}

/** Set-up runs again when one of its key files differs; without key files, for every commit. */
async function setupKey(ground: Ground, commit: Sha, signal: AbortSignal): Promise<string> {
  const { setup, setupKey: files } = ground.plan.workspace;
  if (setup.length === 0) return '';
  if (files.length === 0) return commit;
  return (await blobIds(ground.repository.commonDir, { commit, files }, signal)).join(' ');
}

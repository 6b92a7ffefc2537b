/**
 * verify: run the gates on exactly a candidate's tree.
 *
 *   V1. A gate sees the candidate's files and nothing of an earlier one's: the workspace is moved
 *       to the commit and cleaned first, of ignored files too; only what set-up made may stay.
 *   V2. The first red gate decides; gates that are still running are ended.
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

/** Runs all gates of the plan on a candidate, as many at a time as the plan allows. */
export async function verify(
  ground: Ground,
  candidate: ToVerify,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { gates, limits, landing } = ground.plan;
  if (gates.length === 0 || landing.verify === 'off') return { kind: 'green' };
  const red = new AbortController();
  const stop = AbortSignal.any([signal, red.signal]);
  const waiting = [...gates];
  const verdicts: Verdict[] = [];
  const runSlot = async (slot: number): Promise<void> => {
    for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
      if (stop.aborted) return;
      const verdict = await runGate(ground, { ...candidate, gate, slot }, report, stop);
      verdicts.push(verdict);
      if (verdict.kind === 'red') red.abort('red');
    }
  };
  const slots = Math.min(limits.gates, gates.length);
  // Every slot is waited for, whatever happens in another: nothing may run on behind the verdict.
  const ends = await Promise.allSettled(Array.from({ length: slots }, (_, slot) => runSlot(slot)));
  const failed = verdicts.find(({ kind }) => kind === 'red');
  if (failed !== undefined) return failed;
  const broken = ends.find((end) => end.status === 'rejected');
  if (broken !== undefined && !signal.aborted) throw broken.reason;
  return signal.aborted ? { kind: 'stopped' } : { kind: 'green' };
}

async function runGate(
  ground: Ground,
  todo: ToVerify & { readonly gate: GateSpec; readonly slot: number },
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const { gate, slot, task, tree } = todo;
  const mark = `${ground.run}/gate.${slot}`;
  const dir = gateDir(ground, slot);
  const finished = (ok: boolean, ms: number, output: string): void =>
    report({ type: 'gate.finished', task, gate: gate.name, tree, ok, ms, output });
  await moveTo(ground, dir, todo.commit, signal);
  const key = await setupKey(ground, todo.commit, signal);
  const brought = await bring(ground, { dir, key, mark }, signal);
  if (brought.kind === 'stopped') return brought;
  if (brought.kind === 'failed') {
    const output = `${brought.message}\n${brought.output}`;
    finished(false, 0, output);
    return { kind: 'red', gate: gate.name, output };
  }
  const { run: command, timeoutMs } = gate;
  const result = await check({ dir, command, env: ground.env, timeoutMs, mark }, signal);
  if (result.kind === 'stopped') return result;
  const ok = result.kind === 'passed';
  finished(ok, result.ms, ok ? '' : result.output);
  return ok ? { kind: 'green' } : { kind: 'red', gate: gate.name, output: result.output };
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

/**
 * A run leaves what plain git would have left. It guards the rule that git does all of git's work.
 *
 * Each seed makes a random repository and a few tasks. They run once through the built program and
 * once as `git worktree add -b`, `add -A`, `commit` and `merge --no-ff`, from the same heads and in
 * the same order (plain-git.ts). `FUZZ_SEED` and `FUZZ_SEEDS`: test/support/seeds.ts.
 *
 * Compared: which tasks land, the tree of every landing, every ref that is left, the files of the
 * checkout, what fsck says, and the hooks that are called:
 *
 *   H1. New workspace: post-checkout, with the arguments that `worktree add` gives it.
 *   H2. Commit of a task's work: pre-commit, prepare-commit-msg, commit-msg and post-commit, with
 *       their arguments, in that order; post-rewrite where the agent itself amends.
 *   H3. reference-transaction: every value of each task's branch up to its deletion, and the last
 *       value of the target.
 *   H4. The target's checkout: post-merge, with its arguments.
 *
 * Different by design, and checked to be so:
 *
 *   D1. Landfast merges in memory, on the run's branch, and fast-forwards the target once. So
 *       pre-merge-commit, prepare-commit-msg and commit-msg are never called for a merge,
 *       post-merge is called once per publication, and the target moves once.
 *   D2. The run's branch, `landfast/<run>`, stays if a task did not land.
 *
 * Not compared: commit times and messages, and what reference-transaction is told of other refs
 * (HEAD, ORIG_HEAD) or of a ref that keeps its value.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { Random } from '../sim/random.ts';
import { bareEnv, landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { seedsToTry } from '../support/seeds.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Call, installHooks } from './hooks.ts';
import { type Outcome, outcomeOf, sharedName } from './outcome.ts';
import { type Ending, replay, type Side } from './plain-git.ts';
import { makeRepository } from './random-repository.ts';
import { writeWork } from './random-work.ts';

/** Other file systems refuse names that are not UTF-8. */
const onLinux = test.runIf(process.platform === 'linux');

onLinux.each(seedsToTry(4))('a run leaves what git alone would leave (seed %i)', async (seed) => {
  await using place = await tempDir();
  const random = new Random('differential', seed);
  const origin = join(place.path, 'origin');
  const files = makeRepository(origin, random);
  installHooks(origin, random);
  const [ours, plain] = [sideOf(place.path, 'ours'), sideOf(place.path, 'plain')];
  const tasks = Array.from({ length: random.between(2, 4) }, (_, nth) => `t${nth + 1}`);
  const scripts = new Map(
    tasks.map((task) => [task, writeWork(join(place.path, 'data'), task, { files, random })]),
  );

  const facts = await run(ours, planText(scripts, ours, random));
  const endings = replay(plain, facts, (task) => scripts.get(task)!);

  expect(endingsOf(facts), `seed ${seed}`).toEqual(endings);
  const [left, expected] = [outcomeOf(ours, logOf(ours)), outcomeOf(plain, logOf(plain))];
  expect(comparable(left, tasks), `seed ${seed}`).toEqual(comparable(expected, tasks));
  const hasLanded = Object.values(endings).includes('landed');
  const isWhole = Object.values(endings).every((ending) => ending === 'landed');
  const mergeHooks = hasLanded && hasHook(expected, 'post-merge') ? ['post-merge 0'] : [];
  expect(callsIn(left, 'repo'), `seed ${seed}`).toEqual(mergeHooks);
  const head = left.refs.find((ref) => ref.startsWith('refs/heads/main '));
  expect(left.runBranch, `seed ${seed}`).toBe(isWhole ? null : head?.slice(16));
});

/** A copy of the repository with an environment of its own. */
function sideOf(place: string, name: string): Side {
  const home = join(place, name);
  mkdirSync(home);
  const repo = join(home, 'repo');
  execFileSync('cp', ['-Rp', join(place, 'origin'), repo]); // Names are bytes.
  const env = { ...bareEnv(home), DATA: join(place, 'data'), HOOK_LOG: join(home, 'hooks.log') };
  return { repo, env };
}

const logOf = ({ env }: Side): string => env.HOOK_LOG ?? '';

/** Some tasks need the first one, and so start from a later head. */
function planText(scripts: ReadonlyMap<string, string>, { env }: Side, random: Random): string {
  const tasks = [...scripts].map(([task, script], nth) => {
    const needs = nth > 0 && random.chance(0.25) ? ['t1'] : [];
    return [task, { prompt: `sh '${script}'`, needs }] as const;
  });
  const { DATA, HOOK_LOG } = env;
  return nativePlan({
    workers: random.between(1, 3),
    land: { on_conflict: 'fail' },
    tasks: Object.fromEntries(tasks),
    more: { defaults: { agent: 'shell', retries: 0, env: { DATA, HOOK_LOG } } },
  });
}

/** Runs a plan; the facts of the run. */
async function run({ repo, env }: Side, plan: string): Promise<readonly Event[]> {
  const file = join(repo, '..', 'plan.yaml');
  writeFileSync(file, plan);
  const { stdout, stderr, code } = await landfast(['run', file, '--events'], { cwd: repo, env });
  expect([0, 1], stderr).toContain(code);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { event: Event }).event);
}

function endingsOf(facts: readonly Event[]): Readonly<Record<string, Ending>> {
  const endings: Record<string, Ending> = {};
  for (const fact of facts) {
    if (fact.type === 'merge.landed') endings[fact.task] = 'landed';
    if (fact.type === 'merge.rejected') endings[fact.task] = 'conflict';
    if (fact.type === 'attempt.failed') endings[fact.task] = 'not committed';
  }
  return endings;
}

/** What must be the same on both sides. */
function comparable(outcome: Outcome, tasks: readonly string[]) {
  const { runBranch: _, calls, ...rest } = outcome;
  const moves = [...tasks.map((task) => `task:${task}`), 'refs/heads/main'];
  return {
    ...rest,
    inWorkspaces: Object.fromEntries(tasks.map((task) => [task, callsIn(outcome, task)])),
    moved: Object.fromEntries(moves.map((ref) => [ref, valuesOf(ref, calls)])),
  };
}

/** Hook calls in a folder, without reference-transaction. */
function callsIn({ calls }: Outcome, where: string): readonly string[] {
  const own = calls.filter((call) => call.where === where && call.hook !== TRANSACTION);
  return own.map(({ hook, args, input }) => [hook, ...args, ...input].join(' ').trim());
}

const TRANSACTION = 'reference-transaction';

/** The values that a ref took, without repetitions; of the target only the last. */
function valuesOf(ref: string, calls: readonly Call[]): readonly string[] {
  const values: string[] = [];
  for (const { hook, args, input } of calls) {
    if (hook !== TRANSACTION || args[0] !== 'committed') continue;
    for (const line of input) {
      const [, value = '', name = ''] = line.split(' ');
      if (sharedName(name) === ref && values.at(-1) !== value) values.push(value);
    }
  }
  return ref === 'refs/heads/main' ? values.slice(-1) : values;
}

function hasHook({ calls }: Outcome, name: string): boolean {
  return calls.some(({ hook }) => hook === name);
}

/** A run whose money is spent stops, and keeps what was done for it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { withClaude } from '../support/with-claude.ts';

/** Begins its work, and is stopped by the limit that it was told. */
const SPENDER = `echo "$@" > half.txt
echo '{"type":"system","subtype":"init","session_id":"s","cwd":"/"}'
echo '{"type":"result","subtype":"error_max_budget_usd","is_error":true,"session_id":"s","total_cost_usd":2}'
exit 1`;

test('an attempt that has spent all of the money ends, its work is kept, and nothing starts', async () => {
  await using repo = await tempRepo();
  const env = withClaude(repo, SPENDER);
  const task = { agent: 'claude', prompt: 'x', estimate_usd: 1.5 };
  const plan = { tasks: { a: task, b: task }, more: { limits: { workers: 2, budget_usd: 2 } } };
  const run = await runPlan(repo, plan, { env });
  expect(run.code).toBe(1);
  expect(run.of('attempt.started').map(({ task, budgetUsd }) => [task, budgetUsd])).toEqual([
    ['a', 2],
  ]);
  expect([run.failure('a')?.kind, run.failure('b')?.kind]).toEqual(['budget', 'budget']);
  const kept = join(repo.outside, 'repo.worktrees', run.run, 'a', 'half.txt');
  expect(readFileSync(kept, 'utf8')).toContain('--max-budget-usd 2');
});

/** The same, but it can work with what is left of ten dollars. */
const RICHER = `case "$*" in *"--max-budget-usd 8"*) ;; *) ${SPENDER.replaceAll('\n', '; ')};; esac
echo 1 > a.txt
echo '{"type":"system","subtype":"init","session_id":"s","cwd":"/"}'
echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"Done."}'`;

test('with a higher budget it goes on, and the summary says how', async () => {
  await using repo = await tempRepo();
  const env = withClaude(repo, RICHER);
  const task = { agent: 'claude', prompt: 'x', retries: 0 };
  const plan = { tasks: { a: task }, more: { limits: { workers: 1, budget_usd: 2 } } };
  const run = await runPlan(repo, plan, { env });
  expect([run.code, run.failure('a')?.kind]).toEqual([1, 'budget']);
  expect(run.stderr).toContain('--budget USD');
  const resumed = await landfast(['resume', run.run, '--budget', '10'], { cwd: repo.dir, env });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await repo.git('show', 'main:a.txt')).toBe('1');
});

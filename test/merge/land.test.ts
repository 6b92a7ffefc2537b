/** Landing in unusual cases: red and slow gates at once, work git cannot merge, nothing new. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

test('a gate that hangs is ended with all that it started, and rejects the work', () =>
  withLimit(3_000, async (limitMs) => {
    await using repo = await tempRepo();
    const hangs = 'test ! -e bad || { setsid sleep 600 & wait; }';
    const run = await runPlan(repo, {
      more: { limits: { workers: 2, gates: 2 } },
      land: { on_gate_failure: 'fail' },
      gates: [{ name: 'slow', run: hangs, timeout: `${limitMs / 1_000}s` }],
      tasks: { bad: 'echo 1 > bad', good: 'echo 1 > good' },
    });
    expect(run).toMatchObject({ code: 1 });
    if (run.of('merge.landed').length === 0) return TOO_SHORT;
    expect(run.failure('bad')).toMatchObject({ kind: 'gate-failed', gate: 'slow' });
    expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['good']);
    expect(run.stderr).not.toMatch(/^ +at /m);
    expect(marked(`${run.run}/`)).toEqual([]);
    expect(readdirSync(join(repo.outside, 'repo.worktrees', run.run))).toEqual(['bad']);
    return null;
  }));

test('work that git cannot merge fails alone, and a resume says the same', async () => {
  await using repo = await tempRepo();
  const orphan = [
    'git checkout -q --orphan "z$LANDFAST_ATTEMPT"',
    'git rm -rqf .',
    'echo x > f',
    'git add f',
    'git commit -qm o',
  ].join('; ');
  const run = await runPlan(repo, {
    tasks: { orphan, good: 'sleep 0.3; echo 1 > good', other: 'echo 1 > other' },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('orphan')?.message).toContain('no history in common');
  expect(
    run
      .of('merge.landed')
      .map(({ task }) => task)
      .sort(),
  ).toEqual(['good', 'other']);
  expect(await repo.git('ls-files')).toBe('README.md\ngood\nother');
  expect(await repo.git('show', 'z1:f')).toBe('x');
  const resumed = await landfast(['resume'], { cwd: repo.dir });
  expect(resumed).toMatchObject({ code: 1 });
  expect(`${resumed.stdout}${resumed.stderr}`).not.toMatch(/^ +at /m);
  expect(await repo.git('ls-files')).toBe('README.md\ngood\nother');
});

/** Writes the file only when both tasks have begun, so that both start from the same head. */
const together = (name: string, other: string): string =>
  `touch ../../../${name}; while test ! -e ../../../${other}; do sleep 0.05; done; echo x > f`;

test.each(['squash', 'merge'])(
  '%s: a change that is there already has landed',
  async (strategy) => {
    await using repo = await tempRepo();
    const run = await runPlan(repo, {
      land: { strategy },
      tasks: { one: together('one', 'two'), two: together('two', 'one') },
    });
    expect(run).toMatchObject({ code: 0 });
    expect(
      run
        .of('merge.landed')
        .map(({ task }) => task)
        .sort(),
    ).toEqual(['one', 'two']);
    expect(readFileSync(join(repo.dir, 'f'), 'utf8')).toBe('x\n');
    const landings = (await repo.git('log', '--first-parent', '--format=%s')).split('\n');
    expect(landings).toHaveLength(strategy === 'squash' ? 2 : 3);
    expect(await repo.git('branch', '--format=%(refname:short)')).toBe('main');
    expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
  },
);

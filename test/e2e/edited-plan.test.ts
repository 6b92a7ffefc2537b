/** A run that continues with an edited plan: what changes is shown first, recorded, and what lands. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { type Ended, landfast, start } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { nativePlan, type PlanParts } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

function edit(repo: TempRepo, plan: PlanParts): string {
  writeFileSync(join(repo.outside, 'edited.yaml'), nativePlan(plan));
  return '../edited.yaml';
}

function factsOf({ stdout }: Ended): readonly Event[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { event: Event }).event);
}

const startsIn = (ended: Ended): readonly string[] =>
  factsOf(ended).flatMap((fact) =>
    fact.type === 'attempt.started' ? `${fact.task} ${fact.start.kind}` : [],
  );

const good = 'echo 1 > good.txt';

test('a wrong task is mended, one is added and one removed; what has landed stays', async () => {
  await using repo = await tempRepo();
  const first = await runPlan(repo, {
    tasks: { good, wrong: 'exit 3', gone: 'echo 1 > gone.txt; exit 1' },
  });
  expect(first.code).toBe(1);
  const path = edit(repo, {
    tasks: { good: 'echo 2 > good.txt', wrong: 'echo 1 > right.txt', more: 'echo 1 > more.txt' },
  });
  const shown = await landfast(['resume', '--plan', path, '--dry-run'], { cwd: repo.dir });
  expect(shown).toMatchObject({ code: 0, stdout: '' });
  const difference = [
    `landfast: the plan of run ${first.run} changes:`,
    '  + more',
    '  ~ wrong: prompt; it starts over, and its work so far is kept',
    '  - gone; its work so far is kept',
    '',
  ].join('\n');
  expect(shown.stderr).toBe(difference);
  const resumed = await landfast(['resume', '--plan', path, '--events'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain(difference);
  expect(startsIn(resumed).toSorted()).toEqual(['more fresh', 'wrong fresh']);
  expect(factsOf(resumed).find(({ type }) => type === 'run.replanned')).toMatchObject({
    difference: {
      added: ['more'],
      changed: [{ task: 'wrong', keys: ['prompt'], fresh: true }],
      removed: ['gone'],
      sections: [],
    },
  });
  const files = await repo.git('ls-tree', '--name-only', 'main');
  expect(files.split('\n')).toEqual(['README.md', 'good.txt', 'more.txt', 'right.txt']);
  expect(await repo.git('show', 'main:good.txt')).toBe('1');
  const { tasks } = JSON.parse((await landfast(['status', '--json'], { cwd: repo.dir })).stdout);
  expect(tasks.map(({ id, state }: { id: string; state: string }) => `${id} ${state}`)).toEqual([
    'good landed',
    'wrong landed',
    'more landed',
    'gone skipped',
  ]);
});

test('a wider scope lets an agent continue its work', async () => {
  await using repo = await tempRepo();
  const task = (writes: readonly string[]) => ({
    agent: 'command',
    command: ['sh', '-c', 'cat > /dev/null; test -e a.txt || echo 1 > a.txt; echo 1 >> b.txt'],
    prompt: 'Write them.',
    writes,
  });
  const first = await runPlan(repo, { tasks: { one: task(['a.txt']) } });
  expect(first.failure('one')).toMatchObject({ kind: 'out-of-scope' });
  const path = edit(repo, { tasks: { one: task(['a.txt', 'b.txt']) } });
  const resumed = await landfast(['resume', '--plan', path, '--events'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain('~ one: writes; it continues its work');
});

test('an edited gate is the one that decides, also about work that was waiting', async () => {
  await using repo = await tempRepo();
  const gate = (run: string) => [{ name: 'tests', run }];
  const land = { on_gate_failure: 'fail' };
  const typo = await runPlan(repo, { gates: gate('test ! -e good.txt'), land, tasks: { good } });
  expect(typo.code).toBe(1);
  const path = edit(repo, { gates: gate('test -e README.md'), land, tasks: { good } });
  const resumed = await landfast(['resume', '--plan', path, '--events'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(resumed.stderr).toContain('  ~ plan: gates\n');
});

test('a run that has succeeded continues with the new tasks', async () => {
  await using repo = await tempRepo();
  expect((await runPlan(repo, { tasks: { good } })).code).toBe(0);
  const same = await landfast(['resume', '--plan', '../plan.yaml'], { cwd: repo.dir });
  expect(same.code).toBe(0);
  expect(same.stderr).toContain('has not changed.');
  const path = edit(repo, {
    tasks: { good, more: { prompt: 'cat good.txt > more', needs: ['good'] } },
  });
  const resumed = await landfast(['resume', '--plan', path, '--events'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await repo.git('show', 'main:more')).toBe('1');
});

test('killed at any moment, the run continues with the recorded plan', async () => {
  await using repo = await tempRepo();
  const first = await runPlan(repo, { tasks: { good, wrong: 'exit 3' } });
  const path = edit(repo, { tasks: { good, wrong: waiting('right') } });
  const engine = start(['resume', '--plan', path, '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started', 'wrong');
  engine.child.kill('SIGKILL');
  await engine.ended;
  writeFileSync(join(repo.outside, 'go'), '');
  const resumed = await landfast(['resume', first.run], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await repo.git('show', 'main:right.txt')).toBe('right');
  expect(existsSync(join(repo.outside, 'repo.worktrees'))).toBe(false);
});

test('an impossible change is refused with a reason, and nothing is recorded', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { good, slow: waiting('slow') });
  await engine.untilFact('merge.landed', 'good');
  const live = await cli('resume', run, '--plan', '../plan.yaml');
  expect(live).toMatchObject({ code: 2 });
  expect(live.stderr).toContain('is live and keeps its plan.');
  engine.child.kill('SIGTERM');
  await engine.ended;
  const path = edit(repo, { land: { strategy: 'squash' }, tasks: { good } });
  const refused = await cli('resume', '--plan', path, '--events');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(
    'Work has already landed: `land.strategy` can no longer change.',
  );
  const wrong = edit(repo, { tasks: { good: { prompt: 'x', needs: ['nobody'] } } });
  expect((await cli('resume', '--plan', wrong)).code).toBe(2);
  expect((await cli('resume', '--dry-run')).stderr).toContain('--dry-run needs --plan FILE.');
});

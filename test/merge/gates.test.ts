/** What a gate may say of itself: paths, env, retries, quarantine; and what is remembered of it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

type Run = Awaited<ReturnType<typeof runPlan>>;

const gates = (run: Run) =>
  run.of('gate.finished').map(({ task, gate, ok, spared }) => {
    return `${task} ${gate} ${spared ?? (ok ? 'green' : 'red')}`;
  });

/** A command that leaves a line each time it is run. */
const counted = (repo: TempRepo, what: string) => `echo x >> ${join(repo.outside, what)}`;

const times = (repo: TempRepo, what: string): number =>
  readFileSync(join(repo.outside, what), 'utf8').split('\n').length - 1;

test('a gate with paths runs only for work that touches them', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    gates: [
      { name: 'web', run: 'test -e web', paths: ['web/**'] },
      { name: 'all', run: 'true' },
    ],
    tasks: {
      page: 'mkdir web; echo 1 > web/page',
      docs: { needs: ['page'], prompt: 'echo 1 > docs.md' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(gates(run).sort()).toEqual([
    'docs all green',
    'docs web paths',
    'page all green',
    'page web green',
  ]);
});

test('a tree that was green is not verified again, in the next run either', async () => {
  await using repo = await tempRepo();
  const plan = {
    land: { publish: 'off' },
    gates: [{ name: 'tests', run: counted(repo, 'runs') }],
    tasks: { same: 'echo 1 > same.txt' },
  };
  const first = await runPlan(repo, plan);
  expect(gates(first)).toEqual(['same tests green']);
  const second = await runPlan(repo, plan);
  expect(gates(second)).toEqual(['same tests memory']);
  expect(second.of('gate.finished')).toMatchObject([{ by: first.run, ms: 0 }]);
  expect(times(repo, 'runs')).toBe(1);
  const other = { ...plan, gates: [{ name: 'tests', run: `${counted(repo, 'runs')}; true` }] };
  expect(gates(await runPlan(repo, other))).toEqual(['same tests green']);
  const tokyo = { env: { TZ: 'Asia/Tokyo' } };
  expect(gates(await runPlan(repo, plan, tokyo))).toEqual(['same tests green']);
  const newer = { ...plan, land: { ...plan.land, fingerprint: ['echo version 2'] } };
  expect(gates(await runPlan(repo, newer as typeof plan))).toEqual(['same tests green']);
});

test('red is never remembered', async () => {
  await using repo = await tempRepo();
  const plan = {
    land: { on_gate_failure: 'fail', publish: 'off' },
    gates: [{ name: 'tests', run: `${counted(repo, 'runs')}; test -e ${repo.outside}/sunny` }],
    tasks: { one: 'echo 1 > one.txt' },
  };
  expect(await runPlan(repo, plan)).toMatchObject({ code: 1 });
  await repo.write({ '../sunny': '' });
  expect(gates(await runPlan(repo, plan))).toEqual(['one tests green']);
});

test('a gate is repeated as often as it says, and has variables of its own', async () => {
  await using repo = await tempRepo();
  const once = join(repo.outside, 'once');
  const run = await runPlan(repo, {
    gates: [{ name: 'shaky', run: '! mkdir "$ONCE"', retries: 1, env: { ONCE: once } }],
    tasks: { one: 'echo 1 > one.txt' },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(gates(run)).toEqual(['one shaky red', 'one shaky green']);
  expect(run.of('candidate.verified')).toHaveLength(1);
});

test('a gate in quarantine is run and reported, but red does not count', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    gates: [{ name: 'flaky', run: 'exit 1', quarantine: true }],
    tasks: { one: 'echo 1 > one.txt' },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('gate.finished')).toMatchObject([{ ok: false, quarantined: true }]);
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['one']);
});

const ran = (run: Run) => run.of('gate.finished').filter(({ spared }) => spared === undefined);

/** What is expected of gates that were green, cheapest first: a busy machine may delay any of them. */
const byCost = (finished: ReturnType<typeof ran>): readonly string[] =>
  finished
    .filter(({ ok }) => ok)
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ gate }) => `one ${gate} green`);

test('cheap gates come before slow ones, once their costs are known', async () => {
  await using repo = await tempRepo();
  const plan = (file: string) => ({
    gates: [
      { name: 'dear', run: 'sleep 1' },
      { name: 'cheap', run: 'true' },
    ],
    tasks: { one: `echo 1 > ${file}` },
  });
  const first = await runPlan(repo, plan('a'));
  expect(gates(first)).toEqual(['one dear green', 'one cheap green']);
  const second = gates(await runPlan(repo, plan('b')));
  expect(second).toEqual(byCost(ran(first)));
});

test('a gate that was never green is not taken for the cheapest', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    gates: [
      { name: 'cheap', run: 'true' },
      { name: 'dear', run: 'sleep 0.5; ! grep -qs 1 n' },
    ],
    tasks: { one: 'echo $LANDFAST_ATTEMPT > n' },
  });
  expect(run).toMatchObject({ code: 0 });
  const told = gates(run).filter((line) => !line.endsWith('memory'));
  expect(told.slice(0, 2)).toEqual(['one cheap green', 'one dear red']);
  expect(told.slice(-2)).toEqual(byCost(ran(run).slice(0, -2))); // On the base dear is green.
});

test('gates run as they are listed where the plan says so, whatever they cost', async () => {
  await using repo = await tempRepo();
  const plan = (file: string) => ({
    land: { gate_order: 'listed' },
    gates: [
      { name: 'dear', run: 'sleep 1' },
      { name: 'cheap', run: 'true' },
    ],
    tasks: { one: `echo 1 > ${file}` },
  });
  const listed = ['one dear green', 'one cheap green'];
  for (const file of ['a', 'b']) expect(gates(await runPlan(repo, plan(file)))).toEqual(listed);
});

/** The landing queue with real git and real gates: exactly the culprits go, and never a red head. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const COUNT = 16;
const ids = Array.from({ length: COUNT }, (_, at) => `t${String(at).padStart(2, '0')}`);

/** Every task writes a file of its own, when all of them have begun. */
function tasks(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const all = `until test "$(ls ../../../begun | wc -l)" = ${COUNT}; do sleep 0.05; done`;
  const begin = (id: string) => `mkdir -p ../../../begun; touch ../../../begun/${id}; ${all}`;
  return Object.fromEntries(
    ids.map((id) => [id, `${begin(id)}; ${more[id] ?? `echo ${id} > ${id}`}`]),
  );
}

/** Red where one of these files, or one of these pairs, is there. Each run is counted. */
function gate(repo: TempRepo, red: string): Readonly<Record<string, unknown>> {
  const count = `echo "$(git rev-parse HEAD)" >> ${join(repo.outside, 'gate-runs')}`;
  return { name: 'tests', run: `${count}; ! { ${red}; }` };
}

const gateRuns = (repo: TempRepo): readonly string[] =>
  readFileSync(join(repo.outside, 'gate-runs'), 'utf8').trim().split('\n');

const VERIFY = ['each', 'batch'] as const;

async function land(repo: TempRepo, verify: string, red: string, more = {}) {
  const run = await runPlan(repo, {
    workers: COUNT,
    more: { limits: { workers: COUNT, gates: 2 } },
    land: { verify, on_gate_failure: 'fail', on_conflict: 'fail' },
    gates: [gate(repo, red)],
    tasks: tasks(more),
  });
  const landed = run.of('merge.landed').map(({ task }) => task);
  const failed = run.of('task.failed').map(({ task }) => task);
  return { run, landed: landed.sort(), failed: failed.sort() };
}

const without = (...gone: readonly string[]) => ids.filter((id) => !gone.includes(id));

/** Every commit that the run's branch was ever at has been verified as that very tree. */
function expectVerifiedHeads(
  { of }: Awaited<ReturnType<typeof land>>['run'],
  repo: TempRepo,
): void {
  const runs = new Set(gateRuns(repo));
  const heads = of('merge.landing').map(({ commit }) => commit);
  expect(heads.length).toBeGreaterThan(0);
  expect(heads.filter((head) => !runs.has(head))).toEqual([]);
}

describe.each(VERIFY)('verify: %s', (verify) => {
  test('all of sixteen green branches land', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, 'false');
    expect(told).toMatchObject({ run: { code: 0 }, landed: ids, failed: [] });
    expectVerifiedHeads(told.run, repo);
    const [least, most] = verify === 'each' ? [COUNT, COUNT] : [1, COUNT / 2 - 1];
    expect(gateRuns(repo).length).toBeGreaterThanOrEqual(least);
    expect(gateRuns(repo).length).toBeLessThanOrEqual(most);
  });

  test('two culprits are ejected, and everything else lands', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, 'test -e t03 || test -e t11');
    expect(told).toMatchObject({ landed: without('t03', 't11'), failed: ['t03', 't11'] });
    expectVerifiedHeads(told.run, repo);
  });

  test('one of a pair that is red only together is ejected', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, 'test -e t05 && test -e t09');
    expect(told.failed).toHaveLength(1);
    expect(['t05', 't09']).toContain(told.failed[0]);
    expect(told.landed).toEqual(without(told.failed[0]!));
    expectVerifiedHeads(told.run, repo);
  });

  test('a gate that is red once by accident ejects no task', async () => {
    await using repo = await tempRepo();
    const once = join(repo.outside, 'once');
    const told = await land(repo, verify, `test -e t07 && mkdir ${once} 2> /dev/null`);
    expect(told).toMatchObject({ run: { code: 0 }, landed: ids, failed: [] });
  });

  test('a conflict is found, and everything else lands', async () => {
    await using repo = await tempRepo();
    const same = { t02: 'echo 2 > same', t08: 'echo 8 > same' };
    const told = await land(repo, verify, 'false', same);
    expect(told.failed).toHaveLength(1);
    expect(['t02', 't08']).toContain(told.failed[0]);
    expect(told.landed).toEqual(without(told.failed[0]!));
    expectVerifiedHeads(told.run, repo);
  });
});

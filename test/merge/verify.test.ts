/** What a gate sees: the candidate's files, what set-up made, and nothing of an earlier candidate. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('ignored files of an earlier candidate are invisible to a gate', async () => {
  await using repo = await tempRepo({
    files: { '.gitignore': 'out/\n', 'src/needed': '1\n', 'src/other': '1\n' },
  });
  const run = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'build', run: 'mkdir -p out && cp src/* out/ && test -f out/needed' }],
    tasks: {
      change: 'echo 2 > src/other',
      remove: { needs: ['change'], prompt: 'rm src/needed' },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['change']);
  expect(run.failure('remove')).toMatchObject({ kind: 'gate-failed', gate: 'build' });
});

test('the results of set-up stay for the gates, and set-up runs again only for another key', async () => {
  await using repo = await tempRepo({
    files: { '.gitignore': 'deps/\nout/\n', lock: '1\n', a: '1\n' },
  });
  const log = join(repo.outside, 'setups');
  const run = await runPlan(repo, {
    more: {
      limits: { workers: 1, gates: 2 },
      workspace: {
        setup: [`basename "$PWD" >> ${log}; mkdir -p deps; cp lock deps/made-for`],
        setup_key: ['lock'],
      },
    },
    gates: [
      { name: 'deps', run: 'cmp lock deps/made-for' },
      { name: 'fresh', run: 'test ! -e out && mkdir out && touch out/stale' },
    ],
    tasks: {
      one: 'echo 2 > a',
      two: { needs: ['one'], prompt: 'echo 3 > a' },
      other: { needs: ['two'], prompt: 'echo 2 > lock' },
      last: { needs: ['other'], prompt: 'echo 4 > a' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('gate.finished').map(({ ok }) => ok)).toEqual(Array(8).fill(true));
  const setups = readFileSync(log, 'utf8').trim().split('\n');
  const inGates = setups.filter((name) => name.startsWith('gate-'));
  expect(inGates).toEqual(['gate-0', 'gate-0']);
});

test('a gate cannot hand files to the next one, tracked or not', async () => {
  await using repo = await tempRepo({ files: { '.gitignore': 'ignored\n', a: '1\n' } });
  const clean = 'test ! -e ignored && test ! -e loose && test "$(cat a)" = 1';
  const run = await runPlan(repo, {
    more: { limits: { workers: 1, gates: 1 } },
    gates: [
      { name: 'dirty', run: 'echo x > ignored; echo x > loose; echo x > a; git add -A' },
      { name: 'clean', run: clean },
    ],
    tasks: { one: 'echo 1 > one' },
  });
  expect(run).toMatchObject({ code: 0 });
});

test('a copied file does not replace one that the candidate holds', async () => {
  await using repo = await tempRepo();
  await repo.write({ conf: 'untracked\n' });
  const run = await runPlan(repo, {
    land: { publish: 'off', on_gate_failure: 'fail' },
    gates: [{ name: 'conf', run: 'test "$(cat conf)" = task' }],
    tasks: { one: 'echo task > conf; git add -f conf; git commit -qm conf' },
    more: { workspace: { copy: ['conf'] } },
  });
  expect(run).toMatchObject({ code: 0 });
});

/** Independent work passes a slow queue, with real git and real gates. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { type LiveRun, liveRun } from '../support/live-run.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

const factsOf = <T extends Event['type']>({ engine }: LiveRun, type: T): readonly Of<T>[] =>
  engine.entries.flatMap(({ event }) => (event.type === type ? [event as Of<T>] : []));

/** A gate that says when it has begun, and waits until it is told to go on. */
const slowly = ({ outside }: TempRepo): string =>
  `echo x >> ${outside}/slow-runs; while test ! -e ${outside}/go; do sleep 0.05; done`;

/** Work that is finished when the slow gate runs. */
const meanwhile = ({ outside }: TempRepo, script: string): string =>
  `while test ! -e ${outside}/slow-runs; do sleep 0.05; done; ${script}`;

const SLOW = 'mkdir -p src; echo 1 > src/a.ts';

const lines = (repo: TempRepo, file: string): number =>
  readFileSync(join(repo.outside, file), 'utf8').split('\n').length - 1;

/** Every gate is green on the tree of every head, or on the same files of its paths. */
async function expectVerifiedHeads(repo: TempRepo, run: LiveRun, gates: readonly string[]) {
  const heads = factsOf(run, 'merge.landing').map(({ commit }) => commit);
  expect(heads.length).toBeGreaterThan(0);
  for (const head of heads) {
    const tree = (await repo.git('rev-parse', `${head}^{tree}`)).trim();
    const verdicts = factsOf(run, 'gate.finished').filter((fact) => fact.tree === tree);
    const green = verdicts.filter(({ ok }) => ok).map(({ gate }) => gate);
    expect(new Set(green)).toEqual(new Set(gates));
  }
}

describe.each(['each', 'batch'])('verify: %s', (verify) => {
  test('a small independent task passes a chain whose gate takes long, which is not run again', async () => {
    await using repo = await tempRepo();
    const gates = [
      { name: 'tests', run: slowly(repo), paths: ['src/**'] },
      { name: 'prose', run: `echo x >> ${repo.outside}/prose-runs`, paths: ['docs/**'] },
    ];
    const small = meanwhile(repo, 'mkdir docs; echo 1 > docs/a.md');
    const run = await liveRun(
      repo,
      { slow: SLOW, small: { prompt: small, independent: true } },
      { gates, land: { verify }, more: { limits: { workers: 2, gates: 2 } } },
    );
    await run.engine.untilFact('merge.landed', 'small');
    expect(factsOf(run, 'merge.landed').map(({ task }) => task)).toEqual(['small']);
    writeFileSync(join(repo.outside, 'go'), '');
    expect(await run.engine.ended).toMatchObject({ code: 0 });
    expect(factsOf(run, 'merge.landed').map(({ task }) => task)).toEqual(['small', 'slow']);
    expect([lines(repo, 'slow-runs'), lines(repo, 'prose-runs')]).toEqual([1, 1]);
    await expectVerifiedHeads(repo, run, ['tests', 'prose']);
    const { stdout } = await run.cli('queue', '--explain');
    expect(stdout.replaceAll(/after \d.*\./g, 'after a while.')).toContain(
      [
        '  small passes slow: it is independent, and they change other paths.',
        '  small needed no gate tests: none of its paths changed.',
        '  small had gate prose green after a while.',
        '  small was green, on the head.',
      ].join('\n'),
    );
    const passed = 'slow left the queue for now: The work of small has passed it.';
    expect(stdout).toContain(`${passed} Its gates keep running: their results are remembered.`);
    expect(stdout).toContain(
      `slow needed no gate tests: green on the same files in run ${run.run}`,
    );
  });

  test('a task that needs no gate passes although the only slot is taken', async () => {
    await using repo = await tempRepo();
    const run = await liveRun(
      repo,
      {
        slow: SLOW,
        small: { prompt: meanwhile(repo, 'echo 1 > notes.md'), independent: true },
      },
      { gates: [{ name: 'tests', run: slowly(repo), paths: ['src/**'] }], land: { verify } },
    );
    await run.engine.untilFact('merge.landed', 'small');
    writeFileSync(join(repo.outside, 'go'), '');
    expect(await run.engine.ended).toMatchObject({ code: 0 });
    expect(factsOf(run, 'merge.landed').map(({ task }) => task)).toEqual(['small', 'slow']);
    expect(lines(repo, 'slow-runs')).toBe(1);
    await expectVerifiedHeads(repo, run, ['tests']);
  });
});

test('independent work that changes the same path takes its turn, and the queue says why', async () => {
  await using repo = await tempRepo();
  const small = meanwhile(repo, 'mkdir src; echo 2 > src/b.ts; echo 1 > src/c.ts');
  const run = await liveRun(
    repo,
    {
      slow: `${SLOW}; echo 1 > src/b.ts`,
      small: { prompt: small, independent: true },
    },
    {
      gates: [{ name: 'tests', run: slowly(repo), paths: ['src/**'] }],
      land: { on_conflict: 'fail' },
      more: { limits: { workers: 2, gates: 2 } },
    },
  );
  await run.engine.untilFact('merge.withdrawn', 'small');
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await run.engine.ended).toMatchObject({ code: 1 });
  expect(factsOf(run, 'merge.landed').map(({ task }) => task)).toEqual(['slow']);
  const { stdout } = await run.cli('queue', '--explain');
  const why = 'it changes src/b.ts, and so does slow';
  expect(stdout).toContain(`  small is independent, but takes its turn: ${why}.`);
});

test('a passer that is red is ejected, and the chain is not disturbed', async () => {
  await using repo = await tempRepo();
  const gates = [
    { name: 'tests', run: slowly(repo), paths: ['src/**'] },
    { name: 'prose', run: '! grep -qs bad docs/a.md', paths: ['docs/**'] },
  ];
  const small = meanwhile(repo, 'mkdir docs; echo bad > docs/a.md');
  const run = await liveRun(
    repo,
    { slow: SLOW, small: { prompt: small, independent: true } },
    {
      ...{ gates, land: { on_gate_failure: 'fail' } },
      more: { limits: { workers: 2, gates: 2 } },
    },
  );
  await run.engine.untilFact('task.failed', 'small');
  expect(factsOf(run, 'merge.withdrawn')).toEqual([]);
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await run.engine.ended).toMatchObject({ code: 1 });
  expect(factsOf(run, 'merge.landed').map(({ task }) => task)).toEqual(['slow']);
  expect(lines(repo, 'slow-runs')).toBe(1);
});

test('an engine killed while a task passes others can be resumed, and each task lands once', async () => {
  await using repo = await tempRepo();
  const gates = [
    { name: 'tests', run: slowly(repo), paths: ['src/**'] },
    { name: 'prose', run: slowly(repo), paths: ['docs/**'] },
  ];
  const small = meanwhile(repo, 'mkdir docs; echo 1 > docs/a.md');
  const run = await liveRun(
    repo,
    { slow: SLOW, small: { prompt: small, independent: true } },
    { gates, more: { limits: { workers: 2, gates: 2 } } },
  );
  await run.engine.untilFact('candidate.verifying', 'small');
  run.engine.child.kill('SIGKILL');
  await run.engine.ended;
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await run.cli('resume')).toMatchObject({ code: 0 });
  const subjects = await repo.git('log', '--first-parent', '--format=%s');
  expect(subjects.trim().split('\n').slice(0, -1).sort()).toEqual(['Land slow', 'Land small']);
});

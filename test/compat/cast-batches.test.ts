/** Dispatch plans as tasks: every field of the manifest is honoured by a run. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { castProject, dispatch } from './cast-project.ts';
import { until } from './po-project.ts';

const agent = (type: string, more: object = {}) => ({
  subagent_type: type,
  prompt: `Do what ${type} does.`,
  ...more,
});
const DONE = 'echo "Status: DONE"';

// Fix (X7): nothing of this was ever looked at.
test('CP-32: batches run in order, parallel agents at once, and each sees what landed', async () => {
  const plan = dispatch(
    [
      {
        id: 1,
        parallel: true,
        agents: [
          agent('writer', { owns_files: ['one.txt'] }),
          agent('tester', { owns_files: ['two.txt'] }),
        ],
      },
      { id: 2, agents: [agent('reviewer'), { agent: 'commit', prompt: 'Commit.' }] },
      { id: 3, agents: [agent('main')] },
    ],
    { target_branch: 'dev', surprise: true },
  );
  await using project = await castProject(plan, {
    writer: `touch "$OUT/w"; ${until('[ -e "$OUT/t" ]')}; echo 1 > one.txt; ${DONE}`,
    tester: `touch "$OUT/t"; ${until('[ -e "$OUT/w" ]')}; echo 2 > two.txt; ${DONE}`,
    reviewer: `ls > "$OUT/seen"; ${DONE}`,
    commit: DONE,
    main: `echo 3 > three.txt; ${DONE}`,
  });
  await project.repo.git('branch', 'dev');

  const ended = await project.run();

  const calls = await project.calls();
  expect(ended.code).toBe(0);
  expect([...calls.slice(0, 2)].sort()).toEqual(['tester', 'writer']);
  expect(calls.slice(2)).toEqual(['reviewer', 'commit', 'main']);
  expect(await project.read('seen')).toBe('README.md\none.txt\nplan.md\ntwo.txt');
  expect(await project.files('dev')).toEqual([
    'README.md',
    'one.txt',
    'plan.md',
    'three.txt',
    'two.txt',
  ]);
  expect(await project.files('main')).toEqual(['README.md', 'plan.md']);
  expect(ended.stderr).toContain('warning: "surprise" is unknown and ignored');
});

test('CP-32: what a fan-out batch said is in front of the prompts of the next batch only', async () => {
  const plan = dispatch([
    { id: 1, type: 'fan-out', agents: [agent('alpha'), agent('beta')] },
    { id: 2, agents: [agent('gamma')] },
    { id: 3, agents: [agent('delta')] },
  ]);
  const hears = (name: string) => `echo "$PROMPT" > "$OUT/${name}"; ${DONE}`;
  await using project = await castProject(plan, {
    alpha: `echo "The moon is made of cheese."; ${DONE}`,
    beta: `echo "The sea is deep."; ${DONE}`,
    gamma: hears('gamma'),
    delta: hears('delta'),
  });

  const ended = await project.run();

  expect(ended.code).toBe(0);
  expect(await project.read('gamma')).toContain('The moon is made of cheese.');
  expect(await project.read('gamma')).toContain('The sea is deep.');
  expect(await project.read('delta')).not.toContain('cheese');
});

test('CP-32: depends_on lets a batch start before the one in front of it is done', async () => {
  const plan = dispatch([
    { id: 1, agents: [agent('slow')] },
    { id: 2, depends_on: [], agents: [agent('quick')] },
  ]);
  await using project = await castProject(plan, {
    slow: `${until('[ -e "$OUT/quick-is-here" ]')}; ${DONE}`,
    quick: `touch "$OUT/quick-is-here"; ${DONE}`,
  });

  expect((await project.run()).code).toBe(0);
});

test('CP-32: agents at once that own the same file are refused before any starts', async () => {
  const owns_files = ['src/a.ts'];
  const agents = [agent('one', { owns_files }), agent('two', { owns_files })];
  await using project = await castProject(dispatch([{ id: 1, parallel: true, agents }]));

  const ended = await project.run();

  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain('b1-one and b1-two own "src/a.ts" at the same time');
  expect(await project.calls()).toEqual([]);
});

test('CP-32: a missing or empty file of verify_files stops the batches after it', async () => {
  const plan = dispatch([
    { id: 1, verify_files: ['~/repo/one.txt', 'empty.txt'], agents: [agent('writer')] },
    { id: 2, agents: [agent('reviewer')] },
  ]);
  const writer = `echo 1 > one.txt; : > empty.txt; ${DONE}`;
  await using project = await castProject(plan, { writer, reviewer: DONE });

  const ended = await project.run('--report', join(project.repo.outside, 'r.json'));

  const report = JSON.parse(await project.read('r.json')) as {
    tasks: { id: string; status: string; failure: { message: string } | null }[];
  };
  expect(ended.code).toBe(1);
  expect(await project.calls()).toEqual(['writer']);
  const verify = report.tasks.find(({ id }) => id === 'b1-verify-files');
  expect(verify?.failure?.message).toContain('missing or empty: empty.txt');
  expect(verify?.failure?.message).not.toContain('one.txt');
});

test('CP-32: an agent that says it is blocked has failed, and no batch follows it', async () => {
  const plan = dispatch([
    { id: 1, agents: [agent('writer')] },
    { id: 2, agents: [agent('reviewer')] },
  ]);
  const writer = 'echo 1 > one.txt; echo "Status: BLOCKED"; echo "Blocker: no schema"';
  await using project = await castProject(plan, { writer, reviewer: DONE });

  const ended = await project.run();

  expect(ended.code).toBe(1);
  expect(ended.stdout).toContain('no schema');
  expect(await project.calls()).toEqual(['writer']);
  expect(await project.files()).toEqual(['README.md', 'plan.md']);
});

import { expect, test } from 'vitest';
import { planOf } from '../../test/support/journal-builder.ts';
import { gateOf, type Landing, landPlan } from './land-plan.ts';

const LANDING: Landing = {
  branches: [
    { name: 'feature/login', work: 'a'.repeat(40), subjects: ['Add login', 'Test it'] },
    { name: 'origin/feature/login', work: 'b'.repeat(40), subjects: [] },
    { name: 'Feature_Login', work: 'c'.repeat(40), subjects: [] },
  ],
  target: 'main',
  gates: [],
  agent: null,
  like: null,
  config: {},
  home: '/home/ada',
};

test('each branch is a task whose work is there, under an id of its own', () => {
  const { tasks, conventions } = landPlan(LANDING);
  const shown = tasks.map(({ id, title, work, agent }) => ({ id, title, work, agent }));
  expect(shown).toEqual([
    { id: 'feature-login', title: 'feature/login', work: 'a'.repeat(40), agent: 'shell' },
    {
      ...{ id: 'origin-feature-login', title: 'origin/feature/login' },
      ...{ work: 'b'.repeat(40), agent: 'shell' },
    },
    { id: 'feature-login-2', title: 'Feature_Login', work: 'c'.repeat(40), agent: 'shell' },
  ]);
  expect(conventions.mergeMessage).toBe('Land {title}');
});

test('no agent mends a branch unless asked for, and a red one never goes to an agent', () => {
  const alone = landPlan(LANDING).landing;
  expect(alone).toMatchObject({ onConflict: 'fail', onGateFailure: 'fail', reworks: 0 });
  const { landing, tasks } = landPlan({ ...LANDING, agent: 'codex' });
  expect(landing).toMatchObject({ onConflict: 'agent', onGateFailure: 'fail', reworks: 2 });
  expect(tasks[0]?.agent).toBe('codex');
  expect(tasks[0]?.prompt).toMatchInlineSnapshot(`
    "The branch \`feature/login\` holds finished work that is to land on \`main\`:

    - Add login
    - Test it

    Bring it there: keep what both sides intend, and change nothing else."
  `);
});

test('what is configured says how work lands; flags say it louder', () => {
  const config = {
    gates: [
      { name: 'types', run: 'tsc' },
      { name: 'tests', run: 'npm test' },
    ],
    land: { strategy: 'none', verify: 'batch', publish: 'off' },
    limits: { gates: 3 },
  } as const;
  const tests = { name: 'tests', run: 'make test', timeoutMs: 1 };
  const plan = landPlan({
    ...LANDING,
    config: { ...config, gates: [...config.gates] },
    gates: [tests],
  });
  expect(plan.gates).toEqual([{ name: 'types', run: 'tsc', timeoutMs: 600_000 }, tests]);
  expect(plan.landing).toMatchObject({ strategy: 'merge', verify: 'batch', publish: 'end' });
  expect(plan.limits.gates).toBe(3);
  const loud = landPlan({ ...LANDING, verify: 'each', strategy: 'rebase' }).landing;
  expect(loud).toMatchObject({ verify: 'each', strategy: 'rebase' });
});

test('a plan lends its gates and its way of landing, but neither its tasks nor its base', () => {
  const like = planOf([{ id: 'other' }], { base: 'develop', target: 'develop' });
  const plan = landPlan({ ...LANDING, like });
  expect(plan.gates).toEqual(like.gates);
  expect(plan.tasks.map(({ id }) => id)).not.toContain('other');
  expect({ base: plan.base, target: plan.target }).toEqual({ base: undefined, target: 'main' });
});

test('a gate of the command line has a name and a command', () => {
  expect(gateOf('tests=npm test -- --run=all')).toEqual({
    ...{ name: 'tests', run: 'npm test -- --run=all', timeoutMs: 600_000 },
  });
  expect(['npm test', 'tests=', '=npm test', ''].map(gateOf)).toEqual([null, null, null, null]);
});

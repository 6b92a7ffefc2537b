/** What becomes of a run whose plan is edited. */

import { expect, test } from 'vitest';
import { JournalBuilder, planOf, type TaskInput } from '../../test/support/journal-builder.ts';
import type { Plan } from '../model/plan.ts';
import { replan, replanning, retriedByPlan } from './replan.ts';

const TASKS: readonly TaskInput[] = [
  { id: 'a' },
  { id: 'b', needs: ['a'] },
  { id: 'c', needs: ['b'] },
  { id: 'd' },
];
const RED = { kind: 'permanent', message: 'No.' } as const;

/** `a` has landed, `b` failed and with it `c`, `d` was never tried. */
const run = () =>
  new JournalBuilder(TASKS)
    .start('a')
    .finish('a')
    .land('a')
    .start('b')
    .fail('b', RED)
    .giveUp('b', RED)
    .skip('c', 'b');

function planned(tasks: readonly TaskInput[], more: Partial<Plan> = {}) {
  const state = run().state();
  const answer = replan(state, { ...state.plan, ...more, tasks: planOf(tasks).tasks });
  if (answer.kind === 'refused') throw new Error(answer.why);
  return { state, ...answer };
}

test('the same plan makes no difference', () => {
  const nothing = { added: [], changed: [], removed: [], sections: [] };
  expect(planned(TASKS).difference).toEqual(nothing);
});

test('what has landed stays as it was, whatever the plan says of it, and takes no part in a cycle', () => {
  const { plan, difference } = planned([
    { id: 'a', prompt: 'Else.', needs: ['b'] },
    { id: 'b' },
    ...TASKS.slice(2),
  ]);
  expect(difference.changed).toEqual([{ task: 'b', keys: ['needs'], fresh: false }]);
  expect(plan.tasks[0]).toMatchObject({ prompt: planOf(TASKS).tasks[0]?.prompt, needs: ['b'] });
  expect(planned(TASKS.slice(1).map((task) => ({ ...task, needs: [] }))).plan.tasks).toContainEqual(
    planOf([{ id: 'a' }]).tasks[0],
  );
});

test('a task with another prompt starts over, one with other bounds continues; failed ones as well', () => {
  const edited = (b: TaskInput) => {
    const { state, difference } = planned([TASKS[0]!, b, ...TASKS.slice(2)]);
    return retriedByPlan(state, difference);
  };
  expect(edited({ id: 'b', needs: ['a'], prompt: 'Else.' })).toMatchObject([
    { task: 'b', fresh: true },
    { task: 'c', fresh: false },
  ]);
  expect(edited({ id: 'b', needs: ['a'], retries: 9 })).toMatchObject([
    { task: 'b', keys: ['retries'], fresh: false },
    { task: 'c', fresh: false },
  ]);
});

test('of removed tasks those that were tried stay, given up; one that comes back begins again', () => {
  const { state, plan, difference } = planned([{ id: 'a' }]);
  expect(difference.removed).toEqual(['b', 'c', 'd']);
  expect(plan.tasks.map(({ id, needs }) => [id, needs])).toEqual([
    ['a', []],
    ['b', []],
  ]);
  const journal = run();
  for (const event of replanning(state, { kind: 'planned', plan, difference }, 'h')) {
    journal.add(event);
  }
  const after = journal.state();
  expect(after.tasks.get('b')).toMatchObject({ removed: true, skipped: { satisfied: true } });
  expect([...after.tasks.keys()]).toEqual(['a', 'b']);
  const back = replan(after, { ...plan, tasks: planOf(TASKS.slice(0, 2)).tasks });
  expect(back).toMatchObject({ difference: { added: [], removed: [], changed: [{ task: 'b' }] } });
});

test('finished work that was only interrupted on its way to land does not begin again', () => {
  const journal = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').merge('a');
  const interrupted = { kind: 'interrupted', message: 'It was interrupted.' } as const;
  journal.add({ type: 'merge.rejected', task: 'a', onto: 'head', failure: interrupted });
  const state = journal.state();
  const answer = replan(state, { ...state.plan, tasks: planOf([{ id: 'a', retries: 9 }]).tasks });
  if (answer.kind === 'refused') throw new Error(answer.why);
  expect(answer.difference.changed).toMatchObject([{ task: 'a', keys: ['retries'] }]);
  expect(retriedByPlan(state, answer.difference)).toEqual([]);
});

test('what was foreseen about a task that is gone is forgotten', () => {
  const names = [{ name: 'foo', file: 'lib.ts', change: 'removed', usedBy: ['app.ts'] } as const];
  const journal = run().add({ type: 'radar.semantic', a: 'a', b: 'd', names });
  const state = journal.state();
  const answer = replan(state, { ...state.plan, tasks: planOf([{ id: 'a' }]).tasks });
  if (answer.kind === 'refused') throw new Error(answer.why);
  for (const event of replanning(state, answer, 'h')) journal.add(event);
  expect([state.findings.length, journal.state().findings]).toEqual([1, []]);
});

test('candidates that were verified by other gates queue again, but those that land already do not', () => {
  const gates = [{ name: 'tests', run: 'npm test', timeoutMs: 1 }];
  const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }], { gates });
  for (const id of ['a', 'b']) journal.start(id).finish(id);
  journal.merge('a').add({ type: 'candidate.built', task: 'a', commit: 'c1', tree: 't1' });
  journal.add({ type: 'merge.landing', task: 'a', commit: 'c1' }).merge('b');
  const state = journal.state();
  const answer = replan(state, { ...state.plan, gates: [] });
  if (answer.kind === 'refused') throw new Error(answer.why);
  expect(
    replanning(state, answer, 'h').map((event) => ('task' in event ? event.task : null)),
  ).toEqual(['b', null]);
});

test.each<[string, Partial<Plan> | readonly TaskInput[], string]>([
  [
    'the folder of workspaces',
    { workspace: { ...planOf([]).workspace, dir: 'x' } },
    'workspace.dir',
  ],
  ['how work lands', { landing: { ...planOf([]).landing, strategy: 'squash' } }, 'land.strategy'],
  ['the branch of a task that was tried', [{ id: 'b', branch: 'x' }], 'Task b has been attempted'],
])('%s can no longer change', (_, edit, why) => {
  const state = run().state();
  const next = Array.isArray(edit)
    ? { ...state.plan, tasks: planOf(edit as readonly TaskInput[]).tasks }
    : { ...state.plan, ...(edit as Partial<Plan>) };
  const answer = replan(state, next);
  expect(answer).toMatchObject({ kind: 'refused', why: expect.stringContaining(why) });
});

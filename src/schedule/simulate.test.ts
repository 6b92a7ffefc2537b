import { describe, expect, test } from 'vitest';
import { planOf, type TaskInput } from '../../test/support/journal-builder.ts';
import type { LandingSpec, LimitsSpec } from '../model/plan.ts';
import { simulate } from './simulate.ts';

const agents = () => ({ resume: true, prose: true });
const MINUTE = 60_000;

interface Given {
  readonly limits?: Partial<LimitsSpec>;
  readonly landing?: Partial<LandingSpec>;
  readonly gates?: number;
}

/** When each task starts and is done, and when the run is, in minutes; a task takes its length. */
function minutes(
  tasks: readonly (TaskInput & { readonly takes: number })[],
  { limits = {}, landing = {}, gates = 0 }: Given = {},
) {
  const { limits: usual, landing: lands } = planOf([]);
  const plan = planOf(
    tasks.map(({ takes: _, ...task }) => task),
    { limits: { ...usual, ...limits }, landing: { ...lands, ...landing } },
  );
  const takes = new Map(tasks.map((task) => [task.id, task.takes * MINUTE]));
  const durations = { task: (id: string) => takes.get(id)!, gates: gates * MINUTE };
  const { endMs, tasks: spans } = simulate(plan, durations, agents);
  const each = [...spans].map(([id, { startMs, endMs: end }]) => [
    id,
    [startMs / MINUTE, end / MINUTE],
  ]);
  return { end: endMs / MINUTE, ...Object.fromEntries(each) };
}

describe('when a plan would be done', () => {
  const FOUR = ['a', 'b', 'c', 'd'].map((id) => ({ id, takes: 10 }));

  test.each([
    [1, 40],
    [2, 20],
    [4, 10],
    [9, 10],
  ])('%i workers do four tasks of ten minutes in %i', (workers, end) => {
    expect(minutes(FOUR, { limits: { workers } }).end).toBe(end);
  });

  test('a task starts once what it needs has landed', () => {
    const tasks = [
      { id: 'a', takes: 5 },
      { id: 'b', takes: 7, needs: ['a'] },
      { id: 'c', takes: 1 },
    ];
    expect(minutes(tasks)).toEqual({ end: 12, a: [0, 5], b: [5, 12], c: [0, 1] });
  });

  test('a group runs no more at once than its limit', () => {
    const tasks = FOUR.map((task) => ({ ...task, group: 'database' }));
    expect(minutes(tasks, { limits: { groups: { database: 1 } } }).end).toBe(40);
  });

  test('tasks whose writes overlap run one after the other', () => {
    const apart = [
      { id: 'a', takes: 3, writes: ['src/a/**'] },
      { id: 'b', takes: 4, writes: ['src/b/**'] },
    ];
    expect(minutes(apart).end).toBe(4);
    const same = apart.map((task) => ({ ...task, writes: ['src/a/**'] }));
    expect(minutes(same)).toEqual({ end: 7, a: [0, 3], b: [3, 7] });
  });

  test('gates take their time, as many candidates at once as the limit says', () => {
    const tasks = FOUR.slice(0, 2);
    const [one, two] = [{ limits: { gates: 1 } }, { limits: { gates: 2 } }];
    expect(minutes(tasks, { gates: 2, ...one })).toEqual({ end: 14, a: [0, 12], b: [0, 14] });
    expect(minutes(tasks, { gates: 2, ...two })).toEqual({ end: 12, a: [0, 12], b: [0, 12] });
    expect(minutes(tasks, { gates: 2, ...one, landing: { verify: 'off' } }).end).toBe(10);
  });

  test('the work of read tasks, and of a plan that lands nothing, passes no gate', () => {
    const read = [
      { id: 'a', takes: 3, mode: 'read' as const },
      { id: 'b', takes: 1, needs: ['a'] },
    ];
    expect(minutes(read, { gates: 5 })).toEqual({ end: 9, a: [0, 3], b: [3, 9] });
    const none = { gates: 5, landing: { strategy: 'none' as const } };
    expect(minutes(FOUR, none).end).toBe(10);
  });

  test('a publication that a person approves takes no time', () => {
    expect(minutes(FOUR, { landing: { publish: 'ask' } }).end).toBe(10);
  });
});

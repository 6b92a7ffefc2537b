/** The graph of needs, on small graphs by example and on large ones for their cost. */

import { describe, expect, test } from 'vitest';
import {
  ancestors,
  criticalPath,
  findCycle,
  type GraphTask,
  pathLengths,
  stages,
} from './graph.ts';

/** `graph('a', 'b:a', 'c:a,b')`: an id, and after the colon what it needs. */
function graph(...tasks: string[]): GraphTask[] {
  return tasks.map((task) => {
    const [id = '', needs = ''] = task.split(':');
    return { id, needs: needs === '' ? [] : needs.split(',') };
  });
}

const DIAMOND = graph('d:b,c', 'b:a', 'c:a', 'a', 'alone');

describe('findCycle', () => {
  test.each([
    [graph('a', 'b:a', 'c:a,b'), null],
    [graph('a:a'), ['a', 'a']],
    [graph('a:b', 'b:a'), ['a', 'b', 'a']],
    [graph('a:c', 'b:a', 'c:b'), ['a', 'c', 'b', 'a']],
    [graph('x:a', 'a:b', 'b:a'), ['a', 'b', 'a']],
    [graph('a:nobody'), null],
    [[], null],
  ])('%#', (tasks, expected) => {
    expect(findCycle(tasks)).toEqual(expected);
  });
});

test('a stage is the longest depth, counted from one', () => {
  expect([...stages(DIAMOND)].sort()).toEqual([
    ['a', 1],
    ['alone', 1],
    ['b', 2],
    ['c', 2],
    ['d', 3],
  ]);
});

test('ancestors are transitive and tell who is ordered', () => {
  const order = ancestors(DIAMOND);

  expect(order.of('d')).toEqual(['b', 'c', 'a']);
  expect(order.of('alone')).toEqual([]);
  const pairs = [
    ['d', 'a'],
    ['a', 'd'],
    ['b', 'c'],
    ['d', 'alone'],
    ['a', 'a'],
    ['a', 'who'],
  ];
  expect(pairs.map(([a, b]) => order.isOrdered(a!, b!))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('path lengths and the critical path follow the durations', () => {
  const durations: Record<string, number> = { a: 1, b: 2, c: 5, d: 1, alone: 6 };

  expect(Object.fromEntries(pathLengths(DIAMOND, (id) => durations[id]!))).toEqual({
    a: 7,
    b: 3,
    c: 6,
    d: 1,
    alone: 6,
  });
  expect(criticalPath(DIAMOND, (id) => durations[id]!)).toEqual(['a', 'c', 'd']);
  expect(criticalPath(DIAMOND, () => 1)).toEqual(['a', 'b', 'd']);
  expect(criticalPath([], () => 1)).toEqual([]);
});

test('needs outside the list are ignored', () => {
  const tasks = graph('a:gone', 'b:a');

  expect(Object.fromEntries(stages(tasks))).toEqual({ a: 1, b: 2 });
  expect(ancestors(tasks).of('b')).toEqual(['a']);
  expect(criticalPath(tasks, () => 1)).toEqual(['a', 'b']);
});

test('a cycle handed to the others is a bug and says so', () => {
  expect(() => stages(graph('a:b', 'b:a'))).toThrow('circle');
});

test('long chains and dense graphs are answered without recursion and at once', () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => ({
    id: `t${i}`,
    needs: i === 0 ? [] : [`t${i - 1}`],
  }));
  const dense = Array.from({ length: 1_000 }, (_, i) => ({
    id: `t${i}`,
    needs: Array.from({ length: i }, (_, j) => `t${j}`),
  }));

  expect(findCycle(chain)).toBeNull();
  expect(findCycle([...chain, { id: 'x', needs: ['t9999', 'x'] }])).toEqual(['x', 'x']);
  expect(stages(chain).get('t9999')).toBe(10_000);
  expect(criticalPath(chain, () => 1)).toHaveLength(10_000);
  expect(findCycle(dense)).toBeNull();
  expect(ancestors(dense).of('t999')).toHaveLength(999);
  expect(pathLengths(dense, () => 1).get('t0')).toBe(1_000);
});

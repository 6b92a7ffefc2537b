import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { decide, waitsOf } from './decide.ts';

const agents = () => ({ resume: true, prose: true });
const NOW = START + 1_000_000;

function run(budgetUsd: number, estimates: Readonly<Record<string, number | null>>) {
  const tasks = Object.entries(estimates).map(([id, estimateUsd]) =>
    estimateUsd === null ? { id } : { id, estimateUsd },
  );
  return new JournalBuilder(tasks, { limits: { workers: 4, gates: 1, groups: {}, budgetUsd } });
}

/** What each attempt that begins now may spend. */
const promised = (journal: JournalBuilder) =>
  decide(journal.state(), NOW, agents).decisions.flatMap(({ record }) =>
    record.type === 'attempt.started' ? [[record.task, record.budgetUsd]] : [],
  );

test('without an estimate every attempt gets an equal share', () => {
  expect(promised(run(4, { a: null, b: null }))).toEqual([
    ['a', 2],
    ['b', 2],
  ]);
});

test('no more attempts begin than the money suffices for, and the others wait for it', () => {
  expect(promised(run(4, { a: 1.5, b: 1.5, c: 1.5 }))).toEqual([
    ['a', 2],
    ['b', 2],
  ]);
  const one = run(4, { a: 3, b: 3 });
  expect(promised(one)).toEqual([['a', 4]]);
  expect([...waitsOf(one.state(), NOW, agents)]).toEqual([['b', { kind: 'money' }]]);
});

test('an estimate above all that is left keeps nothing back that nobody could leave it', () => {
  expect(promised(run(1, { a: 5 }))).toEqual([['a', 1]]);
});

test('what finished attempts of the same agent and model have cost is the estimate', () => {
  const journal = run(10, { a: null, b: null, c: null, d: null });
  journal.start('a').use('a', 3).finish('a').start('b').use('b', 1).finish('b');
  expect(promised(journal)).toEqual([
    ['c', 3],
    ['d', 3],
  ]);
  const dear = run(10, { a: null, b: null, c: null });
  dear.start('a').use('a', 6).finish('a');
  expect(promised(dear)).toEqual([['b', 4]]);
});

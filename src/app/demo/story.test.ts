import { expect, test } from 'vitest';
import { JournalBuilder } from '../../../test/support/journal-builder.ts';
import { planInput } from '../../../test/support/plan-input.ts';
import type { Failure } from '../../model/failure.ts';
import { parsePlan } from '../../plan/parse.ts';
import { planJson } from '../../report/plan-text.ts';
import { deviations, storyOf } from './story.ts';
import { demoPlan } from './tasks.ts';

const SCRIPTED = { agent: 'shell', prose: false, tests: "'/opt/my node/bin/node' --test" };

function parsed(choices: Parameters<typeof demoPlan>[0]) {
  return parsePlan(planInput('plan.yaml', demoPlan(choices)), null);
}

test.each([SCRIPTED, { agent: 'claude', prose: true, tests: 'node --test' }])(
  'the plan of the demo for $agent has no problems, and one pair that overlaps',
  (choices) => {
    const { plan, problems } = parsed(choices);

    expect(problems).toEqual([]);
    expect(planJson(plan!).overlaps).toEqual([['discount', 'shipping']]);
    expect(plan!.gates.map(({ run }) => run)).toEqual([choices.tests]);
    expect(new Set(plan!.tasks.map(({ agent }) => agent))).toEqual(new Set([choices.agent]));
  },
);

test('a demo that never got going differs from its design in every task', () => {
  const { tasks } = parsed(SCRIPTED).plan!;

  const story = storyOf(new JournalBuilder(tasks).end('interrupted').entries);

  expect(deviations(story)).toEqual([
    ...tasks.map(({ id }) => `${id} did not land`),
    'the gate did not catch receipt',
    'stock was not retried',
  ]);
});

test('a demo where all went well differs from its design too', () => {
  const { tasks } = parsed(SCRIPTED).plan!;
  const run = new JournalBuilder(tasks);
  for (const { id } of tasks) run.start(id);
  for (const { id } of tasks) run.finish(id).land(id);

  expect(deviations(storyOf(run.publish().end('succeeded').entries))).toEqual([
    'the gate did not catch receipt',
    'stock was not retried',
    'discount and shipping ran together',
  ]);
});

test('what was caught, retried and kept apart is read from the journal', () => {
  const { tasks } = parsed(SCRIPTED).plan!;
  const lost: Failure = { kind: 'transient', message: 'The connection was lost.' };
  const red = {
    kind: 'gate-failed',
    message: 'Gate tests is red.',
    gate: 'tests',
    output: "+ 'Total in euros: 700.00'",
    landedSince: ['cents'],
  } as const satisfies Failure;
  const run = new JournalBuilder(tasks);
  run.start('cents').start('receipt').start('stock').start('guide');
  run.finish('cents').land('cents').fail('stock', lost).start('stock').finish('stock');
  run.finish('receipt').merge('receipt').gate('receipt', false).reject('receipt', red);
  run.start('receipt', 'rework').finish('receipt').land('receipt').land('stock');
  run.finish('guide').land('guide').start('discount').finish('discount').land('discount');
  run.start('shipping').finish('shipping').land('shipping');
  run.start('checkout').finish('checkout').land('checkout').publish().end('succeeded');

  const { state, ...story } = storyOf(run.entries);

  const landed = state.landed.find(({ task }) => task === 'receipt')!.commit;
  expect(story).toEqual({
    caught: [{ task: 'receipt', failure: red, checked: true, landed }],
    retried: [{ task: 'stock', failure: lost, pauseMs: 1000 }],
    overlapping: [{ tasks: ['discount', 'shipping'], ranTogether: false }],
  });
  expect(deviations({ state, ...story })).toEqual([]);
});

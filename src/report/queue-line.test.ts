/** The queue in one line, and where it is shown. */

import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { queueLine } from './queue-line.ts';
import { queueView } from './queue-text.ts';
import { statusText } from './status.ts';

const sha = (letter: string): string => letter.repeat(40);
const NOW = START + 60_000;

/** a is in a gate, b is green behind it, c has not begun, d conflicts with a, e came last. */
function busy(): JournalBuilder {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const run = new JournalBuilder(ids.map((id) => ({ id, work: sha(id) })));
  for (const id of ids) run.adopt(id, sha(id));
  const built = (task: string, onto: string, commit: string) =>
    run
      .add({ type: 'merge.started', task, attempt: 0, commit: sha(task), onto })
      .add({ type: 'candidate.built', task, commit, tree: commit });
  built('a', sha('0'), sha('1')).add({ type: 'candidate.verifying', task: 'a', commit: sha('1') });
  run.add({ type: 'gate.started', task: 'a', gate: 'lint', tree: sha('1') });
  const green = { ok: true, ms: 1000, output: '' } as const;
  run.add({ type: 'gate.finished', task: 'a', gate: 'lint', tree: sha('1'), ...green });
  run.add({ type: 'gate.started', task: 'a', gate: 'tests', tree: sha('1') });
  built('b', sha('1'), sha('2')).add({ type: 'candidate.verifying', task: 'b', commit: sha('2') });
  run.add({ type: 'gate.started', task: 'b', gate: 'tests', tree: sha('2') });
  run.add({ type: 'gate.finished', task: 'b', gate: 'tests', tree: sha('2'), ...green });
  run.add({ type: 'candidate.verified', task: 'b', commit: sha('2'), failure: null });
  built('c', sha('2'), sha('3'));
  run.add({ type: 'merge.started', task: 'd', attempt: 0, commit: sha('d'), onto: sha('3') });
  return run.add({ type: 'merge.withdrawn', task: 'd', ahead: 'a', why: 'They conflict.' });
}

test('who is in which gate and since when, who is green, who waits and behind whom', () => {
  expect(queueLine(busy().state(), NOW)).toBe(
    'a in gate tests for 49 s · b is green · c waits for its gates · d waits behind a · e waits for its turn',
  );
  const empty = new JournalBuilder([{ id: 'a' }]).start('a');
  expect(queueLine(empty.state(), NOW)).toBe(null);
});

test('who passes the others is told as that', () => {
  const run = busy().add({
    ...{ type: 'merge.started', task: 'e', attempt: 0, commit: sha('e'), onto: sha('0') },
    passes: ['a', 'b', 'c'],
  });
  expect(queueLine(run.state(), NOW)).toContain(' · e is being built, past a, b, c · ');
});

test('a gate that has begun in place of a dead one counts; one of an older candidate does not', () => {
  const run = busy().add({ type: 'gate.started', task: 'a', gate: 'types', tree: sha('1') });
  run.add({ type: 'gate.started', task: 'c', gate: 'tests', tree: sha('9') });
  expect(queueLine(run.state(), NOW)).toMatch(/^a in gate types .* c waits for its gates/);
});

test('status shows the line, and programs are told the gate', () => {
  const state = busy().state();
  const text = statusText(state, { run: 'r1', now: NOW, live: true });
  expect(text).toMatchInlineSnapshot(`
    "accounts  r1  running
    1 m 00 s  $0.00  landed 0/5  head 0001ccc, for main

    ◍ a  landing  in gate tests for 49 s, on 0000000
    ◍ b  landing  is green, on 1111111
    ◍ c  landing  waits for its gates, on 2222222
    ○ d  queued   waits to land
    ○ e  queued   waits to land

    Landing queue: a in gate tests for 49 s · b is green · c waits for its gates · d waits behind a · e waits for its turn
    "
  `);
  expect(queueView(state).chain[0]).toEqual({
    task: 'a',
    onto: null,
    state: 'verifying',
    since: new Date(START + 8000).toISOString(),
    looks: 0,
    gate: 'tests',
    gate_since: new Date(START + 11_000).toISOString(),
  });
});

test('a publication names the gate that its combination is in', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').land('a');
  run.add({ type: 'publish.started', head: sha('f') });
  run.add({ type: 'gate.started', task: null, gate: 'tests', tree: sha('7') });
  const text = () => statusText(run.state(), { run: 'r1', now: NOW, live: true });
  expect(text()).toContain('Publishing fffffff, its combination in gate tests for');
  run.gate(null, true);
  expect(text()).toMatch(/Publishing fffffff$/m);
});

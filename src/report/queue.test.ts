import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { reportJson } from './json.ts';
import { reportMarkdown } from './markdown.ts';
import { queueLine, queueStory, queueText, queueView } from './queue.ts';
import { statusJson, statusText } from './status.ts';

const sha = (letter: string): string => letter.repeat(40);
const RED: Failure = {
  ...{ kind: 'gate-failed', message: 'Gate tests is red.', gate: 'tests' },
  ...{ output: '', landedSince: [] },
};

/** a landed without a run of its gate, b was ejected, c is verified, d waits for c. */
function busy(): JournalBuilder {
  const run = new JournalBuilder(['a', 'b', 'c', 'd'].map((id) => ({ id, work: sha(id) })));
  for (const id of ['a', 'b', 'c', 'd']) run.adopt(id, sha(id));
  const built = (task: string, onto: string, commit: string) =>
    run
      .add({ type: 'merge.started', task, attempt: 0, commit: sha(task), onto })
      .add({ type: 'candidate.built', task, commit, tree: commit })
      .add({ type: 'candidate.verifying', task, commit });
  const gate = { type: 'gate.finished', gate: 'tests', output: '', tree: sha('1') } as const;
  built('a', sha('0'), sha('1'));
  run.add({ ...gate, task: 'a', ok: true, ms: 0, spared: 'memory', by: 'r0' });
  run.add({ type: 'candidate.verified', task: 'a', commit: sha('1'), failure: null });
  built('b', sha('1'), sha('2'));
  for (let look = 0; look < 2; look += 1) {
    run.add({ ...gate, task: 'b', ok: false, ms: 3200 });
    run.add({ type: 'candidate.verified', task: 'b', commit: sha('2'), failure: RED });
  }
  run.add({ type: 'merge.landed', task: 'a', onto: sha('0'), commit: sha('1') });
  run.add({ type: 'merge.rejected', task: 'b', onto: sha('1'), failure: RED });
  built('c', sha('1'), sha('3'));
  run.add({ type: 'merge.started', task: 'd', attempt: 0, commit: sha('d'), onto: sha('3') });
  const why = 'Conflicts with the work of c in x.';
  return run.add({ type: 'merge.withdrawn', task: 'd', ahead: 'c', why });
}

test('the queue tells what is verified, who waits, what landed and what did not', () => {
  expect(queueText(busy().state(), { run: 'r1', now: START + 60_000 })).toMatchInlineSnapshot(`
    "accounts  r1  verify each, 2 at a time  head 1111111, for main

    In progress, each built on the one above it:
      c  verifying for 39 s

    Waiting:
      d  behind c: they conflict

    Landed:
      a  as 1111111

    Did not land:
      b  gate-failed: Gate tests is red.
          $ tests
          Full output: landfast logs b --gate tests
    "
  `);
});

test('a run in which nothing has finished has an empty queue', () => {
  const text = queueText(new JournalBuilder([{ id: 'a' }]).state(), { run: 'r1', now: START });
  expect(text).toMatchInlineSnapshot(`
    "accounts  r1  verify each, 2 at a time  head 0001ccc, for main

    The queue is empty.
    "
  `);
});

test('the story says why a gate was not run, and why work was ejected', () => {
  expect(queueStory(busy().entries)).toMatchInlineSnapshot(`
    [
      "a needed no gate tests: green on the same files in run r0.",
      "a was green, on the head.",
      "b had gate tests red after 3.2 s.",
      "b was red, with a ahead of it.",
      "b had gate tests red after 3.2 s.",
      "b was red, with a ahead of it.",
      "a landed as 1111111.",
      "b was ejected: red twice, while 1111111 without it is green.",
      "d left the queue for now: Conflicts with the work of c in x.",
    ]
  `);
});

/** x has passed a, whose gates went on; y cannot. */
function passing(): JournalBuilder {
  const run = new JournalBuilder(['a', 'x', 'y'].map((id) => ({ id, work: sha(id) })));
  for (const id of ['a', 'x', 'y']) run.adopt(id, sha(id));
  const started = { type: 'merge.started', attempt: 0, onto: sha('0') } as const;
  run.add({ ...started, task: 'a', commit: sha('a') });
  run.add({ type: 'candidate.built', task: 'a', commit: sha('1'), tree: sha('1') });
  run.add({ type: 'candidate.verifying', task: 'a', commit: sha('1') });
  run.add({ ...started, task: 'x', commit: sha('e'), passes: ['a'] });
  return run.add({ type: 'candidate.built', task: 'x', commit: sha('2'), tree: sha('2') });
}

test('passing work is shown apart from the chain', () => {
  expect(queueText(passing().state(), { run: 'r1', now: START + 9_000 })).toContain(
    [
      'In progress, each built on the one above it:',
      '  a  verifying for 3.0 s',
      '',
      'Overtaking them, built on the head:',
      '  x  built, past a',
    ].join('\n'),
  );
  expect(queueView(passing().state())).toMatchObject({
    chain: [{ task: 'a', onto: null, state: 'verifying' }],
    passing: { task: 'x', passes: ['a'], state: 'built' },
  });
});

test('the story says who passed whom, whose gates kept running, and what stayed and why', () => {
  const run = passing();
  run.add({ type: 'candidate.verified', task: 'x', commit: sha('2'), failure: null });
  run.add({ type: 'merge.landed', task: 'x', onto: sha('0'), commit: sha('2') });
  const why = 'The work of x has passed it.';
  run.add({ type: 'merge.withdrawn', task: 'a', ahead: null, why, lingers: true });
  run.add({ type: 'merge.started', task: 'a', attempt: 0, commit: sha('a'), onto: sha('2') });
  run.add({ type: 'candidate.built', task: 'a', commit: sha('3'), tree: sha('3') });
  run.add({ type: 'candidate.verified', task: 'a', commit: sha('1'), failure: null });
  run.add({ type: 'candidate.verified', task: 'a', commit: sha('3'), failure: null });
  const stays = 'it changes f, and so does a';
  const start = { type: 'merge.started', task: 'y', attempt: 0 } as const;
  run.add({ ...start, commit: sha('f'), onto: sha('3'), stays });
  expect(queueStory(run.entries)).toEqual([
    'x passes a: it is independent, and they change other paths.',
    'x was green, on the head.',
    'x landed as 2222222.',
    'a left the queue for now: The work of x has passed it. Its gates keep running: their results are remembered.',
    'a was green, as it was before it left the queue.',
    'a was green, on the head.',
    'y is independent, but takes its turn: it changes f, and so does a.',
  ]);
});

const NOW = START + 60_000;

/** a is in a gate, b is green behind it, c has not begun, d conflicts with a, e came last. */
function verifying(): JournalBuilder {
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
  expect(queueLine(verifying().state(), NOW)).toBe(
    'a in gate tests for 49 s · b is green · c waits for its gates · d waits behind a · e waits for its turn',
  );
  const empty = new JournalBuilder([{ id: 'a' }]).start('a');
  expect(queueLine(empty.state(), NOW)).toBe(null);
});

test('who passes the others is told as that', () => {
  const run = verifying().add({
    ...{ type: 'merge.started', task: 'e', attempt: 0, commit: sha('e'), onto: sha('0') },
    passes: ['a', 'b', 'c'],
  });
  expect(queueLine(run.state(), NOW)).toContain(' · e is being built, past a, b, c · ');
});

test('a gate that has begun in place of a dead one counts; one of an older candidate does not', () => {
  const run = verifying().add({ type: 'gate.started', task: 'a', gate: 'types', tree: sha('1') });
  run.add({ type: 'gate.started', task: 'c', gate: 'tests', tree: sha('9') });
  expect(queueLine(run.state(), NOW)).toMatch(/^a in gate types .* c waits for its gates/);
});

test('status shows the line, and programs are told the gate', () => {
  const state = verifying().state();
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
    failed: null,
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

const FILES = [
  { path: 'src/a.ts', how: 'memory', by: 'r0' },
  { path: 'package-lock.json', how: 'command', by: 'npm install' },
] as const;

const run = () => {
  const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }]).start('a').finish('a').merge('a');
  return journal.add({ type: 'merge.settled', task: 'a', files: FILES }).start('b');
};

test('status names files that were settled, and how', () => {
  const info = { run: 'r1', now: run().state().at, live: true };
  expect(statusText(run().state(), info)).toContain(
    'Settled in a: src/a.ts resolved as in run r0, package-lock.json regenerated by npm install\n',
  );
  expect(statusJson(run().state(), info).tasks.map(({ settled }) => settled)).toEqual([FILES, []]);
});

test('so do the reports', () => {
  const state = run().end('interrupted').state();
  expect(reportMarkdown(state, { run: 'r1' })).toContain(
    [
      '## Conflicts resolved without an agent',
      '',
      '- `a`: `src/a.ts` resolved as in run r0, `package-lock.json` regenerated by npm install\n',
    ].join('\n'),
  );
  const told = reportJson(state, { run: 'r1' }).tasks.map(({ settled }) => settled);
  expect(told).toEqual([FILES, []]);
});

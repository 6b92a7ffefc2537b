import { describe, expect, test } from 'vitest';
import { JournalBuilder, type TaskInput } from '../../test/support/journal-builder.ts';
import type { Event } from '../model/event.ts';
import type { GateSpec } from '../model/plan.ts';
import { decide } from './decide.ts';
import { standings } from './passing.ts';

const GATES: readonly GateSpec[] = [
  { name: 'tests', run: 'npm test', timeoutMs: 1, paths: ['src/**'] },
  { name: 'prose', run: 'vale', timeoutMs: 1, paths: ['docs/**'] },
];

/** Tasks whose work is finished, each with the files that it changes. */
function finished(
  files: Readonly<Record<string, readonly string[]>>,
  more: Partial<TaskInput> = {},
) {
  const tasks = Object.keys(files).map((id) => ({ id, independent: true, ...more }) as const);
  const run = new JournalBuilder(tasks, { gates: GATES });
  for (const [id, changed] of Object.entries(files)) {
    run.start(id);
    const made = { commit: `work of ${id}`, outside: [], exitCode: 0, text: '' };
    run.add({ type: 'attempt.finished', task: id, attempt: 1, files: changed, ...made });
  }
  return run;
}

const standing = (run: JournalBuilder, ...ids: readonly string[]) => {
  const state = run.state();
  const waiting = ids.map((id) => state.tasks.get(id)!);
  return Object.fromEntries(standings(state, waiting));
};

const built = (run: JournalBuilder, task: string, onto: string, more = {}) =>
  run
    .add({ type: 'merge.started', task, attempt: 1, commit: `work of ${task}`, onto, ...more })
    .add({ type: 'candidate.built', task, commit: `c of ${task}`, tree: `t of ${task}` });

describe('independent work passes what is before it', () => {
  const passes = (...tasks: readonly string[]) => ({ kind: 'passes', tasks });
  const stays = (why: string) => ({ kind: 'stays', why });

  test('only where the paths are others: the same, or one in the other', () => {
    const told = (a: string, b: string) => standing(finished({ a: [a], b: [b] }), 'a', 'b').b;
    expect(told('src/a.ts', 'src/b.ts')).toEqual(passes('a'));
    expect(told('src/a', 'src/ab')).toEqual(passes('a'));
    expect(told('src/a.ts', 'src/a.ts')).toEqual(stays('it changes src/a.ts, and so does a'));
    expect(told('src/a', 'src/a/b')).toEqual(stays('it changes src/a/b, and so does a'));
    expect(told('src/a/b', 'src/a')).toEqual(stays('it changes src/a, and so does a'));
  });

  test('work that a person mended keeps its paths after an attempt at it has failed', () => {
    const run = finished({ a: ['a'], b: ['b'] });
    run.add({ type: 'work.mended', task: 'a', commit: 'mended', files: ['b'] });
    run.start('a').fail('a', { kind: 'no-change', message: 'Nothing.' });
    expect(standing(run, 'a', 'b').b).toEqual(stays('it changes b, and so does a'));
  });

  test('where it is in the queue, and where it waits and is more urgent', () => {
    const run = finished({ a: ['a'], b: ['b'], c: ['c'], d: ['b'] });
    built(run, 'a', 'head');
    expect(standing(run, 'b', 'c', 'd')).toEqual({
      b: passes('a'),
      c: passes('a', 'b'),
      d: stays('it changes b, and so does b'),
    });
  });

  test('and nobody has to where nothing is before it', () => {
    expect(standing(finished({ a: ['a'] }), 'a')).toEqual({});
  });

  test('only where the plan says that it is independent', () => {
    const run = finished({ a: ['a'], b: ['b'] }, { independent: undefined as never });
    expect(standing(run, 'a', 'b')).toEqual({});
  });

  test('one at a time', () => {
    const run = finished({ a: ['a'], b: ['b'], c: ['c'] });
    built(run, 'a', 'head');
    built(run, 'b', 'head', { passes: ['a'] });
    expect(standing(run, 'c').c).toEqual(stays('b is passing, one at a time'));
  });

  test('and once: what others have overtaken takes its turn', () => {
    const run = finished({ a: ['a'], b: ['b'] });
    built(run, 'a', 'head');
    built(run, 'b', 'head', { passes: ['a'] });
    run.add({ type: 'merge.withdrawn', task: 'b', ahead: null, why: 'a landed before it.' });
    expect(standing(run, 'b').b).toEqual(stays('others landed while it was passing'));
  });

  test('but not existing work, whose changes are unknown', () => {
    const run = new JournalBuilder(
      [
        { id: 'a', work: 'theirs' },
        { id: 'b', independent: true },
      ],
      { gates: GATES },
    );
    run.adopt('a', 'theirs').start('b').finish('b');
    expect(standing(run, 'a', 'b').b).toEqual(stays('the changes of a are unknown'));
  });

  test('nor where an agent has tried to mend it, and it is taken again as it was', () => {
    const run = new JournalBuilder(
      [
        { id: 'a', work: 'theirs' },
        { id: 'b', independent: true },
      ],
      { gates: GATES },
    );
    run.adopt('a', 'theirs').start('a').fail('a', { kind: 'auth', message: '' });
    run.adopt('a', 'theirs').start('b').finish('b');
    expect(standing(run, 'a', 'b').b).toEqual(stays('the changes of a are unknown'));
  });
});

describe('the chain behind one that has passed', () => {
  /** What is decided when b has passed a, whose gates are being run. */
  const passedBy = (file: string, ...more: readonly Event[]) => {
    const run = finished({ a: ['src/a.ts'], b: [file] });
    const head = run.state().head!;
    built(run, 'a', head).add({ type: 'candidate.verifying', task: 'a', commit: 'c of a' });
    built(run, 'b', head, { passes: ['a'] });
    run.add({ type: 'merge.landing', task: 'b', commit: 'c of b' });
    run.add({ type: 'merge.landed', task: 'b', onto: head, commit: 'c of b' });
    for (const event of more) run.add(event);
    const { decisions } = decide(run.state(), 0, () => ({ resume: true, prose: true }));
    const facts = decisions.map(({ record }) => record);
    for (const fact of facts) run.add(fact);
    return { run, facts: facts.filter(({ type }) => /^(merge|candidate)\./.test(type)) };
  };
  const why = 'The work of b has passed it.';

  test('is built again, and gates go on whose paths are untouched', () => {
    const { run, facts } = passedBy('docs/b.md');
    const left = { type: 'merge.withdrawn', task: 'a', ahead: null, why, lingers: true };
    expect(facts).toEqual([left]);
    expect(run.state().lingering).toEqual([{ task: 'a', commit: 'c of a' }]);
    run.add({ type: 'merge.started', task: 'a', attempt: 1, commit: 'w', onto: 'c of b' });
    run.add({ type: 'candidate.built', task: 'a', commit: 'c2 of a', tree: 't2 of a' });
    const kinds = () =>
      decide(run.state(), 0, () => ({ resume: true, prose: true })).decisions.map(
        ({ record }) => record.type,
      );
    expect(kinds()).not.toContain('candidate.verifying');
    run.add({ type: 'candidate.verified', task: 'a', commit: 'c of a', failure: null });
    expect(run.state()).toMatchObject({ lingering: [], queue: [{ verdict: 'none' }] });
  });

  test('is verified anew where the one that passed touches the paths of every gate', () => {
    const run = new JournalBuilder([{ id: 'a' }, { id: 'b', independent: true }], {
      gates: [{ name: 'all', run: 'x', timeoutMs: 1, paths: ['**'] }],
    });
    for (const [task, file] of [
      ['a', 'a'],
      ['b', 'b'],
    ] as const) {
      run.start(task);
      const made = { commit: `work of ${task}`, outside: [], exitCode: 0, text: '' };
      run.add({ type: 'attempt.finished', task, attempt: 1, files: [file], ...made });
    }
    const head = run.state().head!;
    built(run, 'a', head).add({ type: 'candidate.verifying', task: 'a', commit: 'c of a' });
    built(run, 'b', head, { passes: ['a'] });
    run.add({ type: 'merge.landed', task: 'b', onto: head, commit: 'c of b' });
    const { decisions } = decide(run.state(), 0, () => ({ resume: true, prose: true }));
    const left = { type: 'merge.withdrawn', task: 'a', ahead: null, why };
    expect(decisions.map(({ record }) => record)).toContainEqual(left);
  });

  test('gates do not go on for work that nobody wants, nor in a run that ends', () => {
    const unwanted = passedBy('docs/b.md', { type: 'task.cancelled', task: 'a' });
    expect(unwanted.run.state().lingering).toEqual([]);
    const dropped = { type: 'candidate.dropped', task: 'a', commit: 'c of a' };
    for (const event of [
      { type: 'run.stopping', mode: 'end', why: 'Enough.' },
      { type: 'task.cancelled', task: 'a' },
    ] as const) {
      const { run } = passedBy('docs/b.md');
      run.add(event);
      const { decisions } = decide(run.state(), 0, () => ({ resume: true, prose: true }));
      expect(decisions.map(({ record }) => record)).toContainEqual(dropped);
    }
  });
});

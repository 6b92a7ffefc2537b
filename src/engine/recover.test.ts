import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { recover, reopen } from './recover.ts';

const sha = (nth: number): string => nth.toString(16).padStart(4, '0').padEnd(40, 'c');
const PERMANENT: Failure = { kind: 'permanent', message: 'No.' };
const PLAIN = { meanwhile: null, retry: null, changed: {}, next: null, mended: [] };
const journal = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }]);

test('a new run has nothing to recover', () => {
  expect(recover(journal().state())).toEqual({ facts: [], effects: [] });
});

test('an attempt cannot be taken up in the middle: it was interrupted', () => {
  const run = journal().start('a').fail('a', PERMANENT).start('a');
  const message = 'The engine was ended while this attempt ran.';
  const failure = { kind: 'interrupted', message };
  expect(recover(run.state())).toEqual({
    facts: [{ type: 'attempt.failed', task: 'a', attempt: 2, failure, exitCode: null }],
    effects: [],
  });
});

test('a merge is performed again on the head it was recorded with', () => {
  const run = journal().start('a').start('b').finish('a').land('a').finish('b').merge('b');
  const [onto, commit] = [sha(4), sha(5)];
  expect(recover(run.state())).toEqual({
    facts: [],
    effects: [
      {
        kind: 'merge',
        ...{
          task: 'b',
          commit,
          onto,
          base: sha(1),
          ahead: null,
          lands: false,
          teaches: false,
          landedSince: ['a'],
          credit: { by: { agent: 'claude' }, costUsd: 0 },
        },
      },
    ],
  });
});

test('a merge onto work that has left the queue is not: its work waits for its turn', () => {
  const run = journal().start('a').start('b').finish('a').merge('a').finish('b');
  const [commit, tree] = [sha(90), sha(91)];
  run.add({ type: 'candidate.built', task: 'a', commit, tree });
  run.add({ type: 'merge.started', task: 'b', attempt: 1, commit: sha(92), onto: commit });
  expect(recover(run.state()).effects.map(({ kind }) => kind)).toEqual(['merge']);
  run.add({ type: 'merge.withdrawn', task: 'a', ahead: null, why: 'The run is stopping.' });
  const why = 'What it was being merged with has left the queue.';
  expect(recover(run.state())).toEqual({
    facts: [{ type: 'merge.withdrawn', task: 'b', ahead: null, why }],
    effects: [],
  });
});

test('a release is performed again, for better or worse', () => {
  const run = journal().start('a').finish('a').land('a').start('b').giveUp('b', PERMANENT);
  run.add({ type: 'workspace.released', task: 'a' }).add({ type: 'workspace.released', task: 'b' });
  expect(recover(run.state())).toEqual({
    facts: [],
    effects: [
      { kind: 'release', task: 'a', succeeded: true, safe: [sha(2), sha(1)] },
      { kind: 'release', task: 'b', succeeded: false, safe: [sha(4)] },
    ],
  });
});

test('a publication is performed again with the head it was recorded with', () => {
  const run = journal().start('a').finish('a').land('a');
  run.add({ type: 'publish.started', head: sha(4) });
  expect(recover(run.state())).toEqual({
    facts: [],
    effects: [
      {
        kind: 'publish',
        base: sha(1),
        head: sha(4),
        target: 'main',
        landed: [{ task: 'a', work: sha(2), onto: sha(1), commit: sha(4) }],
        untold: ['a'],
      },
    ],
  });
});

test('while the last publication is under way, nothing else begins', () => {
  const run = journal().start('a').finish('a').land('a').giveUp('b', PERMANENT);
  run.add({ type: 'publish.started', head: sha(4) });
  const mended = [{ task: 'b', commit: sha(9), files: ['b.txt'] }];
  expect(reopen(run.state(), { ...PLAIN, mended })).toEqual([{ type: 'run.resumed', retry: [] }]);
  const next = { plan: run.state().plan, hash: 'h' };
  expect(() => reopen(run.state(), { ...PLAIN, next })).toThrow('The run is being published.');
});

test('finished work that waits to land needs nothing: it is still queued', () => {
  expect(recover(journal().start('a').finish('a').state())).toEqual({ facts: [], effects: [] });
});

test('a run that had ended gives its failed tasks a new chance', () => {
  const run = journal().giveUp('a', PERMANENT).start('b').finish('b').land('b').end('failed');
  expect(reopen(run.state(), PLAIN)).toEqual([{ type: 'run.resumed', retry: ['a'] }]);
  const meanwhile = { head: 'h9', landed: ['a'] };
  expect(reopen(run.state(), { ...PLAIN, meanwhile })).toEqual([
    { type: 'run.resumed', retry: [], head: 'h9' },
    { type: 'merge.landed', task: 'a', onto: 'h9', commit: 'h9' },
  ]);
});

test('a run that was only cut off goes on as it was', () => {
  const run = journal().giveUp('a', PERMANENT);
  expect(reopen(run.state(), { ...PLAIN, changed: { budgetUsd: 5 } })).toEqual([
    { type: 'run.resumed', retry: [], budgetUsd: 5 },
  ]);
});

test('what somebody gave up stays so, and what needs it; the others get a new chance', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c' }]);
  run.add({ type: 'task.skipped', task: 'a', satisfied: false });
  run.giveUp('a', { kind: 'skipped', message: 'Given up.' }).skip('b', 'a');
  run.giveUp('c', PERMANENT).end('failed');
  expect(reopen(run.state(), PLAIN)).toEqual([{ type: 'run.resumed', retry: ['c'] }]);
});

test('a run that is reopened for some tasks leaves the other failed ones alone', () => {
  const run = journal().giveUp('a', PERMANENT).giveUp('b', PERMANENT).end('failed');
  const retry = { kind: 'retry', tasks: ['b'], fresh: true } as const;
  expect(reopen(run.state(), { ...PLAIN, retry })).toEqual([
    { type: 'run.resumed', retry: [] },
    { type: 'task.retried', task: 'b', fresh: true },
  ]);
});

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { fold } from '../model/fold.ts';
import { type Notice, Notices, payloadText } from './notice.ts';

const BROKEN: Failure = { kind: 'permanent', message: 'It broke.' };
const LIMIT: Failure = {
  kind: 'rate-limited',
  message: 'Come back later.',
  retryAt: 1_800_000_000_000,
};

/** What is told of the entries after the first `known`, which an engine before has told of. */
function told(run: JournalBuilder, known = 0): readonly Notice[] {
  const before = known === 0 ? null : fold(run.entries.slice(0, known));
  const notices = new Notices(before);
  return run.entries.slice(known).flatMap((entry) => notices.after(entry).notices);
}

const occasions = (run: JournalBuilder, known = 0) => told(run, known).map(({ on }) => on);

test('a run that went well is finished, and nothing else', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').land('a').publish();
  expect(told(run.end('succeeded'))).toEqual([
    {
      on: 'finished',
      text: 'The task succeeded; main is at 0004ccc.',
      detail: { outcome: 'succeeded', published: expect.any(String), failed_tasks: [] },
    },
  ]);
});

test('a failed task makes it finished, then failed, with the same detail', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
  run.start('a').fail('a', BROKEN).giveUp('a', BROKEN).skip('b', 'a').end('failed');
  const [finished, failed, ...rest] = told(run);
  expect(rest).toEqual([]);
  expect(finished).toMatchObject({
    on: 'finished',
    detail: {
      outcome: 'failed',
      failed_tasks: [{ task: 'a', failure: 'permanent', message: 'It broke.' }],
    },
  });
  expect(failed).toEqual({ ...finished, on: 'failed' });
});

test('an interrupted run has not ended', () => {
  expect(occasions(new JournalBuilder([{ id: 'a' }]).start('a').end('interrupted'))).toEqual([]);
});

test('what another engine recorded before is not told again', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a').fail('a', BROKEN).giveUp('a', BROKEN);
  run.keep('a', 'it holds work').end('failed');
  const known = run.entries.length;
  run
    .add({ type: 'run.resumed', retry: ['a'] })
    .start('a')
    .finish('a')
    .land('a')
    .publish();
  run.end('succeeded');
  expect(occasions(run)).toEqual(['person', 'finished', 'failed', 'finished']);
  expect(occasions(run, known)).toEqual(['finished']);
});

test('a blocked publication and kept work of a failed task need a person', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }]);
  run.start('a').fail('a', BROKEN).giveUp('a', BROKEN).keep('a', 'it holds work');
  run.start('b').finish('b').land('b').keep('b', 'you asked for it');
  run.add({ type: 'publish.blocked', why: 'x.txt is in the way.', remedy: 'git stash' });
  expect(told(run)).toEqual([
    {
      on: 'person',
      text: 'The workspace of task a is kept: it holds work',
      detail: { task: 'a', why: 'it holds work', failure: 'permanent' },
    },
    {
      on: 'person',
      text: 'Publishing to main needs you: x.txt is in the way.',
      detail: { why: 'x.txt is in the way.', remedy: 'git stash' },
    },
  ]);
});

test('many tasks at the same limit are one notice, until the agent works again', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c', agent: 'codex' }]);
  run.start('a').start('b').start('c').fail('a', LIMIT).fail('b', LIMIT).fail('c', LIMIT);
  expect(told(run)).toEqual([
    {
      on: 'limit',
      text: 'claude of task a: Come back later.',
      detail: {
        task: 'a',
        agent: 'claude',
        failure: 'rate-limited',
        message: 'Come back later.',
        retry_at: '2027-01-15T08:00:00.000Z',
      },
    },
    expect.objectContaining({ on: 'limit', text: 'codex of task c: Come back later.' }),
  ]);
  run.start('a').finish('a').start('b').fail('b', LIMIT);
  expect(occasions(run)).toEqual(['limit', 'limit', 'limit']);
});

test('a refused login needs a person, once for an agent', () => {
  const login: Failure = { kind: 'auth', message: 'Please log in.' };
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }]);
  run.start('a').start('b').fail('a', login).fail('b', login);
  expect(occasions(run)).toEqual(['person']);
});

test('the payload has the keys of parallel-orchestra, then ours, all of it masked', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c' }]);
  const secret: Failure = { kind: 'permanent', message: 'The key is hunter22.' };
  run.start('a').fail('a', secret).giveUp('a', secret).skip('b', 'a');
  run.start('c').finish('c').land('c').publish().end('failed');
  const notices = new Notices(null);
  const all = run.entries.map((entry) => notices.after(entry));
  const { state } = all.at(-1)!;
  const failed = all.at(-1)!.notices[1]!;
  const mask = (text: string) => text.replaceAll('hunter22', '[MASKED]');
  expect(JSON.parse(payloadText(failed, state, { run: 'r1', mask }))).toEqual({
    event: 'failure',
    manifest: 'accounts',
    total: 3,
    succeeded: 1,
    failed: 1,
    skipped: 1,
    duration_sec: 12,
    cancelled: 0,
    unfinished: 0,
    run: 'r1',
    target: 'main',
    text: expect.stringContaining('1 of 3 tasks failed'),
    detail: {
      outcome: 'failed',
      published: expect.any(String),
      failed_tasks: [{ task: 'a', failure: 'permanent', message: 'The key is [MASKED].' }],
    },
  });
});

test('a run that waits for the disk is at a limit', () => {
  const why = '1 MB are free; at least 500 MB have to stay free (limits.disk_free).';
  const remedy = 'Free some space, or end the run and resume it with `--disk-free SIZE`.';
  const run = new JournalBuilder([{ id: 'a' }]).add({ type: 'run.held', of: 'disk', why });
  expect(told(run)).toEqual([
    {
      on: 'limit',
      text: `The run waits for disk space: ${why} ${remedy}`,
      detail: { short_of: 'disk', why },
    },
  ]);
});

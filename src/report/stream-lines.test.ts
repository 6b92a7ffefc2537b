/** The end of a run of two streams. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { streamLines } from './stream-lines.ts';

const A = { id: 'stream-a', title: 'Stream A (worktree-a): batches 1' };
const B = { id: 'stream-b', title: 'Stream B (worktree-b): batches 2,3' };

test('a stream that failed is an error; nothing in its message adds a line', () => {
  const run = new JournalBuilder([A, B])
    .start('stream-a')
    .finish('stream-a')
    .land('stream-a')
    .start('stream-b')
    .giveUp('stream-b', { kind: 'transient', message: 'It exited\nwith code 7.' });
  expect(streamLines(run.state())).toEqual({
    good: ['[cast-parallel] Stream A (worktree-a): batches 1 - done'],
    bad: [
      '[cast-parallel] ERROR: Stream B (worktree-b): batches 2,3 - failed: It exited with code 7.',
    ],
  });
});

test('a stream that was never begun is named as well', () => {
  expect(streamLines(new JournalBuilder([A]).state())).toEqual({
    good: [],
    bad: ['[cast-parallel] ERROR: Stream A (worktree-a): batches 1 - unfinished'],
  });
});

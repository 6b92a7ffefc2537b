/** One line a task: the format that scripts read. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import {
  allSucceeded,
  cancelled,
  conflicted,
  hostile,
  interrupted,
  retriedOnce,
} from '../../test/support/runs.ts';
import { summaryLines } from './summary-lines.ts';

test('tasks stand in the order of the plan, with role or agent', () => {
  expect(summaryLines(allSucceeded().state(), { quiet: false })).toEqual([
    '[ok] users (claude) duration=13.00 returncode=0',
    '[ok] login (developer) duration=13.00 returncode=0',
    '[ok] docs (claude) duration=13.00 returncode=0',
  ]);
});

test('retries are counted, and duration is that of the last attempt', () => {
  expect(summaryLines(retriedOnce().state(), { quiet: false })).toEqual([
    '[ok] users (claude) duration=3.00 returncode=0 retries=1',
  ]);
});

test('a status line adds status, cycles, the base name of the report and the reason', () => {
  const run = new JournalBuilder([{ id: 'good' }, { id: 'bad' }])
    .start('good')
    .finish('good', {
      status: { status: 'SUCCESS', cycles: 2, report: 'x/y/z.md', concerns: 'slow' },
    })
    .land('good')
    .start('bad')
    .fail(
      'bad',
      { kind: 'transient', message: 'The agent reported FAILED: X' },
      { exitCode: 0, status: { status: 'FAILED', reason: 'X' } },
    );
  expect(summaryLines(run.state(), { quiet: false })).toEqual([
    '[ok] good (claude) duration=1.00 returncode=0 status=SUCCESS cycles=2 report=z.md concerns=slow',
    '[fail] bad (claude) duration=1.00 returncode=1 category=transient status=FAILED reason=X',
  ]);
});

test('time limits have their own label', () => {
  const run = new JournalBuilder([{ id: 'slow' }, { id: 'mute' }]);
  run
    .start('slow')
    .fail(
      'slow',
      { kind: 'total-timeout', message: 'Too long.', afterMs: 900_000 },
      { exitCode: null },
    );
  run
    .start('mute')
    .fail(
      'mute',
      { kind: 'idle-timeout', message: 'Silent.', afterMs: 420_000 },
      { exitCode: null },
    );
  expect(summaryLines(run.state(), { quiet: false })).toEqual([
    '[timeout] slow (claude) duration=1.00 returncode=None (total timeout) category=timeout',
    '[timeout] mute (claude) duration=1.00 returncode=None (idle timeout) category=timeout',
  ]);
});

test('quiet hides what is ok and nothing else', () => {
  expect(summaryLines(conflicted().state(), { quiet: true })).toEqual([
    '[fail] login (developer) duration=3.00 returncode=0 category=permanent reason=The work does not merge.',
    '[skip] docs (claude) skipped: needs login',
  ]);
});

test('what never started is skipped and says why', () => {
  expect(summaryLines(cancelled().state(), { quiet: false })).toEqual([
    '[fail] users (claude) duration=2.00 returncode=None category=permanent',
    '[skip] login (developer) cancelled',
    '[skip] docs (claude) cancelled',
  ]);
  expect(summaryLines(interrupted().state(), { quiet: true })).toEqual([
    '[fail] login (developer) duration=2.00 returncode=None category=transient',
    '[skip] docs (claude) not started',
  ]);
});

test('a hostile task is still one line', () => {
  const lines = summaryLines(hostile().state(), { quiet: false });
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028-\u202e]/);
});

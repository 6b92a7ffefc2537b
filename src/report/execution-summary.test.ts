import { describe, expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { pullRequestIn } from '../forge/forge.ts';
import type { Failure } from '../model/failure.ts';
import {
  executionResults,
  executionSummary,
  executionTable,
  stateFileText,
} from './execution-summary.ts';

const SILENT: Failure = { kind: 'idle-timeout', message: 'Silent for 3 s.', afterMs: 3_000 };
const BROKEN: Failure = { kind: 'permanent', message: 'It exited with code 2.\nSee above.' };

/** Four tasks: one good, one silent twice, one broken, one that never began. */
function journal(): JournalBuilder {
  const tasks = ['login', 'slow', 'broken', 'later'];
  const run = new JournalBuilder(
    tasks.map((id) => ({ id, branch: `feature/${id}`, mode: id === 'login' ? 'read' : 'write' })),
  );
  run.start('login').use('login', 0.1).add({
    type: 'attempt.finished',
    task: 'login',
    attempt: 1,
    commit: null,
    files: [],
    outside: [],
    exitCode: 0,
    text: 'Opened https://github.com/o/r/pull/42.',
  });
  run.start('slow').use('slow', 0.1).fail('slow', SILENT).start('slow', 'continue');
  run.fail('slow', SILENT).add({ type: 'task.failed', task: 'slow', failure: SILENT });
  run.start('broken').fail('broken', BROKEN);
  return run.add({ type: 'task.failed', task: 'broken', failure: BROKEN });
}

test('the state file has one entry a task', () => {
  const text = stateFileText(journal().state(), 'r1', '2026-07-01T14:00:00.000');
  expect(JSON.parse(text)).toEqual({
    timestamp: '2026-07-01T14:00:00.000',
    results: [
      {
        task_id: 'login',
        status: 'success',
        branch: 'feature/login',
        pr_url: 'https://github.com/o/r/pull/42',
        pr_id: 42,
        error: null,
        attempts: 1,
        session_id: 'session-of-login',
      },
      {
        task_id: 'slow',
        status: 'timeout',
        branch: 'feature/slow',
        pr_url: null,
        pr_id: null,
        error: 'Agent timed out (inactivity) after 2 attempt(s)',
        attempts: 2,
        session_id: 'session-of-slow',
      },
      {
        task_id: 'broken',
        status: 'failed',
        branch: 'feature/broken',
        pr_url: null,
        pr_id: null,
        error: 'It exited with code 2.\nSee above.',
        attempts: 1,
        session_id: null,
      },
      {
        task_id: 'later',
        status: 'skipped',
        branch: 'feature/later',
        pr_url: null,
        pr_id: null,
        error: null,
        attempts: 0,
        session_id: null,
      },
    ],
  });
});

test('the summary has an icon a task, and only what there is to say', () => {
  expect(executionSummary(executionResults(journal().state(), 'r1'))).toMatchInlineSnapshot(`
    "============================================================
    EXECUTION SUMMARY
    ============================================================

    ✓ login (feature/login)
      Status: success
      PR: https://github.com/o/r/pull/42

    ⏱ slow (feature/slow)
      Status: timeout
      Attempts: 2
      Error: Agent timed out (inactivity) after 2 attempt(s)
      Session ID (for manual resume): session-of-slow

    ✗ broken (feature/broken)
      Status: failed
      Error: It exited with code 2. See above.

    ○ later (feature/later)
      Status: skipped

    1/4 completed, 1 timed out, 1 failed
    "
  `);
});

test('the table of status has one row a task', () => {
  expect(executionTable(executionResults(journal().state(), 'r1'))).toMatchInlineSnapshot(`
    "Task    Status   Branch          Notes
    login   success  feature/login   https://github.com/o/r/pull/42
    slow    timeout  feature/slow    Agent timed out (inactivity) after 2 attempt(s)
    broken  failed   feature/broken  It exited with code 2. See above.
    later   skipped  feature/later
    "
  `);
});

describe('a pull request is found', () => {
  test.each([
    ['at https://bitbucket.org/ws/shop/pull-requests/7/', 7],
    ['https://github.com/o/r/pull/1 and then https://git.example.com/o/my.repo/pull/12', 12],
    ['https://github.com/o/r/issues/3', null],
    ['http://github.com/o/r/pull/3', null],
    ['', null],
  ])('in %j: %j', (text, id) => {
    expect(pullRequestIn(text)?.id ?? null).toBe(id);
  });
});

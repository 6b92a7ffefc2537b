/** What is read of an agent's last words, in each form that a task can ask for. */

import { expect, test } from 'vitest';
import { reportedFailure, selfReportOf } from './self-report.ts';

test('a free answer says nothing of how it went', () => {
  expect(selfReportOf('free', 'Status: BLOCKED\n{"status": "FAILED"}')).toBeNull();
});

test('a status line is the last line, as JSON', () => {
  const text =
    'I tried.\n{"status": "FAILED", "reason": "no disk", "cycles": "3", "report": 4}\n\n';
  expect(selfReportOf('status-line', text)).toEqual({
    status: 'FAILED',
    cycles: 3,
    reason: 'no disk',
  });
  expect(selfReportOf('status-line', '{"status": "OK"}\nand more')).toBeNull();
  expect(selfReportOf('status-line', '{"status": 1}')).toBeNull();
  expect(selfReportOf('status-line', '{"status"')).toBeNull();
});

test('a status word has its summary and concerns beside it', () => {
  const text = [
    'Everything is in place.',
    '',
    '**Status:** DONE_WITH_CONCERNS',
    '- **Summary:** Added the form',
    '  and its test.',
    'Concerns:',
    '- the session store is in memory',
    '- no rate limit',
    '',
    'Have a nice day.',
  ].join('\n');
  expect(selfReportOf('status-word', text)).toEqual({
    status: 'DONE_WITH_CONCERNS',
    summary: 'Added the form\n  and its test.',
    concerns: '- the session store is in memory\n- no rate limit',
  });
});

test('a blocker or what is missing is the reason', () => {
  const blocked = 'Status: BLOCKED\nBlocker: no database\nMissing: nothing';
  expect(selfReportOf('status-word', blocked)).toEqual({
    status: 'BLOCKED',
    reason: 'no database',
  });
  const asks = 'Status: needs_context\r\nMissing: the API key’s name\r\n';
  expect(selfReportOf('status-word', asks)).toEqual({
    status: 'NEEDS_CONTEXT',
    reason: 'the API key’s name',
  });
});

test.each([
  ['no status at all', 'All done.'],
  ['the list of words, repeated', 'Status: DONE | DONE_WITH_CONCERNS | BLOCKED | NEEDS_CONTEXT'],
  ['a word that is none of them', 'Status: DONEISH'],
  ['a status in the middle of a sentence', 'The status: DONE is what I would say.'],
])('%s is not a status word', (_, text) => {
  expect(selfReportOf('status-word', text)).toBeNull();
});

test('the last status word counts, whatever follows it on its line', () => {
  const text = 'Status: BLOCKED\nThen I found it.\nStatus: DONE (all tests pass)';
  expect(selfReportOf('status-word', text)).toEqual({ status: 'DONE' });
});

test('a completion is the last fenced object with task_completed, though prose follows', () => {
  const text = [
    '```json',
    '{"task_completed": false, "error_message": "the first try"}',
    '```',
    'and then',
    '```json',
    '{',
    '  "task_completed": true, "validation_passed": true,',
    '  "files_created": ["src/a.ts", 7], "files_modified": [],',
    '  "tests_run": 4, "tests_passed": 4, "tests_failed": 0,',
    '  "summary": "Did it", "full_log": "ran ``` x", "error_message": null',
    '}',
    '```',
    'It is committed. An example of something else:',
    '```json',
    '{"other": 1}',
    '```',
  ].join('\n');
  expect(selfReportOf('completion', text)).toEqual({
    status: 'COMPLETED',
    summary: 'Did it',
    validated: true,
    created: ['src/a.ts'],
    modified: [],
    tests: { run: 4, passed: 4, failed: 0 },
    log: 'ran ``` x',
  });
});

test('a completion that says no has failed, and so has one whose validation did not pass', () => {
  const fenced = (value: unknown) => `\`\`\`\n${JSON.stringify(value)}\n\`\`\``;
  const no = fenced({ task_completed: false, error_message: 'no disk' });
  expect(selfReportOf('completion', no)).toEqual({ status: 'FAILED', reason: 'no disk' });
  const red = fenced({ task_completed: true, validation_passed: false });
  expect(selfReportOf('completion', red)).toEqual({ status: 'FAILED', validated: false });
});

test.each([
  ['nothing fenced', 'Done.'],
  ['half an object', '```json\n{"task_completed": true'],
  ['a list', '```json\n[{"task_completed": true}]\n```'],
  ['null', '```json\nnull\n```'],
  ['no yes or no', '```json\n{"task_completed": "yes"}\n```'],
])('%s is no completion', (_, text) => {
  expect(selfReportOf('completion', text)).toBeNull();
});

test('a completion may be the whole answer, and a fence may be left open', () => {
  expect(selfReportOf('completion', '{"task_completed": true}')).toEqual({ status: 'COMPLETED' });
  const open = '~~~json\n{"task_completed": true}';
  expect(selfReportOf('completion', open)).toEqual({ status: 'COMPLETED' });
});

test('what is kept is bounded', () => {
  const long = JSON.stringify({ task_completed: true, summary: 'x'.repeat(10_000) });
  expect(selfReportOf('completion', long)?.summary).toHaveLength(4_000);
});

test('who says that it failed may try again; who is blocked needs a person', () => {
  expect(reportedFailure({ status: 'DONE_WITH_CONCERNS' })).toBeNull();
  expect(reportedFailure({ status: 'COMPLETED' })).toBeNull();
  expect(reportedFailure({ status: 'FAILED' })).toEqual({
    kind: 'transient',
    message: 'The agent reported FAILED: no reason',
  });
  expect(reportedFailure({ status: 'BLOCKED', reason: 'no database' })).toEqual({
    kind: 'permanent',
    message: 'The agent reported BLOCKED: no database',
  });
  expect(reportedFailure({ status: 'NEEDS_CONTEXT', reason: 'a name' })?.kind).toBe('permanent');
});

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { RED } from '../../test/support/runs.ts';
import type { Failure } from '../model/failure.ts';
import { failedBlock } from '../tui/live.ts';
import {
  failedCommand,
  failedCommandLines,
  redGate,
  relevantLines,
  tasksWithFailedCommand,
} from './failed-command.ts';

const SETUP: Failure = {
  kind: 'workspace-failed',
  message: "The workspace's set-up command failed: npm ci",
  command: 'npm ci',
  exitCode: 1,
  output: 'no network\n(exit code 1)',
};

test('command, exit code and lines of a gate, a check and set-up', () => {
  expect(failedCommand(RED, 'login')).toEqual({
    command: 'npm test',
    exit_code: 1,
    lines: ['FAIL test/auth.test.ts', '  expected 200, got 500'],
    logs: 'landfast logs login --gate tests',
  });
  const output = 'hangs\n(ended after 60 s: time limit)';
  const check = { kind: 'checks-failed', message: '', check: 'npm test', exitCode: null, output };
  expect(failedCommandLines(failedCommand(check as Failure, 'a b')!)).toEqual([
    '$ npm test',
    '| hangs',
    '| (ended after 60 s: time limit)',
    "Full output: landfast logs 'a b' --checks",
  ]);
  expect(failedCommand(SETUP, 'a')).toMatchObject({
    lines: ['no network'],
    logs: 'landfast logs a --setup',
  });
  expect(failedCommand({ kind: 'workspace-failed', message: 'no disk' }, 'a')).toBeNull();
  expect(failedCommand({ kind: 'auth', message: 'no' }, 'a')).toBeNull();
});

test('a gate tells it where red counts, and of a publication where its tree is', () => {
  const red = { type: 'gate.finished', task: null, gate: 'tests', tree: 'b'.repeat(40) } as const;
  const end = { ok: false, ms: 1, output: 'no', command: 'npm test', exitCode: 1 };
  expect(redGate({ ...red, ...end })?.logs).toBe(
    'landfast logs --candidate bbbbbbbbbbbb --gate tests',
  );
  expect(redGate({ ...red, ...end, quarantined: true })).toBeNull();
  expect(redGate({ ...red, ...end, ok: true })).toBeNull();
});

test('the newest failure comes first, stays while it is mended, and goes when it is', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  const failing = () => tasksWithFailedCommand(run.state()).map(({ task }) => task.spec.id);
  run.start('a').finish('a').merge('a').gate('a', false, RED.output).reject('a', RED);
  run.start('b').fail('b', SETUP);
  expect(failing()).toEqual(['b', 'a']);
  run.start('c').fail('c', { kind: 'auth', message: 'Not signed in.' });
  run.start('a', 'rework');
  expect(failing()).toEqual(['a', 'b']);
  run.finish('a').land('a');
  expect(failing()).toEqual(['b']);
});

test('the live view shows the newest one in the lines that are left', () => {
  const run = new JournalBuilder([{ id: 'a' }]);
  const output = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n');
  run.start('a').fail('a', { ...SETUP, output });
  const shown = (room: number) => failedBlock(run.state(), room).map(({ text }) => text);
  expect(shown(3)).toEqual([]);
  expect(shown(4)).toEqual([
    '✗ a',
    '  $ npm ci  (exit code 1)',
    '  | line 49',
    '  Full output: landfast logs a --setup',
  ]);
  expect(shown(100)).toHaveLength(18);
});

const passed = (n: number): string[] => Array.from({ length: n }, (_, at) => `  ✔ passes ${at}`);

test('a short output is shown as it is, without blank lines', () => {
  expect(relevantLines('\none\n\n  two\n(exit code 3)\n')).toEqual([
    'one',
    '  two',
    '(exit code 3)',
  ]);
  expect(relevantLines('')).toEqual([]);
});

test('of a long one without a hint the last lines are shown', () => {
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  expect(relevantLines(lines.join('\n'), 3)).toEqual(['line 97', 'line 98', 'line 99']);
  expect(relevantLines(lines.join('\n'))).toHaveLength(15);
});

test('what npm says about a script that failed is left out', () => {
  const output = [
    '',
    '> shop@1.0.0 test',
    '> node --test',
    '',
    'Error: no such table',
    'npm error Lifecycle script `test` failed with error:',
    'npm error code 1',
    'npm error path /tmp/shop',
    'npm error workspace shop@1.0.0',
    'npm error location /tmp/shop',
    'npm error command failed',
    'npm error command sh -c node --test',
    'npm notice New major version of npm available!',
    'npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log',
  ].join('\n');
  expect(relevantLines(output)).toEqual(['Error: no such table']);
});

test('how many tests did not fail is left out', () => {
  const output = '✖ adds\nℹ tests 31\nℹ pass 30\nℹ fail 1\nℹ duration_ms 82.7\n# pass 3';
  expect(relevantLines(output)).toEqual(['✖ adds', 'ℹ fail 1']);
});

test("npm's own failure is shown", () => {
  const output = [
    'npm error code E404',
    'npm error 404 Not Found - GET https://registry.example/lefft-pad - Not found',
    'npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log',
  ];
  expect(relevantLines(output.join('\n'))).toEqual(output.slice(0, 2));
});

test('where nothing but noise was printed, that is shown', () => {
  expect(relevantLines('npm notice nothing else')).toEqual(['npm notice nothing else']);
});

test('the failing assertion is preferred to what was printed after it', () => {
  const output = [
    ...passed(30),
    '  1) the basket',
    '       adds prices:',
    '     AssertionError [ERR_ASSERTION]: 3 == 4',
    '      + expected - actual',
    '      -3',
    '      +4',
    '      at Context.<anonymous> (test/basket.js:7:12)',
    '      at process.processImmediate (node:internal/timers:485:21)',
    '      at run (/work/node_modules/mocha/lib/runner.js:1:1)',
    ...passed(40),
    '  70 passing (2s)',
    '  1 failing',
  ];
  const lines = relevantLines(output.join('\n'));
  expect(lines).toHaveLength(15);
  expect(lines.slice(0, 7)).toEqual([
    '  1) the basket',
    '       adds prices:',
    '     AssertionError [ERR_ASSERTION]: 3 == 4',
    '      + expected - actual',
    '      -3',
    '      +4',
    '      at Context.<anonymous> (test/basket.js:7:12)',
  ]);
  expect(lines.slice(-4)).toEqual(['…', '  ✔ passes 39', '  70 passing (2s)', '  1 failing']);
});

test.each([
  ['pytest', 'E       assert 1 == 2'],
  ['go', '--- FAIL: TestLogin (0.00s)'],
  ['tsc', "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."],
  ['rustc', 'error[E0308]: mismatched types'],
  ['gcc', 'a.c:3:1: error: expected ;'],
  ['TAP', 'not ok 3 - login'],
  ['python', 'Traceback (most recent call last):'],
  ['jest', 'expect(received).toBe(expected)'],
  ['node', 'TypeError: user is undefined'],
])('it knows how a failure of %s begins', (_tool, line) => {
  const lines = relevantLines([...passed(50), line, ...passed(50)].join('\n'));
  expect(lines[2]).toBe(line);
  expect(lines).toHaveLength(15);
});

test('control sequences are gone, and a progress bar shows its last state', () => {
  expect(relevantLines('\x1b[31mred\x1b[0m\x1b]0;title\x07\n10%\r55%\r100% done\r\n')).toEqual([
    'red',
    '100% done',
  ]);
});

test('a long line is cut', () => {
  const [line] = relevantLines('x'.repeat(10_000));
  expect(line).toHaveLength(160);
});

test('ten megabytes are no matter', () => {
  const output = `${'a'.repeat(99)}\n`.repeat(100_000);
  expect(relevantLines(output)).toHaveLength(15);
});

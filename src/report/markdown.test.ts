/** The Markdown report: whole texts, and a hostile one that must not change the structure. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import {
  allSucceeded,
  cancelled,
  conflicted,
  deniedAndOutside,
  hostile,
  interrupted,
  mended,
  publishBlocked,
  redTogether,
  retriedOnce,
} from '../../test/support/runs.ts';
import { NATIVE_CONVENTIONS } from '../model/plan.ts';
import { reportMarkdown } from './markdown.ts';

const INFO = { run: 'r1' };

test('a run that succeeded tells what landed, in order', () => {
  expect(reportMarkdown(allSucceeded().state(), INFO)).toMatchInlineSnapshot(`
    "# accounts

    All 3 tasks succeeded; main is at 000accc.

    - **Started:** 2026-07-01T12:00:00.000Z
    - **Finished:** 2026-07-01T12:00:54.000Z
    - **Duration:** 54 s
    - **Run:** \`r1\`
    - **Cost:** $0.75
    - **Target:** \`main\`
    - **Head:** \`000accc\`

    ## Results

    - ✓ 3 succeeded
    - ✗ 0 failed
    - ⊘ 0 skipped

    | Task | Agent | Status | Duration | Retries | Failure |
    | --- | --- | --- | --- | --- | --- |
    | users | claude | ✓ succeeded | 13 s | 0 | — |
    | login | developer | ✓ succeeded | 13 s | 0 | — |
    | docs | claude | ✓ succeeded | 13 s | 0 | — |

    ## What landed, in order

    1. \`users\` as \`0004ccc\`, 1 file
    2. \`login\` as \`0007ccc\`, 1 file
    3. \`docs\` as \`000accc\`, 1 file

    Published to \`main\` at \`000accc\`. The checkout was updated.

    ## Gates

    | Task | Gate | Verdict | Duration | Tree |
    | --- | --- | --- | --- | --- |
    | users | tests | ✓ green | 3.2 s | 0003ccc |
    | login | tests | ✓ green | 3.2 s | 0006ccc |
    | docs | tests | ✓ green | 3.2 s | 0009ccc |
    "
  `);
});

test('a red combination names both halves, the gate, the branch and the next command', () => {
  expect(reportMarkdown(redTogether().state(), INFO)).toMatchInlineSnapshot(`
    "# accounts

    1 of 3 tasks failed, 1 skipped, 1 succeeded; main is at 0004ccc.

    - **Started:** 2026-07-01T12:00:00.000Z
    - **Finished:** 2026-07-01T12:00:22.000Z
    - **Duration:** 22 s
    - **Run:** \`r1\`
    - **Cost:** $0.75
    - **Target:** \`main\`
    - **Head:** \`0004ccc\`

    ## Results

    - ✓ 1 succeeded
    - ✗ 1 failed
    - ⊘ 1 skipped

    | Task | Agent | Status | Duration | Retries | Failure |
    | --- | --- | --- | --- | --- | --- |
    | users | claude | ✓ succeeded | 3.0 s | 0 | — |
    | login | developer | ✗ failed | 3.0 s | 0 | gate-failed |
    | docs | claude | ⊘ skipped | — | — | dependency-failed |

    ## What landed, in order

    1. \`users\` as \`0004ccc\`, 1 file

    Published to \`main\` at \`0004ccc\`. The checkout was updated.

    ## What went wrong and what to do

    ### \`login\`: gate-failed

    Gate tests is red on the combination.

    **\`login\` is green alone, red together with what landed meanwhile: users** (gate \`tests\`)

    \`\`\`
    $ npm test  (exit code 1)
    | FAIL test/auth.test.ts
    |   expected 200, got 500
    Full output: landfast logs login --gate tests
    \`\`\`

    Its work is kept in its workspace, on the branch \`landfast/r1.login\` (its work has not landed).

    Review the change, fix it on its branch, commit, then resume: your commit becomes the work.

    \`\`\`
    git diff HEAD...landfast/r1.login
    \`\`\`

    ### Resuming

    To retry everything that is not done:

    \`\`\`
    landfast resume r1
    \`\`\`

    ## Gates

    | Task | Gate | Verdict | Duration | Tree |
    | --- | --- | --- | --- | --- |
    | users | tests | ✓ green | 3.2 s | 0003ccc |
    | login | tests | ✗ red | 3.2 s | 0006ccc |
    | login | tests | ✓ green on the work alone | 1.6 s | 0007ccc |

    ## Kept workspaces

    - \`login\` (\`landfast/r1.login\`): its work has not landed
    "
  `);
});

test('a conflict names the files and the merge to make', () => {
  expect(section(conflicted().state(), 'What went wrong')).toMatchInlineSnapshot(`
    "## What went wrong and what to do

    ### \`login\`: conflict

    The work does not merge.

    **\`login\` conflicts with what landed meanwhile: users**

    \`\`\`
    src/app.ts
    \`\`\`

    Its work is kept in its workspace, on the branch \`landfast/r1.login\` (its work has not landed).

    Merge the branch yourself and resolve the conflict, or resume for a new attempt.

    \`\`\`
    git merge landfast/r1.login
    \`\`\`

    ### Resuming

    To retry everything that is not done:

    \`\`\`
    landfast resume r1
    \`\`\`

    "
  `);
});

test('a red gate is not called green alone unless that was verified', () => {
  const state = redTogether().state();
  const login = state.tasks.get('login')!;
  const unchecked = { ...login, gates: login.gates.filter(({ on }) => on !== 'alone') };
  const tasks = new Map([...state.tasks, ['login', unchecked]]);
  const text = reportMarkdown({ ...state, tasks }, INFO);
  expect(text).toContain('**`login` is red together with what landed meanwhile: users**');
});

test('cancelled and interrupted tasks are told apart, and how to go on', () => {
  expect(section(cancelled().state(), 'Results')).toMatchInlineSnapshot(`
    "## Results

    - ✓ 0 succeeded
    - ✗ 0 failed
    - ⊘ 0 skipped
    - ⊘ 3 cancelled

    | Task | Agent | Status | Duration | Retries | Failure |
    | --- | --- | --- | --- | --- | --- |
    | users | claude | ⊘ cancelled | 2.0 s | 0 | cancelled |
    | login | developer | ⊘ cancelled | — | — | cancelled |
    | docs | claude | ⊘ cancelled | — | — | cancelled |

    "
  `);
  expect(section(interrupted().state(), 'Results')).toMatchInlineSnapshot(`
    "## Results

    - ✓ 1 succeeded
    - ✗ 0 failed
    - ⊘ 0 skipped
    - ↩ 2 unfinished

    | Task | Agent | Status | Duration | Retries | Failure |
    | --- | --- | --- | --- | --- | --- |
    | users | claude | ✓ succeeded | 1.0 s | 0 | — |
    | login | developer | ↩ unfinished | 2.0 s | 0 | interrupted |
    | docs | claude | ↩ unfinished | — | — | — |

    "
  `);
  expect(section(interrupted().state(), 'What went wrong')).toMatchInlineSnapshot(`
    "## What went wrong and what to do

    ### \`login\`: interrupted

    The engine was ended.

    Its work is kept in its workspace, on the branch \`landfast/r1.login\`.

    Resuming continues it where it stopped.

    \`\`\`
    landfast resume r1
    \`\`\`

    ### Resuming

    1 task was never started. To retry everything that is not done:

    \`\`\`
    landfast resume r1
    \`\`\`

    "
  `);
});

test('retries are counted', () => {
  expect(section(retriedOnce().state(), 'Results')).toContain(
    '| users | claude | ✓ succeeded | 6.0 s | 1 | — |',
  );
});

test('a blocked publication has its remedy', () => {
  expect(section(publishBlocked().state(), 'What went wrong')).toMatchInlineSnapshot(`
    "## What went wrong and what to do

    ### Publishing

    src/users.ts has changes of yours that are not committed.

    \`\`\`
    git stash && git merge --ff-only landfast/r1 && git stash pop
    \`\`\`

    "
  `);
});

test('denied tools and files outside the scope have their own sections', () => {
  const state = deniedAndOutside().state();
  expect(section(state, 'Denied')).toContain('- `review`: `Bash` 2 times, `WebFetch`');
  expect(section(state, 'Files outside')).toContain('- `users`: `README.md`');
});

test('hostile text breaks neither tables nor fences nor headings', () => {
  const text = reportMarkdown(hostile().state(), INFO);
  const outside = outsideFences(text);
  expect(outside.closed).toBe(true);
  expect(outside.lines.filter((line) => /^#+ /.test(line)).map(level)).toEqual([
    1, 2, 2, 3, 3, 3, 2, 2, 2, 2,
  ]);
  const rows = outside.lines.filter((line) => line.startsWith('|'));
  expect(rows.map((row) => row.match(/(?<!\\)\|/g)?.length)).toEqual([7, 7, 7, 6, 6, 6]);
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  expect(outside.lines.filter((line) => /(?<![\\`])<b>/.test(codeless(line)))).toEqual([]);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(5000);
});

test.each(['# head', '- item', '1. one', '> quote', '---', '=== x', '<p>', '+ x', '[a]: b'])(
  'a message that begins like Markdown stays a sentence: %s',
  (message) => {
    const state = publishBlocked().add({ type: 'publish.blocked', why: message, remedy: 'x' });
    const line = reportMarkdown(state.state(), INFO)
      .split('\n')
      .find((text) => text.replaceAll('\\', '') === message);
    expect(line).toContain('\\');
  },
);

function section(state: ReturnType<ReturnType<typeof hostile>['state']>, title: string): string {
  const sections = reportMarkdown(state, INFO).split(/^(?=## )/m);
  return sections.find((text) => text.startsWith(`## ${title}`)) ?? 'no such section';
}

/** Lines that a Markdown reader takes as text, by the rules for fences of CommonMark. */
function outsideFences(text: string): { lines: string[]; closed: boolean } {
  const lines: string[] = [];
  let open: number | null = null;
  for (const line of text.split('\n')) {
    const marks = /^ {0,3}(`{3,})([^`]*)$/.exec(line);
    const length = marks?.[1]?.length ?? 0;
    if (open === null && marks) open = length;
    else if (open !== null && length >= open && marks?.[2]?.trim() === '') open = null;
    else if (open === null) lines.push(line);
  }
  return { lines, closed: open === null };
}

function level(heading: string): number {
  return heading.indexOf(' ');
}

function codeless(line: string): string {
  return line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
}

test('work that was sent back and landed in the end is told as caught, not as trouble', () => {
  const report = reportMarkdown(mended().state(), INFO);
  expect(report).toContain('## What was caught before it landed\n\n### `login`: gate-failed');
  expect(report).toContain('red together with what landed meanwhile: users');
  expect(report).toContain('Attempt 1 was sent back; attempt 2 landed.');
  expect(report).not.toContain('What went wrong');
});

test('what agents said of their work is told with their concerns', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  const status = { status: 'DONE_WITH_CONCERNS', summary: 'Added *it*', concerns: 'no limit' };
  run.start('a').finish('a', { status }).start('b').finish('b').start('c');
  run.finish('c', { status: { status: 'COMPLETED' } });
  const text = reportMarkdown(run.state(), { run: 'r1' });
  expect(text).toContain(
    [
      '## What agents reported',
      '',
      '- `a`: `DONE_WITH_CONCERNS`; Added \\*it\\*; **Concerns:** no limit',
      '- `c`: `COMPLETED`',
    ].join('\n'),
  );
});

test('users of parallel-orchestra know tasks that were done before as resumed', () => {
  const failure = { kind: 'transient', message: 'It broke.' } as const;
  const conventions = { ...NATIVE_CONVENTIONS, summary: 'lines' } as const;
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }], { conventions });
  run.start('a').finish('a').land('a').start('b').fail('b', failure).giveUp('b', failure);
  run.end('failed').add({ type: 'run.resumed', retry: ['b'] });
  run.start('b').finish('b').land('b').publish().end('succeeded');
  const lines = reportMarkdown(run.state(), INFO).split('\n');
  expect(lines.filter((line) => /^- [✓✗⊘↩]|^\| [ab] \| claude/.test(line))).toEqual([
    '- ✓ 1 succeeded',
    '- ✗ 0 failed',
    '- ⊘ 0 skipped',
    '- ↩ 1 resumed',
    '| a | claude | ↩ resumed | — | — | — |',
    '| b | claude | ✓ succeeded | 2.0 s | 0 | — |',
  ]);
});

/** What settled a conflict is told wherever a run is told of. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { reportJson } from './json.ts';
import { reportMarkdown } from './markdown.ts';
import { statusJson, statusText } from './status.ts';

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
    'Settled in a: src/a.ts resolved as in run r0, package-lock.json made anew by npm install\n',
  );
  expect(statusJson(run().state(), info).tasks.map(({ settled }) => settled)).toEqual([FILES, []]);
});

test('so do the reports', () => {
  const state = run().end('interrupted').state();
  expect(reportMarkdown(state, { run: 'r1' })).toContain(
    [
      '## Conflicts that were settled without asking anybody',
      '',
      '- `a`: `src/a.ts` resolved as in run r0, `package-lock.json` made anew by npm install\n',
    ].join('\n'),
  );
  const told = reportJson(state, { run: 'r1' }).tasks.map(({ settled }) => settled);
  expect(told).toEqual([FILES, []]);
});

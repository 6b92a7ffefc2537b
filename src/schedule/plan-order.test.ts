/** Whose turn it is to land, where a plan's own order counts. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { decide } from './decide.ts';

const AGENTS = () => ({ resume: true, prose: true });
const landing = {
  strategy: 'merge',
  verify: 'off',
  onConflict: 'fail',
  onGateFailure: 'fail',
  onSemantic: 'agent',
  reworks: 0,
  publish: 'end',
  order: 'plan',
} as const;

/** The tasks whose merge begins next. */
function merging(journal: JournalBuilder): readonly string[] {
  return decide(journal.state(), journal.state().at, AGENTS).decisions.flatMap(({ record }) =>
    record.type === 'merge.started' ? [record.task] : [],
  );
}

test('work waits for a task further up that is not over, and lands once it is', () => {
  const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }], { landing });
  journal.start('a').start('b').finish('b');
  expect(merging(journal)).toEqual([]);
  journal.finish('a');
  expect(merging(journal)).toEqual(['a']);
  journal.land('a');
  expect(merging(journal)).toEqual(['b']);
});

test('what a task needs lands before it, wherever the plan names it', () => {
  const journal = new JournalBuilder([{ id: 'a', needs: ['c'] }, { id: 'b' }, { id: 'c' }], {
    landing,
  });
  journal.start('b').start('c').finish('b').finish('c');
  expect(merging(journal)).toEqual(['c']);
});

test('a task that waits for a scope to be free keeps no other task waiting', () => {
  const writes = ['src/**'];
  const journal = new JournalBuilder(
    [
      { id: 'a', writes },
      { id: 'b', writes },
    ],
    { landing },
  );
  journal.start('b').finish('b');
  expect(merging(journal)).toEqual(['b']);
});

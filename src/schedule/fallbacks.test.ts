import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { decide } from './decide.ts';

const agents = () => ({ resume: true, prose: true });
const RED: Failure = { kind: 'checks-failed', message: 'Red.', check: 'npm test', output: '' };
const AUTH: Failure = { kind: 'auth', message: 'Not logged in.' };
const SMALL = { agent: 'claude', model: 'haiku' };
const CODEX = { agent: 'codex' };

const planned = (retries = 0) =>
  new JournalBuilder([{ id: 'a', retries, fallbacks: [SMALL, CODEX] }]);

/** What is recorded and performed next. */
function next(journal: JournalBuilder): unknown {
  return decide(journal.state(), journal.state().at + 1_000_000, agents).decisions[0];
}

function startBy(journal: JournalBuilder, by: typeof CODEX, attempt: number): JournalBuilder {
  const start = { kind: 'continue', session: null } as const;
  return journal.add({ type: 'attempt.started', task: 'a', attempt, base: null, start, by });
}

test('when its retries are used up the next in the list goes on, told who tried before', () => {
  const journal = planned().start('a').use('a', 1).fail('a', RED);
  const start = { kind: 'continue', session: null };
  expect(next(journal)).toMatchObject({
    record: { type: 'attempt.started', attempt: 2, by: SMALL, start },
    perform: {
      by: SMALL,
      before: RED,
      tried: [{ by: { agent: 'claude' }, times: 1, failure: RED }],
    },
  });
});

test('each has retries of its own, and the task fails when the last has none left', () => {
  const journal = planned(1).start('a').fail('a', RED).start('a').fail('a', RED);
  for (const attempt of [3, 4]) {
    expect(next(journal)).toMatchObject({ record: { by: SMALL } });
    startBy(journal, SMALL, attempt).add(failed(attempt));
  }
  for (const attempt of [5, 6]) {
    expect(next(journal)).toMatchObject({ record: { by: CODEX } });
    startBy(journal, CODEX, attempt).add(failed(attempt));
  }
  expect(next(journal)).toMatchObject({ record: { type: 'task.failed', failure: RED } });
});

test('an agent without a login is passed over, whatever its model', () => {
  expect(next(planned(5).start('a').fail('a', AUTH))).toMatchObject({ record: { by: CODEX } });
});

test('whoever retries the task begins with the first choice again, in a new session', () => {
  const journal = planned().start('a').fail('a', RED);
  startBy(journal, SMALL, 2).use('a', 1).add(failed(2));
  journal.add({ type: 'task.retried', task: 'a', fresh: false });
  const start = { kind: 'continue', session: null };
  expect(next(journal)).toMatchObject({ record: { type: 'attempt.started', start } });
  expect(next(journal)).not.toHaveProperty('record.by');
});

function failed(attempt: number) {
  return { type: 'attempt.failed', task: 'a', attempt, failure: RED, exitCode: 1 } as const;
}

import { describe, expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { decide, waitsOf } from './decide.ts';

const agents = () => ({ resume: true, prose: true });
const AUTH: Failure = { kind: 'auth', message: 'Not logged in.' };
const LIMIT: Failure = { kind: 'rate-limited', message: 'Limit reached.' };
const MINUTE = 60_000;

function facts(journal: JournalBuilder, now: number): readonly string[] {
  return decide(journal.state(), now, agents).decisions.map(({ record }) =>
    'task' in record ? `${record.type} ${record.task}` : record.type,
  );
}

const three = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c', agent: 'codex' }]);

test('a retry that waits holds no slot and says when to look again', () => {
  const limits = { workers: 1, gates: 1, groups: {} };
  const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }], { limits });
  journal.start('a').fail('a', { kind: 'transient', message: 'Overloaded.' });
  const { at } = journal.state();
  expect(facts(journal, at)).toEqual(['attempt.started b']);
  const wait = waitsOf(journal.state(), at, agents).get('a');
  const due = wait?.kind === 'retry' ? wait.until : 0;
  expect(due).toBeGreaterThanOrEqual(at + 1_000);
  expect(decide(journal.state(), at, agents).wakeAt).toBe(due);
  expect(facts(journal, due)).toEqual(['attempt.started a']);
});

describe('an agent without a login', () => {
  const refused = () => three().start('a').fail('a', AUTH);

  test('is not used any more, while others go on', () => {
    const journal = refused();
    const { at } = journal.state();
    expect(facts(journal, at)).toEqual(['attempt.started c']);
    const wait = { kind: 'refusal', agent: 'claude', why: 'auth' };
    expect(waitsOf(journal.state(), at, agents)).toEqual(
      new Map([
        ['a', wait],
        ['b', wait],
      ]),
    );
  });

  test('fails its tasks when nothing else is left to do, each with the reason', () => {
    const journal = refused().start('c');
    expect(facts(journal, journal.state().at)).toEqual([]);
    journal.finish('c').land('c').add({ type: 'workspace.released', task: 'c' });
    journal.add({ type: 'workspace.removed', task: 'c' });
    const { decisions } = decide(journal.state(), journal.state().at, agents);
    const message = 'Not started: claude could not be used (task a): Not logged in.';
    expect(decisions.map(({ record }) => record)).toEqual([
      { type: 'task.failed', task: 'a', failure: AUTH },
      { type: 'task.failed', task: 'b', failure: { kind: 'auth', message } },
    ]);
  });

  test('is tried again when somebody retries a task of it, or resumes the run', () => {
    const retried = refused().start('c').add({ type: 'task.retried', task: 'a', fresh: false });
    expect(facts(retried, retried.state().at)).toEqual(['attempt.started a', 'attempt.started b']);
    const resumed = refused().start('c').add({ type: 'run.resumed', retry: [] });
    expect(facts(resumed, resumed.state().at)).toEqual(['attempt.started a', 'attempt.started b']);
  });
});

describe('an agent at its limit', () => {
  test('waits with all of its tasks for a known reset, also in the next engine', () => {
    const journal = three();
    const until = journal.state().at + 90 * MINUTE;
    journal
      .start('c')
      .start('a')
      .use('a', 1)
      .fail('a', { ...LIMIT, retryAt: until });
    journal.add({ type: 'run.resumed', retry: [] });
    const wait = { kind: 'limit', agent: 'claude', until };
    expect(decide(journal.state(), until - 1, agents)).toEqual({ decisions: [], wakeAt: until });
    expect(waitsOf(journal.state(), until - 1, agents)).toEqual(
      new Map([
        ['a', wait],
        ['b', wait],
      ]),
    );
    const { decisions } = decide(journal.state(), until, agents);
    expect(decisions.map(({ record }) => record)).toMatchObject([
      { task: 'a', start: { kind: 'continue', session: 'session-of-a' } },
      { task: 'b', start: { kind: 'fresh' } },
    ]);
  });

  test('is tried by one task after longer and longer pauses, until that got through', () => {
    const journal = three().start('c').start('a').start('b').fail('a', LIMIT);
    const hit = journal.state().at;
    journal.fail('b', LIMIT);
    const due = hit + MINUTE;
    expect(decide(journal.state(), due - 1, agents).wakeAt).toBe(due);
    expect(facts(journal, due)).toEqual(['attempt.started a']);
    journal.wait(2 * MINUTE).start('a');
    const probe = { kind: 'probe', agent: 'claude', task: 'a' };
    expect(waitsOf(journal.state(), due, agents)).toEqual(new Map([['b', probe]]));
    journal.fail('a', LIMIT);
    const again = journal.state().at;
    expect(decide(journal.state(), again, agents).wakeAt).toBe(again + 5 * MINUTE);
    journal
      .wait(6 * MINUTE)
      .start('a')
      .use('a', 1);
    expect(facts(journal, journal.state().at)).toEqual(['attempt.started b']);
  });
});

import { describe, expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import type { Failure, FailureKind } from '../model/failure.ts';
import type { LandingSpec, TaskSpec } from '../model/plan.ts';
import { type Capabilities, type Next, nextAfter } from './next-attempt.ts';

const TALKER: Capabilities = { resume: true, prose: true };
const FORGETFUL: Capabilities = { resume: false, prose: true };
const SCRIPT: Capabilities = { resume: false, prose: false };

const LANDING: LandingSpec = {
  strategy: 'merge',
  verify: 'each',
  onConflict: 'agent',
  onGateFailure: 'agent',
  onSemantic: 'agent',
  reworks: 1,
  publish: 'end',
};

const message = 'It went wrong.';
const OF_KIND: { readonly [K in FailureKind]: Failure & { kind: K } } = {
  transient: { kind: 'transient', message },
  'exit-code': { kind: 'exit-code', message },
  auth: { kind: 'auth', message },
  billing: { kind: 'billing', message },
  budget: { kind: 'budget', message },
  turns: { kind: 'turns', message },
  schema: { kind: 'schema', message },
  stuck: { kind: 'stuck', message },
  'session-lost': { kind: 'session-lost', message },
  permanent: { kind: 'permanent', message },
  skipped: { kind: 'skipped', message },
  cancelled: { kind: 'cancelled', message },
  interrupted: { kind: 'interrupted', message },
  revision: { kind: 'revision', message },
  'no-change': { kind: 'no-change', message },
  'commit-failed': { kind: 'commit-failed', message },
  'workspace-failed': { kind: 'workspace-failed', message },
  'rate-limited': { kind: 'rate-limited', message },
  'idle-timeout': { kind: 'idle-timeout', message, afterMs: 1 },
  'total-timeout': { kind: 'total-timeout', message, afterMs: 1 },
  'out-of-scope': { kind: 'out-of-scope', message, files: ['x'] },
  'checks-failed': { kind: 'checks-failed', message, check: 'npm test', output: '' },
  'gate-failed': { kind: 'gate-failed', message, gate: 'tests', output: '', landedSince: [] },
  semantic: { kind: 'semantic', message, clashes: [], landedSince: [] },
  conflict: { kind: 'conflict', message, files: ['x'], landedSince: [] },
  'push-failed': { kind: 'push-failed', message, remote: 'origin', branch: 'b' },
  'dependency-failed': { kind: 'dependency-failed', message, dependency: 'b' },
};

/** A number from `ms` to a quarter more. */
const spread = (ms: number, after = 0): unknown => ({
  asymmetricMatch: (value: number) => value >= after + ms && value <= after + ms * 1.25,
});

const KINDS = Object.keys(OF_KIND) as FailureKind[];

/** What follows the last stop of task `a`. */
function next(journal: JournalBuilder, agent: Capabilities, landing = LANDING): Next {
  const task = journal.state().tasks.get('a')!;
  if (task.status.kind !== 'stopped') throw new Error(`a is ${task.status.kind}`);
  const { by: _, ...then } = { by: null, ...nextAfter(task, task.status, landing, () => agent) };
  return then as Next;
}

/** A journal in which `a` failed like this, one attempt after the other. */
function failed(failures: readonly Failure[], retries = 2): JournalBuilder {
  const journal = new JournalBuilder([{ id: 'a', retries }]);
  for (const failure of failures) journal.start('a').fail('a', failure);
  return journal;
}

function pauses(agent: Capabilities, retries: number): Readonly<Record<string, number | null>> {
  const at = START + 2_000;
  const pauseOf = (kind: FailureKind): number | null => {
    const then = next(failed([OF_KIND[kind]], retries), agent);
    return then.kind === 'attempt' ? then.at - at : null;
  };
  return Object.fromEntries(KINDS.map((kind) => [kind, pauseOf(kind)]));
}

test('a plan may name its own pauses; they grow to five minutes, or stay at the first', () => {
  const pausesOf = (pauseMs: number, factor?: number) =>
    [1, 2, 3, 4].map((times) => {
      const grows = factor === undefined ? {} : { factor };
      const retry = { pauseMs, session: 'resumed', afterTimeout: false, ...grows } as const;
      const journal = new JournalBuilder([{ id: 'a', retries: 9, retry }]);
      for (let n = 0; n < times; n += 1) journal.start('a').fail('a', OF_KIND.transient);
      const then = next(journal, TALKER);
      return then.kind === 'attempt' ? then.at - START - 2_000 * times : null;
    });
  expect(pausesOf(0, 2)).toEqual([0, 0, 0, 0]);
  expect(pausesOf(5_000)).toEqual([5_000, 5_000, 5_000, 5_000].map((ms) => spread(ms)));
  expect(pausesOf(30_000, 3)).toEqual([30_000, 90_000, 270_000, 300_000].map((ms) => spread(ms)));
  expect(pausesOf(900_000, 2)).toEqual(Array(4).fill(spread(900_000)));
});

const GIVEN_UP = Object.fromEntries(KINDS.map((kind) => [kind, null]));
/** By whatever agent. */
const TRIED_AGAIN = {
  ...GIVEN_UP,
  interrupted: 0,
  revision: 0,
  auth: 0,
  billing: 0,
  'rate-limited': 0,
  transient: spread(1_000),
  'exit-code': spread(1_000),
  'idle-timeout': spread(1_000),
  'workspace-failed': spread(1_000),
  'checks-failed': spread(1_000),
  stuck: spread(1_000),
  'session-lost': spread(1_000),
};

describe('every kind of failure', () => {
  test('an agent that reads prose may make good what it did wrong', () => {
    expect(pauses(TALKER, 1)).toEqual({
      ...TRIED_AGAIN,
      'no-change': spread(1_000),
      'out-of-scope': spread(1_000),
    });
  });

  test('a script is not run again when it would only do the same thing', () => {
    expect(pauses(SCRIPT, 1)).toEqual({
      ...TRIED_AGAIN,
    });
  });

  test('without retries only failures without blame are tried again', () => {
    expect(pauses(TALKER, 0)).toEqual({
      ...GIVEN_UP,
      interrupted: 0,
      revision: 0,
      auth: 0,
      billing: 0,
      'rate-limited': 0,
    });
  });
});

test('retries are counted, and the pause before each is twice as long', () => {
  const { transient, interrupted } = OF_KIND;
  const at = START + 2_000;
  const start = { kind: 'fresh' };
  expect(next(failed([transient]), FORGETFUL)).toEqual({
    kind: 'attempt',
    at: spread(1_000, at),
    start,
  });
  const second = failed([transient, interrupted, transient]);
  expect(next(second, FORGETFUL)).toEqual({
    kind: 'attempt',
    at: spread(2_000, at + 4_000),
    start,
  });
  const third = failed([transient, interrupted, transient, transient]);
  expect(next(third, FORGETFUL)).toEqual({ kind: 'give-up' });
});

test('no pause is longer than five minutes and a quarter', () => {
  const journal = failed(Array<Failure>(20).fill(OF_KIND.transient), 30);
  const at = spread(300_000, START + 40_000);
  expect(next(journal, SCRIPT)).toEqual({ kind: 'attempt', at, start: { kind: 'fresh' } });
});

test('a limit that is hit again and again is given up after twenty times', () => {
  const limits = (times: number): JournalBuilder =>
    failed(Array<Failure>(times).fill(OF_KIND['rate-limited']), 0);
  expect(next(limits(20), SCRIPT)).toMatchObject({ kind: 'attempt' });
  expect(next(limits(21), SCRIPT)).toEqual({ kind: 'give-up' });
});

test('a limit that was only guessed from words uses up a retry', () => {
  const guessed: Failure = { kind: 'rate-limited', message, guessed: true };
  const start = { kind: 'fresh' };
  const at = spread(1_000, START + 2_000);
  expect(next(failed([guessed], 1), SCRIPT)).toEqual({ kind: 'attempt', at, start });
  expect(next(failed([guessed, guessed], 1), SCRIPT)).toEqual({ kind: 'give-up' });
});

test('a session is gone on with where the agent can, else the attempt begins afresh', () => {
  const journal = new JournalBuilder([{ id: 'a' }]);
  journal.start('a').use('a', 0.1).fail('a', OF_KIND.interrupted);
  const at = START + 4_000;
  const session = 'session-of-a';
  const goesOn = { kind: 'attempt', at, start: { kind: 'continue', session } };
  expect(next(journal, TALKER)).toEqual(goesOn);
  expect(next(journal, FORGETFUL)).toEqual({ kind: 'attempt', at, start: { kind: 'fresh' } });
});

test('tasks that failed together do not come back together, and always at the same times', () => {
  const pauseOf = (id: string): number => {
    const journal = new JournalBuilder([{ id }]).start(id).fail(id, OF_KIND.transient);
    const task = journal.state().tasks.get(id)!;
    if (task.status.kind !== 'stopped') throw new Error(task.status.kind);
    const then = nextAfter(task, task.status, LANDING, () => TALKER);
    return then.kind === 'attempt' ? then.at - task.status.at : 0;
  };
  const ids = ['users', 'login', 'mail', 'search'];
  expect(new Set(ids.map(pauseOf)).size).toBe(4);
  expect(ids.map(pauseOf)).toEqual(ids.map(pauseOf));
});

describe('a session that fails twice in the same way', () => {
  const red = OF_KIND['checks-failed'];
  const twice = (first: Failure, second: Failure): JournalBuilder => {
    const journal = new JournalBuilder([{ id: 'a', retries: 5 }]);
    journal.start('a').use('a', 0.1).fail('a', first);
    return journal.start('a', 'continue').fail('a', second);
  };

  test('is left: the next attempt goes on with the work in a new one', () => {
    const journal = twice(red, red);
    expect(next(journal, TALKER)).toMatchObject({ start: { kind: 'continue', session: null } });
    const start = { kind: 'continue', session: null } as const;
    journal.add({ type: 'attempt.started', task: 'a', attempt: 3, base: null, start });
    journal.fail('a', red);
    expect(next(journal, TALKER)).toMatchObject({ start });
  });

  test('is gone on with after different failures, and after what it is not to blame for', () => {
    const start = { kind: 'continue', session: 'session-of-a' };
    expect(next(twice(OF_KIND['no-change'], red), TALKER)).toMatchObject({ start });
    const { interrupted, 'rate-limited': limit } = OF_KIND;
    expect(next(twice(interrupted, interrupted), TALKER)).toMatchObject({ start });
    expect(next(twice(limit, limit), TALKER)).toMatchObject({ start });
  });
});

test('failures from before the run was resumed are forgiven', () => {
  const { transient } = OF_KIND;
  const journal = failed([transient, transient, transient]);
  journal
    .giveUp('a', transient)
    .end('failed')
    .add({ type: 'run.resumed', retry: ['a'] });
  journal.start('a').fail('a', transient);
  const at = spread(1_000, START + 11_000);
  expect(next(journal, SCRIPT)).toEqual({ kind: 'attempt', at, start: { kind: 'fresh' } });
});

describe('work that did not land', () => {
  const rejected = (failure: Failure): JournalBuilder =>
    new JournalBuilder([{ id: 'a', retries: 0 }])
      .start('a')
      .use('a', 0.1)
      .finish('a')
      .merge('a')
      .reject('a', failure);
  const commit = '0002'.padEnd(40, 'c');
  const at = START + 6_000;

  test.each(['conflict', 'gate-failed'] as const)('goes back to its agent: %s', (kind) => {
    const rework = (session: string | null) => {
      return { kind: 'attempt', at, start: { kind: 'rework', session, commit } };
    };
    expect(next(rejected(OF_KIND[kind]), TALKER)).toEqual(rework('session-of-a'));
    expect(next(rejected(OF_KIND[kind]), SCRIPT)).toEqual(rework(null));
  });

  test('goes back only where the plan says so', () => {
    const onConflict = { ...LANDING, onConflict: 'fail' } as const;
    const onGateFailure = { ...LANDING, onGateFailure: 'fail' } as const;
    const giveUp = { kind: 'give-up' };
    expect(next(rejected(OF_KIND.conflict), TALKER, onConflict)).toEqual(giveUp);
    expect(next(rejected(OF_KIND['gate-failed']), TALKER, onGateFailure)).toEqual(giveUp);
  });

  test('goes back as often as the plan allows', () => {
    const journal = rejected(OF_KIND.conflict).start('a', 'rework').finish('a').merge('a');
    journal.reject('a', OF_KIND['gate-failed']);
    expect(next(journal, TALKER)).toEqual({ kind: 'give-up' });
    const twice = next(journal, TALKER, { ...LANDING, reworks: 2 });
    expect(twice).toMatchObject({ kind: 'attempt', start: { kind: 'rework' } });
  });

  test('goes back because of names where the plan says so', () => {
    const journal = rejected(OF_KIND.semantic);
    expect(next(journal, TALKER)).toMatchObject({ kind: 'attempt', start: { kind: 'rework' } });
    const fail = { ...LANDING, onSemantic: 'fail' } as const;
    expect(next(journal, TALKER, fail)).toEqual({ kind: 'give-up' });
  });

  test('queues again when it has no verdict', () => {
    expect(next(rejected(OF_KIND.interrupted), TALKER)).toEqual({ kind: 'queue' });
  });

  test('is given up for every other reason', () => {
    const others = KINDS.filter(
      (kind) => !['conflict', 'gate-failed', 'semantic', 'interrupted', 'revision'].includes(kind),
    );
    const kinds = others.map((kind) => next(rejected(OF_KIND[kind]), TALKER).kind);
    expect(kinds).toEqual(others.map(() => 'give-up'));
  });
});

describe('a task that says how it is tried again', () => {
  const retry = { pauseMs: 5_000, session: 'resumed', afterTimeout: true } as const;
  const stopped = (spec: Partial<TaskSpec>, failure: Failure): JournalBuilder =>
    new JournalBuilder([{ id: 'a', retries: 1, ...spec }])
      .start('a')
      .use('a', 1)
      .fail('a', failure);

  test('waits as long as it says, also after it ran out of its whole time', () => {
    const journal = stopped({ retry }, OF_KIND['total-timeout']);
    const at = spread(5_000, journal.state().at);
    const start = { kind: 'continue', session: 'session-of-a' };
    expect(next(journal, TALKER)).toEqual({ kind: 'attempt', at, start });
    const again = journal.start('a', 'continue');
    expect(next(again.fail('a', OF_KIND['total-timeout']), TALKER)).toEqual({ kind: 'give-up' });
  });

  test('goes on in the same workspace with a new session where it wants that', () => {
    const journal = stopped({ retry: { ...retry, session: 'new' } }, OF_KIND.transient);
    expect(next(journal, TALKER)).toMatchObject({ start: { kind: 'continue', session: null } });
    const script = stopped({ retry: { ...retry, session: 'new' } }, OF_KIND.transient);
    expect(next(script, SCRIPT)).toMatchObject({ start: { kind: 'fresh' } });
  });
});

/** Runs of every kind, told as journals: what reports and views are tested with. */

import type { Failure } from '../../src/model/failure.ts';
import { type LandingSpec, NATIVE_CONVENTIONS } from '../../src/model/plan.ts';
import { JournalBuilder, planOf, type TaskInput } from './journal-builder.ts';

const TRIO: readonly TaskInput[] = [
  { id: 'users' },
  { id: 'login', needs: ['users'], role: 'developer', checks: ['npm test -- auth'] },
  { id: 'docs', needs: ['login'] },
];

export const RED: Failure & { kind: 'gate-failed' } = {
  kind: 'gate-failed',
  message: 'Gate tests is red on the combination.',
  gate: 'tests',
  command: 'npm test',
  exitCode: 1,
  output: 'FAIL test/auth.test.ts\n  expected 200, got 500\n(exit code 1)',
  landedSince: ['users'],
};

export const CONFLICT: Failure = {
  kind: 'conflict',
  message: 'The work does not merge.',
  files: ['src/app.ts'],
  landedSince: ['users'],
};

const INTERRUPTED: Failure = { kind: 'interrupted', message: 'The engine was ended.' };

/** Three tasks, one after the other, all landed and published. */
export function allSucceeded(): JournalBuilder {
  const run = new JournalBuilder(TRIO);
  for (const { id } of TRIO) run.start(id).use(id, 0.25).wait(10_000).finish(id).land(id);
  return run.publish().end('succeeded');
}

/** A rate limit, then the same session succeeds. */
export function retriedOnce(): JournalBuilder {
  return new JournalBuilder([{ id: 'users' }])
    .start('users')
    .use('users', 0.1)
    .fail('users', { kind: 'rate-limited', message: 'Too many requests.' })
    .wait(2000)
    .start('users', 'continue')
    .use('users', 0.2)
    .finish('users')
    .land('users')
    .publish()
    .end('succeeded');
}

/** login conflicts with what landed, so docs never starts. */
export function conflicted(input: { readonly conflictExit?: 1 | 3 } = {}): JournalBuilder {
  const run = new JournalBuilder(TRIO, {
    conventions: {
      ...NATIVE_CONVENTIONS,
      commitMessage: '{task}',
      mergeMessage: '{task}',
      conflictExit: input.conflictExit ?? 1,
    },
  });
  return rejected(run, CONFLICT);
}

/** login passed its own checks, but the combination is red. */
export function redTogether(): JournalBuilder {
  return rejected(new JournalBuilder(TRIO), RED);
}

/** login is red together with users, goes back to its agent, and everything lands. */
export function mended(): JournalBuilder {
  const run = new JournalBuilder(TRIO);
  run.start('users').finish('users').land('users');
  run.start('login').finish('login').merge('login').gate('login', false, RED.output);
  run.reject('login', RED).start('login', 'rework').finish('login').land('login');
  return run.start('docs').finish('docs').land('docs').publish().end('succeeded');
}

function rejected(run: JournalBuilder, failure: Failure): JournalBuilder {
  run.start('users').use('users', 0.25).finish('users').land('users');
  run.start('login').use('login', 0.5).finish('login').merge('login');
  if (failure.kind === 'gate-failed') {
    run.gate('login', false, failure.output).greenAlone('login');
  }
  return run
    .reject('login', failure)
    .giveUp('login', failure)
    .skip('docs', 'login')
    .keep('login', 'its work has not landed')
    .publish()
    .end('failed');
}

/** The run was cancelled while users was running. */
export function cancelled(): JournalBuilder {
  const failure: Failure = { kind: 'cancelled', message: 'Cancelled; its work so far is kept.' };
  const run = new JournalBuilder(TRIO)
    .start('users')
    .add({ type: 'run.stopping', mode: 'cancel', why: 'landfast cancel' })
    .fail('users', failure, { exitCode: null });
  for (const { id } of TRIO) run.giveUp(id, failure);
  return run.keep('users', 'its work has not landed').end('cancelled');
}

/** Ctrl-C twice while login was running. */
export function interrupted(): JournalBuilder {
  return new JournalBuilder(TRIO)
    .start('users')
    .finish('users')
    .land('users')
    .start('login')
    .add({ type: 'run.stopping', mode: 'end', why: 'SIGINT' })
    .fail('login', INTERRUPTED, { exitCode: null })
    .end('interrupted');
}

/** All is good, but the user's changes are in the way of the target branch. */
export function publishBlocked(): JournalBuilder {
  return new JournalBuilder([{ id: 'users' }])
    .start('users')
    .finish('users')
    .land('users')
    .add({ type: 'publish.started', head: 'a'.repeat(40) })
    .add({
      type: 'publish.blocked',
      why: 'src/users.ts has changes of yours that are not committed.',
      remedy: 'git stash && git merge --ff-only landfast/r1 && git stash pop',
    })
    .end('failed');
}

/** A read task that was refused tools, and a write task that went beside its scope. */
export function deniedAndOutside(): JournalBuilder {
  return new JournalBuilder([
    { id: 'review', mode: 'read' },
    { id: 'users', writes: ['src/**'], outside: 'report' },
  ])
    .start('review')
    .deny('review', 'Bash')
    .deny('review', 'Bash')
    .deny('review', 'WebFetch')
    .finish('review', { commit: null, files: [] })
    .start('users')
    .finish('users', { outside: ['README.md'] })
    .land('users')
    .publish()
    .end('succeeded');
}

export const HOSTILE =
  '\x1b[31mred\x1b]0;title\x07 \x9b2J | pipe ``` `````\n# head\r\n<b> \u202etfel';

/** Everything that comes from outside is as bad as it can be. */
export function hostile(): JournalBuilder {
  const id = `a|b\`\x1b[2J${'x'.repeat(30)}`;
  const long = `${HOSTILE}${'y'.repeat(10_000)}`;
  return new JournalBuilder([{ id, role: HOSTILE, checks: ['true'] }], { name: HOSTILE })
    .start(id)
    .deny(id, HOSTILE)
    .finish(id, { outside: [HOSTILE], text: long })
    .merge(id)
    .gate(id, false, long, HOSTILE)
    .reject(id, { ...RED, message: long, gate: HOSTILE, output: `${long}\n\`\`\`\n${HOSTILE}` })
    .giveUp(id, { ...RED, message: long, gate: HOSTILE, output: `${long}\n\`\`\`\n${HOSTILE}` })
    .keep(id, long)
    .add({ type: 'publish.blocked', why: long, remedy: `${HOSTILE}\n\`\`\`\n# out` })
    .end('failed');
}

/** Two tasks whose work stays on its branch; the second one's could not be pushed. */
export function delivered(landing: Partial<LandingSpec>): JournalBuilder {
  const base = planOf([]).landing;
  const run = new JournalBuilder([{ id: 'users' }, { id: 'login' }], {
    landing: { ...base, ...landing },
  });
  run.start('users').finish('users').merge('users').deliver('users', 'origin');
  const branch = 'landfast/r1.login';
  const message = `${branch} could not be pushed to origin: no.`;
  const failure: Failure = { kind: 'push-failed', message, remote: 'origin', branch };
  run.start('login').finish('login').merge('login').reject('login', failure);
  return run.giveUp('login', failure).end('failed');
}

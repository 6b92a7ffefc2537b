import { describe, expect, test } from 'vitest';
import { JournalBuilder, START, type TaskInput } from '../../test/support/journal-builder.ts';
import type { Failure } from '../model/failure.ts';
import { type Decided, decide } from './decide.ts';
import type { Capabilities } from './next-attempt.ts';

const AGENT: Capabilities = { resume: true, prose: true };
const agents = () => AGENT;
const LATER = START + 1_000_000;
const TRANSIENT: Failure = { kind: 'transient', message: 'Overloaded.' };
const INTERRUPTED: Failure = { kind: 'interrupted', message: 'Ended.' };
const CONFLICT: Failure = { kind: 'conflict', message: 'No.', files: ['x'], landedSince: [] };

const sha = (nth: number): string => nth.toString(16).padStart(4, '0').padEnd(40, 'c');

function decided(journal: JournalBuilder, now = LATER): Decided {
  return decide(journal.state(), now, agents);
}

/** The facts that would be recorded, in short: `attempt.started a`. */
function facts(journal: JournalBuilder, now = LATER): readonly string[] {
  return decided(journal, now).decisions.map(({ record }) => {
    const what = 'task' in record ? record.task : 'outcome' in record ? record.outcome : '';
    return `${record.type} ${what}`.trim();
  });
}

const limits = (workers: number, more: object = {}) => {
  return { limits: { workers, gates: 1, groups: {}, ...more } };
};

describe('what starts', () => {
  test('a first attempt begins afresh at the head, recorded before it is performed', () => {
    const start = { kind: 'fresh' };
    const attempt = { task: 'a', attempt: 1, base: sha(1), start };
    expect(decided(new JournalBuilder([{ id: 'a' }]))).toEqual({
      decisions: [
        {
          record: { type: 'attempt.started', ...attempt },
          perform: {
            kind: 'attempt',
            ...attempt,
            before: null,
            heard: [],
            meanwhile: [],
            budgetUsd: null,
          },
        },
      ],
      wakeAt: null,
    });
  });

  test('nothing starts before everything it needs has landed or is done', () => {
    const tasks: readonly TaskInput[] = [
      { id: 'a' },
      { id: 'b', mode: 'read' },
      { id: 'c', needs: ['a', 'b'] },
    ];
    const journal = new JournalBuilder(tasks);
    expect(facts(journal)).toEqual(['attempt.started a', 'attempt.started b']);
    journal.start('a').start('b').finish('a').finish('b', { commit: null });
    expect(facts(journal)).toEqual(['workspace.released b', 'merge.started a']);
    journal.land('a');
    const released = ['workspace.released a', 'workspace.released b'];
    expect(facts(journal)).toEqual([...released, 'attempt.started c']);
  });

  test('a task hears the last words of those it names, also after a resume', () => {
    const tasks = [{ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['a', 'b'], hears: ['b', 'a'] }];
    const journal = new JournalBuilder(tasks).start('a').fail('a', TRANSIENT).start('a');
    journal.finish('a', { text: 'Use v2.' }).land('a').start('b').finish('b', { text: '' });
    journal.land('b').end('interrupted').add({ type: 'run.resumed', retry: [] });
    const heard = decided(journal).decisions.flatMap(({ perform }) =>
      perform?.kind === 'attempt' ? [perform.heard] : [],
    );
    expect(heard).toEqual([
      [
        { task: 'b', text: '' },
        { task: 'a', text: 'Use v2.' },
      ],
    ]);
  });

  test('what unblocks most comes first, and no more run than there are workers', () => {
    const tasks = [{ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['b'] }];
    expect(facts(new JournalBuilder(tasks, limits(1)))).toEqual(['attempt.started b']);
    const busy = new JournalBuilder(tasks, limits(2)).start('b');
    expect(facts(busy)).toEqual(['attempt.started a']);
    expect(facts(busy.start('a'))).toEqual([]);
  });

  test('a group has room for as many as its limit says', () => {
    const tasks = ['a', 'b', 'c'].map((id) => ({ id, group: 'db' }));
    const journal = new JournalBuilder([...tasks, { id: 'd' }], limits(9, { groups: { db: 2 } }));
    expect(facts(journal)).toEqual(['attempt.started a', 'attempt.started b', 'attempt.started d']);
    expect(facts(new JournalBuilder(tasks, limits(9)))).toHaveLength(3);
  });

  test('scopes that meet are worked in one after the other, until the work has landed', () => {
    const tasks = [
      { id: 'a', writes: ['src/**'] },
      { id: 'b', writes: ['src/b.ts'] },
      { id: 'c', writes: ['docs'] },
      { id: 'd' },
    ];
    const journal = new JournalBuilder(tasks);
    expect(facts(journal)).toEqual(['attempt.started a', 'attempt.started c', 'attempt.started d']);
    journal.start('a').start('c').start('d').finish('a');
    expect(facts(journal)).toEqual(['merge.started a']);
    journal.merge('a');
    expect(facts(journal)).toEqual([]);
  });

  test('work whose landing was interrupted still keeps others out of its scope', () => {
    const tasks = [
      { id: 'a', writes: ['src/**'] },
      { id: 'b', writes: ['src/b.ts'] },
    ];
    const journal = new JournalBuilder(tasks).start('a').finish('a').merge('a');
    expect(facts(journal.reject('a', INTERRUPTED))).toEqual(['merge.started a']);
  });

  test('a session goes on where it was; its agent is told what went wrong', () => {
    const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }]);
    journal.start('a').use('a', 1).start('b').finish('b').land('b').fail('a', TRANSIENT);
    const start = { kind: 'continue', session: 'session-of-a' };
    const attempt = { task: 'a', attempt: 2, base: sha(1), start };
    expect(decided(journal).decisions.at(-1)).toEqual({
      record: { type: 'attempt.started', ...attempt },
      perform: {
        kind: 'attempt',
        ...attempt,
        before: TRANSIENT,
        heard: [],
        meanwhile: [],
        budgetUsd: null,
      },
    });
  });

  test('rejected work is worked on again at the head', () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').merge('a');
    const start = { kind: 'rework', session: null, commit: sha(2) };
    expect(decided(journal.reject('a', CONFLICT)).decisions).toMatchObject([
      { record: { type: 'attempt.started', attempt: 2, base: sha(1), start } },
    ]);
  });
});

describe('money', () => {
  test('nothing starts once the budget is spent, but finished work lands', () => {
    const tasks = [{ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['b'] }];
    const journal = new JournalBuilder(tasks, limits(1, { budgetUsd: 1 }));
    journal.start('a').use('a', 1).finish('a');
    expect(facts(journal)).toEqual(['task.failed b', 'task.failed c', 'merge.started a']);
  });

  test('work whose landing was interrupted lands although the budget is spent', () => {
    const journal = new JournalBuilder([{ id: 'a' }], limits(1, { budgetUsd: 1 }));
    journal.start('a').use('a', 1).finish('a').merge('a').reject('a', INTERRUPTED);
    expect(facts(journal)).toEqual(['merge.started a']);
  });
});

describe('landing', () => {
  test('without gates work lands one at a time, told what has landed since its base', () => {
    const tasks = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    const journal = new JournalBuilder(tasks, { gates: [] });
    journal.start('a').start('b').start('c').finish('c').land('c');
    journal.add({ type: 'workspace.released', task: 'c' });
    journal.finish('b').finish('a');
    const [commit, onto] = [sha(6), sha(4)];
    expect(decided(journal).decisions).toEqual([
      {
        record: { type: 'merge.started', task: 'a', attempt: 1, commit, onto },
        perform: {
          ...{ kind: 'merge', task: 'a', commit, onto, base: sha(1), ahead: null },
          ...{ lands: true, landedSince: ['c'], teaches: false },
          credit: { by: { agent: 'claude' }, costUsd: 0 },
        },
      },
    ]);
    expect(facts(journal.merge('a'))).toEqual([]);
  });

  const GATED = {
    gates: [{ name: 'tests', run: 'npm test', timeoutMs: 1 }],
    limits: { workers: 4, gates: 2, groups: {} },
  };

  /** Both have finished; the candidate of `a` is built on the head and is being verified. */
  const verifying = () => {
    const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }], GATED);
    journal.start('a').start('b').finish('a').finish('b').merge('a');
    journal.add({ type: 'candidate.built', task: 'a', commit: 'ca', tree: 'ta' });
    return journal.add({ type: 'candidate.verifying', task: 'a', commit: 'ca' });
  };

  test('the next candidate is built on one that is still being verified', () => {
    expect(decided(verifying()).decisions).toMatchObject([
      {
        record: { type: 'merge.started', task: 'b', onto: 'ca' },
        perform: { kind: 'merge', ahead: 'a', lands: false, landedSince: ['a'] },
      },
    ]);
  });

  test('a green candidate is where the head goes', () => {
    const green = verifying().add({
      type: 'candidate.verified',
      ...{ task: 'a', commit: 'ca', failure: null },
    });
    expect(decided(green).decisions[0]).toEqual({
      record: { type: 'merge.landing', task: 'a', commit: 'ca' },
      perform: {
        ...{ kind: 'land', onto: sha(1), teachers: [] },
        candidates: [{ task: 'a', commit: 'ca' }],
      },
    });
  });

  test('a chain on a head that has gone is withdrawn; what lands already is not', () => {
    const moved = verifying().add({ type: 'run.resumed', retry: [], head: sha(99) });
    expect(facts(moved)).toEqual(['merge.withdrawn a']);
    const stopped = verifying();
    stopped.add({ type: 'candidate.verified', task: 'a', commit: 'ca', failure: null });
    stopped.add({ type: 'merge.landing', task: 'a', commit: 'ca' });
    stopped.add({ type: 'run.stopping', mode: 'end', why: 'Asked for.' });
    expect(facts(stopped)).toEqual([]);
  });

  test('work that conflicts with a candidate ahead waits until that has gone', () => {
    const journal = verifying().merge('b');
    journal.add({ type: 'merge.withdrawn', task: 'b', ahead: 'a', why: 'Conflicts.' });
    expect(facts(journal)).toEqual([]);
    journal.add({ type: 'candidate.verified', task: 'a', commit: 'ca', failure: null });
    journal.add({ type: 'merge.landing', task: 'a', commit: 'ca' });
    journal.add({ type: 'merge.landed', task: 'a', onto: sha(1), commit: 'ca' });
    expect(facts(journal)).toEqual(['workspace.released a', 'merge.started b']);
  });
});

describe('what is over', () => {
  test('a task that has no retry left fails, and with it what needs it', () => {
    const journal = new JournalBuilder([
      { id: 'a', retries: 0 },
      { id: 'b', needs: ['a'] },
    ]);
    journal.start('a').fail('a', TRANSIENT);
    expect(decided(journal).decisions).toEqual([
      { record: { type: 'task.failed', task: 'a', failure: TRANSIENT } },
    ]);
    const message = 'Not started: it needs a, which failed.';
    const failure = { kind: 'dependency-failed', message, dependency: 'a' };
    expect(decided(journal.giveUp('a', TRANSIENT)).decisions).toEqual([
      { record: { type: 'task.failed', task: 'b', failure } },
      {
        record: { type: 'workspace.released', task: 'a' },
        perform: { kind: 'release', task: 'a', succeeded: false, safe: [sha(1)] },
      },
    ]);
  });

  test('a cancelled task fails when nothing of it runs any more', () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a');
    journal.add({ type: 'task.cancelled', task: 'a' });
    expect(facts(journal)).toEqual([]);
    expect(facts(journal.finish('a'))).toEqual(['task.failed a']);
  });
});

describe('the end', () => {
  const landed = () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').land('a');
    journal.add({ type: 'workspace.released', task: 'a' });
    return journal;
  };

  test('is tidied up, then published, then said', () => {
    const journal = landed();
    expect(facts(journal)).toEqual([]);
    journal.add({ type: 'workspace.removed', task: 'a' });
    const [base, head] = [sha(1), sha(4)];
    const works = [{ task: 'a', work: sha(2), onto: base, commit: head }];
    expect(decided(journal).decisions).toEqual([
      {
        record: { type: 'publish.started', head },
        perform: { kind: 'publish', base, head, target: 'main', landed: works, untold: ['a'] },
      },
    ]);
    expect(facts(journal.publish())).toEqual(['run.finished succeeded']);
    expect(decided(journal.end('succeeded'))).toEqual({ decisions: [], wakeAt: null });
  });

  test('is a failure when publishing needs a person', () => {
    const journal = landed().add({ type: 'workspace.removed', task: 'a' });
    journal.add({ type: 'publish.started', head: sha(4) });
    expect(facts(journal)).toEqual([]);
    journal.add({ type: 'publish.blocked', why: 'Changes.', remedy: 'git merge' });
    expect(facts(journal)).toEqual(['run.finished failed']);
  });

  test('publishes nothing where nothing landed', () => {
    const journal = new JournalBuilder([{ id: 'a', mode: 'read' }]).start('a');
    journal.finish('a', { commit: null }).keep('a', 'Asked for.');
    expect(facts(journal)).toEqual(['run.finished succeeded']);
  });
});

describe('stopping', () => {
  const stop = (mode: 'drain' | 'end' | 'cancel') => {
    const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    journal.start('a').finish('a').start('b');
    return journal.add({ type: 'run.stopping', mode, why: 'Asked for.' });
  };

  test('a drain starts nothing, but lets what is finished land', () => {
    const journal = stop('drain');
    expect(facts(journal)).toEqual(['merge.started a']);
    journal.land('a').keep('a', 'Asked for.').fail('b', TRANSIENT);
    expect(facts(journal)).toEqual(['run.finished interrupted']);
  });

  test('an end waits for what it ended, and lands nothing', () => {
    const journal = stop('end');
    expect(facts(journal)).toEqual([]);
    expect(facts(journal.fail('b', INTERRUPTED))).toEqual(['run.finished interrupted']);
  });

  test('a cancellation fails what has not ended', () => {
    const journal = stop('cancel').fail('b', { kind: 'cancelled', message: 'Asked for.' });
    expect(facts(journal)).toEqual(['task.failed a', 'task.failed b', 'task.failed c']);
  });
});

describe('what a person asks for', () => {
  const retry = (task: string, fresh = false) => ({ type: 'task.retried', task, fresh }) as const;
  const PERMANENT: Failure = { kind: 'permanent', message: 'No.' };

  test('a paused run starts nothing, and lets finished work land', () => {
    const journal = new JournalBuilder([{ id: 'a' }, { id: 'b' }]).start('a').finish('a');
    journal.add({ type: 'run.paused', suspended: false });
    expect(facts(journal)).toEqual(['merge.started a']);
    journal.add({ type: 'run.continued' });
    expect(facts(journal)).toEqual(['merge.started a', 'attempt.started b']);
  });

  test('a retried task goes on in its session at once, whatever the policy says', () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a').use('a', 1);
    journal.fail('a', PERMANENT).giveUp('a', PERMANENT).keep('a', 'Work.').add(retry('a'));
    const [first] = decided(journal).decisions;
    expect(first?.record).toMatchObject({
      type: 'attempt.started',
      attempt: 2,
      start: { kind: 'continue', session: 'session-of-a' },
    });
    expect(first?.perform).toMatchObject({ before: PERMANENT });
  });

  test('a retried task may begin anew', () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a').use('a', 1);
    journal.fail('a', TRANSIENT).add(retry('a', true));
    const [first] = decided(journal, START + 5_000).decisions;
    expect(first?.record).toMatchObject({ attempt: 2, start: { kind: 'fresh' } });
  });

  test('a retried task waits until its workspace is out of the way', () => {
    const journal = new JournalBuilder([{ id: 'a' }]).start('a').fail('a', PERMANENT);
    journal.giveUp('a', PERMANENT).add({ type: 'workspace.released', task: 'a' }).add(retry('a'));
    expect(facts(journal)).toEqual([]);
    journal.add({ type: 'workspace.removed', task: 'a' });
    expect(facts(journal)).toEqual(['attempt.started a']);
  });

  test('a skipped task fails, and so does what needs it unless it is taken as done', () => {
    const skipped = (satisfied: boolean) =>
      new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }])
        .add({ type: 'task.skipped', task: 'a', satisfied })
        .giveUp('a', { kind: 'skipped', message: 'Given up.' });
    expect(facts(skipped(false))).toEqual(['task.failed b']);
    expect(facts(skipped(true))).toEqual(['attempt.started b']);
    const done = skipped(true).start('b').finish('b', { commit: null }).keep('b', 'Asked for.');
    expect(facts(done)).toEqual(['run.finished succeeded']);
  });
});

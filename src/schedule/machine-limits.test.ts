import { describe, expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { type Machine, UNMEASURED } from '../model/machine.ts';
import type { LimitsSpec } from '../model/plan.ts';
import { decide, waitsOf } from './decide.ts';
import { shortageOn } from './machine-limits.ts';

const MB = 1_000_000;
const agents = () => ({ resume: true, prose: true });

function run(limits: Partial<LimitsSpec> = {}): JournalBuilder {
  const base = { workers: 2, gates: 1, groups: {} };
  return new JournalBuilder([{ id: 'a' }, { id: 'b' }], { limits: { ...base, ...limits } });
}

const on = (builder: JournalBuilder, diskFreeBytes: number | null, diskUsedBytes = 0) =>
  decide(builder.state(), START + 1_000_000, agents, {
    ...UNMEASURED,
    diskFreeBytes,
    diskUsedBytes,
  }).decisions.map(({ record }) => ('task' in record ? `${record.type} ${record.task}` : record));

const HELD = {
  type: 'run.held',
  of: 'disk',
  why: '120 MB are free; at least 500 MB have to stay free (limits.disk_free).',
} as const;

describe('free space', () => {
  test('below the floor nothing starts, and that is said once', () => {
    expect(on(run(), 120 * MB)).toEqual([HELD]);
    expect(on(run().add(HELD), 130 * MB)).toEqual([]);
  });

  test('it goes on by itself, once there is clearly enough again', () => {
    expect(on(run().add(HELD), 520 * MB)).toEqual([]);
    const started = ['attempt.started a', 'attempt.started b'];
    expect(on(run().add(HELD), 550 * MB)).toEqual([{ type: 'run.eased' }, ...started]);
    expect(on(run(), 520 * MB)).toEqual(started);
  });

  test('the plan may want another floor or none, and an unknown value keeps no task waiting', () => {
    expect(on(run({ diskFreeBytes: 100 * MB }), 120 * MB)).toHaveLength(2);
    expect(on(run({ diskFreeBytes: 0 }), 0)).toHaveLength(2);
    expect(on(run(), null)).toHaveLength(2);
  });

  test('a run that is stopping or paused waits for nothing', () => {
    const stopping = { type: 'run.stopping', mode: 'drain', why: 'Asked for.' } as const;
    expect(run().add(HELD).add(stopping).state().held).toBeNull();
    const paused = { type: 'run.paused', suspended: false } as const;
    expect(on(run().add(HELD).add(paused), 120 * MB)).toEqual([]);
  });
});

describe('the disk budget', () => {
  const tight = { diskBytes: 1_000 * MB };

  test('no workspace is made while it is exceeded, but those there are may be used', () => {
    const crashed = run(tight).start('a').fail('a', { kind: 'interrupted', message: 'Ended.' });
    expect(on(crashed, null, 1_500 * MB)).toEqual([
      {
        type: 'run.held',
        of: 'disk-budget',
        why: 'Workspaces and the data of runs take 1.5 GB of 1.0 GB (limits.disk).',
      },
      'attempt.started a',
    ]);
    expect(on(crashed, null, 900 * MB)).toEqual(['attempt.started a', 'attempt.started b']);
  });

  test('too little free space is the graver shortage', () => {
    const machine = { ...UNMEASURED, diskFreeBytes: 0, diskUsedBytes: 2_000 * MB };
    expect(shortageOn(run(tight).state(), machine)?.of).toBe('disk');
  });
});

describe('memory and load', () => {
  const many = { workers: 4 };
  const crowd = (limits: Partial<LimitsSpec> = {}): JournalBuilder =>
    new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c', agent: 'shell' }], {
      limits: { gates: 1, groups: {}, ...many, ...limits },
    });
  const known = (agent: string) => ({ resume: true, prose: agent !== 'shell' });
  const decided = (builder: JournalBuilder, machine: Partial<Machine>, now = START + 1_000) =>
    decide(builder.state(), now, known, { ...UNMEASURED, ...machine }).decisions.map(
      ({ record }) => ('task' in record ? `${record.type} ${record.task}` : record),
    );
  const STARTED = ['attempt.started a', 'attempt.started b', 'attempt.started c'];
  const LOW = {
    type: 'run.held',
    of: 'memory',
    why: '100 MB of memory are left; an attempt takes 300 MB (limits.memory_per_attempt).',
  } as const;

  test('no more coding agents begin than the memory suffices for; a script needs none', () => {
    expect(decided(crowd(), { memoryFreeBytes: 600 * MB })).toEqual(STARTED);
    const some = ['attempt.started a', 'attempt.started c'];
    expect(decided(crowd(), { memoryFreeBytes: 400 * MB })).toEqual([LOW, ...some]);
  });

  test('one attempt may always run, however little there is', () => {
    expect(decided(crowd(), { memoryFreeBytes: 0 })).toContain('attempt.started a');
    const load = { loadPerCore: 50 };
    expect(decided(crowd({ loadPerCore: 1 }), load)).toContain('attempt.started a');
  });

  test('what an attempt has yet to take is set aside for its first half minute', () => {
    const began = crowd({ workers: 2 }).start('a');
    const { startedAt = 0 } = began.state().tasks.get('a')?.attempts[0] ?? {};
    const machine = { memoryFreeBytes: 400 * MB };
    expect(decided(began, machine, startedAt + 29_000)).toEqual([LOW, 'attempt.started c']);
    expect(decided(began, machine, startedAt + 30_000)).toEqual(['attempt.started b']);
  });

  test('the plan may say what an attempt takes, or that it does not matter', () => {
    expect(decided(crowd({ memoryPerAttempt: 50 * MB }), { memoryFreeBytes: 100 * MB })).toEqual(
      STARTED,
    );
    expect(decided(crowd({ memoryPerAttempt: 0 }), { memoryFreeBytes: 0 })).toEqual(STARTED);
  });

  test('load keeps everything back beside the first, but only where the plan has a limit', () => {
    expect(decided(crowd(), { loadPerCore: 50 })).toEqual(STARTED);
    const why = 'The load is 2.50 for each core; attempts start up to 1.5 (limits.load).';
    const held = { type: 'run.held', of: 'load', why } as const;
    expect(decided(crowd({ loadPerCore: 1.5 }), { loadPerCore: 2.5 })).toEqual([
      held,
      'attempt.started a',
    ]);
    const waiting = crowd({ loadPerCore: 1.5 }).add(held).start('a');
    expect(decided(waiting, { loadPerCore: 1.4 })).toEqual([]);
    const eased = [{ type: 'run.eased' }, 'attempt.started b', 'attempt.started c'];
    expect(decided(waiting, { loadPerCore: 1.3 })).toEqual(eased);
  });

  test('who only reads the journal is told the same', () => {
    const held = crowd().add(LOW).start('a').start('c');
    const waits = waitsOf(held.state(), START + 1_000, known);
    expect([...waits]).toEqual([['b', { kind: 'room', of: LOW.of, why: LOW.why }]]);
  });
});

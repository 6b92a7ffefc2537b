import { describe, expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import type { LimitsSpec } from '../model/plan.ts';
import { decide } from './decide.ts';
import { shortageOn } from './room.ts';

const MB = 1_000_000;
const agents = () => ({ resume: true, prose: true });

function run(limits: Partial<LimitsSpec> = {}): JournalBuilder {
  const base = { workers: 2, gates: 1, groups: {} };
  return new JournalBuilder([{ id: 'a' }, { id: 'b' }], { limits: { ...base, ...limits } });
}

const on = (builder: JournalBuilder, diskFreeBytes: number | null, diskUsedBytes = 0) =>
  decide(builder.state(), START + 1_000_000, agents, {
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

  test('the plan may want another floor or none, and nobody waits for what nobody can tell', () => {
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
    const machine = { diskFreeBytes: 0, diskUsedBytes: 2_000 * MB };
    expect(shortageOn(run(tight).state(), machine)?.of).toBe('disk');
  });
});

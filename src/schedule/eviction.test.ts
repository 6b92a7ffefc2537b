import { expect, test } from 'vitest';
import { type Evictable, evictionOrder } from './machine-limits.ts';

const one = (path: string, more: Partial<Evictable>): Evictable => ({
  kind: 'transcripts',
  path,
  run: 'r',
  at: 1,
  live: false,
  outcome: 'succeeded',
  ...more,
});

test('idle workspaces go first, then what agents said in landed runs, the oldest first', () => {
  const given = [one('new', { at: 9 }), one('old', { at: 2 }), one('idle', { kind: 'workspace' })];
  expect(evictionOrder(given).map(({ path }) => path)).toEqual(['idle', 'old', 'new']);
});

test('nothing of a live run goes, nor what was said in a run that did not succeed', () => {
  const given = [
    one('live', { live: true }),
    one('live-idle', { live: true, kind: 'workspace' }),
    one('failed', { outcome: 'failed' }),
    one('dead', { outcome: null }),
  ];
  expect(evictionOrder(given)).toEqual([]);
  const idle = one('dead-idle', { outcome: null, kind: 'workspace' });
  expect(evictionOrder([...given, idle])).toEqual([idle]);
});

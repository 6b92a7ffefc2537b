import { expect, test } from 'vitest';
import { type PoolView, poolText, sizeText } from './pool.ts';

const EMPTY: PoolView = {
  folder: '/w/landfast.pool',
  most: 4,
  disk: null,
  bytes: 0,
  workspaces: [],
  seeds: [],
};

test('an empty pool says how far it may grow', () => {
  expect(poolText(EMPTY)).toBe('No idle workspaces; at most 4 stay for later runs.\n');
  expect(poolText({ ...EMPTY, most: 0 })).toBe('No idle workspaces; the pool is off.\n');
});

test('each workspace has its state, commit, age, size and place', () => {
  const idle = {
    path: '/w/landfast.pool/1',
    state: 'idle',
    commit: 'a'.repeat(40),
    at_head: true,
    idle_sec: 90,
    files: 3,
    bytes: 3 * 1024 ** 2,
  } as const;
  const broken = {
    path: '/w/landfast.pool/2',
    state: 'broken',
    commit: null,
    at_head: false,
  } as const;
  const unknown = { idle_sec: null, files: null, bytes: null };
  const view = { ...EMPTY, disk: 1024 ** 3, bytes: idle.bytes };
  expect(poolText({ ...view, workspaces: [idle, { ...broken, ...unknown }] })).toBe(
    [
      'idle    aaaaaaa (head)  1 m 30 s  3.0 MB  /w/landfast.pool/1',
      'broken                                    /w/landfast.pool/2',
      '2 workspaces, 3.0 MB of 1.0 GB; at most 4 stay for later runs.',
      '',
    ].join('\n'),
  );
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KB'],
  [20 * 1024 ** 3, '20 GB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test('seeds are shown with what they hold and when they were last of use', () => {
  const seed = {
    path: '/r/.git/landfast/seeds/0a',
    holds: ['node_modules/', 'web/node_modules/'],
    bytes: 90 * 1024 ** 2,
    age_sec: 7200,
    unused_sec: 60,
  };
  expect(poolText({ ...EMPTY, seeds: [seed] })).toBe(
    [
      'No idle workspaces; at most 4 stay for later runs.',
      'seed  node_modules/, web/node_modules/  used 1 m 00 s ago  90 MB  /r/.git/landfast/seeds/0a',
      '1 seed, 90 MB.',
      '',
    ].join('\n'),
  );
});

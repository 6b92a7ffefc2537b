import { expect, test } from 'vitest';
import type { Bounds } from './bounds.ts';
import { seatbeltProfile } from './seatbelt.ts';

const BOUNDS: Bounds = {
  writable: ['/Users/ada/Library/Caches/npm', '/src/my "repo".worktrees/a', '/src/r/.git/objects'],
  kept: ['/src/my "repo".worktrees/a/.git', '/src/r/.git/objects/pack'],
  branch: {
    ref: '/src/r/.git/refs/heads/landfast/r1.a',
    log: '/src/r/.git/logs/refs/heads/landfast/r1.a',
  },
  checkout: '/src/r',
  network: 'off',
};

test('the profile denies writing, allows the bounds, and denies what stays as it is', () => {
  expect(seatbeltProfile(BOUNDS, '/private/tmp/t')).toBe(`(version 1)
(allow default)
(deny file-write*)
(allow file-write*
  (subpath "/Users/ada/Library/Caches/npm")
  (subpath "/src/my \\"repo\\".worktrees/a")
  (subpath "/src/r/.git/objects")
  (subpath "/private/tmp/t")
  (subpath "/dev")
  (literal "/src/r/.git/refs/heads/landfast/r1.a")
  (literal "/src/r/.git/refs/heads/landfast/r1.a.lock")
  (literal "/src/r/.git/logs/refs/heads/landfast/r1.a"))
(deny file-write*
  (subpath "/src/my \\"repo\\".worktrees/a/.git")
  (subpath "/src/r/.git/objects/pack"))
(deny network*)
(allow network* (remote unix-socket))
`);
});

test('with network and a detached HEAD neither is mentioned', () => {
  const profile = seatbeltProfile({ ...BOUNDS, network: 'on', branch: null }, '/private/tmp/t');
  expect(profile).not.toMatch(/network|literal|refs/);
});

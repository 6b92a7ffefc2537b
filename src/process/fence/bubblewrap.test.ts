import { expect, test } from 'vitest';
import type { Bounds, NetworkRule } from './bounds.ts';
import { bubblewrapCommand, ISOLATION, LANDMARKS } from './bubblewrap.ts';

const BOUNDS: Bounds = {
  writable: ['/home/ada/.cache/npm', '/src/my repo.worktrees/a', '/src/my repo/.git/objects'],
  kept: ['/src/my repo.worktrees/a/.git'],
  branch: {
    ref: '/src/my repo/.git/refs/heads/landfast/r1.a',
    log: '/src/my repo/.git/logs/refs/heads/landfast/r1.a',
  },
  checkout: '/src/my repo',
  network: 'on',
};

/** The arguments of bubblewrap after those that are always the same, up to the program. */
function mountsOf(bounds: Bounds, file = 'agent'): readonly string[] {
  const wrapping = { tool: '/usr/bin/bwrap', bounds, temp: '/tmp/t', node: '/opt/node' };
  const { args } = bubblewrapCommand(wrapping, { file, args: [] });
  return args.slice(args.indexOf(LANDMARKS.at(-1) ?? '') + 2, args.indexOf('--'));
}

test('a program is started by bubblewrap with its arguments as they are', () => {
  const wrapping = { tool: '/opt/bin/bwrap', bounds: BOUNDS, temp: '/tmp/t', node: '/opt/node' };
  const { file, args } = bubblewrapCommand(wrapping, { file: 'agent', args: ['-p', 'a "b" $c'] });
  expect(file).toBe('/bin/sh');
  expect(args.slice(2, 4 + ISOLATION.length)).toEqual(['fence', '/opt/bin/bwrap', ...ISOLATION]);
  expect(args.slice(-4)).toEqual(['fence', 'agent', '-p', 'a "b" $c']);
});

test('every writable path is mounted, then what stays as it is on top of them', () => {
  const writable = [
    ...BOUNDS.writable,
    '/src/my repo/.git/refs/heads/landfast',
    '/src/my repo/.git/logs/refs/heads/landfast/r1.a',
    '/tmp/t',
  ];
  expect(mountsOf(BOUNDS)).toEqual([
    ...['--bind', '/tmp/t', '/tmp'],
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--ro-bind', '/src/my repo.worktrees/a/.git', '/src/my repo.worktrees/a/.git'],
  ]);
});

test('without a branch no refs are writable', () => {
  expect(mountsOf({ ...BOUNDS, branch: null }).join(' ')).not.toContain('refs');
});

test('a checkout and a program below /tmp are shown again, read-only', () => {
  const mounts = mountsOf({ ...BOUNDS, checkout: '/tmp/repo' }, '/tmp/bin/agent');
  expect(mounts.slice(3, 9)).toEqual([
    ...['--ro-bind', '/tmp/repo', '/tmp/repo'],
    ...['--ro-bind', '/tmp/bin', '/tmp/bin'],
  ]);
  expect(mountsOf(BOUNDS, '/tmp/agent')).toEqual(mountsOf(BOUNDS));
});

test('only without network, or with a proxy instead, there is a network namespace', () => {
  const flags = (network: NetworkRule) =>
    bubblewrapCommand(
      { tool: 'bwrap', bounds: { ...BOUNDS, network }, temp: '/tmp/t', node: '/opt/node' },
      { file: 'agent', args: [] },
    ).args.filter((arg) => arg === '--unshare-net' || arg === '--setenv');
  expect([flags('on'), flags('off')]).toEqual([[], ['--unshare-net']]);
  expect(flags({ proxy: '/tmp/p' })).toEqual(['--unshare-net', ...Array(7).fill('--setenv')]);
});

test('with a proxy its socket is mounted, and a Node below /tmp is shown again', () => {
  const bounds = { ...BOUNDS, network: { proxy: '/tmp/landfast-x/proxy' } };
  const wrapping = { tool: 'bwrap', bounds, temp: '/tmp/t', node: '/tmp/node/bin/node' };
  const { args } = bubblewrapCommand(wrapping, { file: 'agent', args: ['-p'] });
  const text = args.join(' ');
  expect(text).toContain('--ro-bind /tmp/node/bin /tmp/node/bin --ro-bind /tmp/landfast-x/proxy');
  expect(args.slice(args.indexOf('--') + 1).filter((arg) => !arg.includes('\n'))).toEqual([
    ...['/bin/sh', '-c', 'fence', '/tmp/node/bin/node', '/run/landfast/proxy', '61128'],
    ...['agent', '-p'],
  ]);
});

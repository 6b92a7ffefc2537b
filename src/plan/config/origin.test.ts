import { describe, expect, test } from 'vitest';
import { baseOf, gitFacts, hostingOf } from './discover.ts';

describe('the address of a remote tells where a repository is hosted', () => {
  const github = { provider: 'github', owner: 'o', repo: 'r' };
  test.each([
    ['git@github.com:o/r.git', github],
    ['ssh://git@github.com:22/o/r.git', github],
    ['https://token@github.com/o/r', github],
    ['https://GitHub.com/o/r.git/', github],
    ['https://bitbucket.org/ws/r.git', { provider: 'bitbucket', owner: 'ws', repo: 'r' }],
    ['https://github.com/o/my.github.io.git', { ...github, repo: 'my.github.io' }],
    ['https://github.com/o/my.github.io/', { ...github, repo: 'my.github.io' }],
    [
      'https://gitlab.com/github.com/x/r',
      { provider: 'unknown', owner: 'github.com/x', repo: 'r' },
    ],
    ['https://notgithub.com/o/r', { provider: 'unknown', owner: 'o', repo: 'r' }],
    ['/srv/git/github.com/o/r.git', { provider: 'unknown' }],
    ['../r.git', { provider: 'unknown' }],
    ['file:///srv/o/r.git', { provider: 'unknown' }],
    ['C:/work/o/r', { provider: 'unknown' }],
    ['https://github.com/', { provider: 'github' }],
    ['', { provider: 'unknown' }],
  ])('%s', (address, hosting) => {
    expect(hostingOf(address)).toEqual(hosting);
  });
});

describe('the base branch is the first that fits', () => {
  const branches = { current: 'feature/x', remote: ['main', 'develop'], remoteHead: 'main' };
  test.each([
    ['the current one, if it is a main branch', { ...branches, current: 'master' }, 'master'],
    ['develop, if origin has it', branches, 'develop'],
    ['the one origin calls its own', { ...branches, remote: ['main', 'x'], remoteHead: 'x' }, 'x'],
    ['one of the usual', { current: null, remote: ['master'], remoteHead: null }, 'master'],
    [
      'one of the usual, if origin names none that is there',
      { ...branches, remote: ['master'], remoteHead: 'gone' },
      'master',
    ],
    ['main', { current: null, remote: [], remoteHead: null }, 'main'],
  ])('%s', (_, given, expected) => {
    expect(baseOf(given)).toBe(expected);
  });
});

test('what is configured is never second-guessed', () => {
  const found = {
    address: 'git@github.com:o/r.git',
    branches: { current: 'develop', remote: ['main', 'develop'], remoteHead: 'main' },
  };
  expect(gitFacts({ base_branch: 'main', repo_slug: 'other' }, found)).toEqual({
    provider: 'github',
    owner: 'o',
    repo: 'r',
    slug: 'other',
    base: 'main',
    destination: 'main',
  });
  expect(gitFacts({ provider: 'bitbucket', destination_branch: 'main' }, found)).toEqual({
    provider: 'bitbucket',
    owner: 'o',
    repo: 'r',
    slug: 'r',
    base: 'develop',
    destination: 'main',
  });
});

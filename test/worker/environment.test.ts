/** What reaches an agent, a check or a gate of the user's environment. */

import { expect, test } from 'vitest';
import { allowedEnv, attemptEnv, secretsOf } from '../../src/worker/environment.ts';

test('only what is named passes; nested sessions and secrets do not', () => {
  const user = {
    PATH: '/bin',
    HOME: '/home/a',
    LC_ALL: 'C',
    GOPATH: '/go',
    JAVA_HOME: '/java',
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: 's',
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_API_KEY: 'k',
    CARGO_REGISTRY_TOKEN: 't',
    LD_PRELOAD: 'x',
    PYTHONPATH: 'x',
    MY_OWN: 'x',
    TERM: 'xterm',
  };
  const plain = { PATH: '/bin', HOME: '/home/a', LC_ALL: 'C', GOPATH: '/go', JAVA_HOME: '/java' };
  expect(allowedEnv(user, [])).toEqual({ ...plain, TERM: 'dumb' });
  expect(allowedEnv(user, ['ANTHROPIC_API_KEY', 'MY_*'])).toEqual({
    ...plain,
    ANTHROPIC_API_KEY: 'k',
    MY_OWN: 'x',
    TERM: 'dumb',
  });
});

test('settings for git pass whole: a count without its keys would stop every git', () => {
  const git = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ada' };
  expect(allowedEnv({ ...git, GIT_CONFIG_TOKEN: 'x' }, [])).toEqual({ ...git, TERM: 'dumb' });
  expect(secretsOf(git)).toEqual([]);
});

test('a secret is known by its name, not by a part of a word', () => {
  const env = {
    API_KEY: 'a1',
    GITHUB_TOKEN: 'b2',
    DB_PASSWORD: 'c3',
    TOKENIZERS_PARALLELISM: 'true',
    KEYBOARD: 'de',
    EMPTY_TOKEN: '',
  };
  expect(secretsOf(env)).toEqual(['a1', 'b2', 'c3']);
});

test('an attempt knows who it is and has ports of its own', () => {
  const who = { run: '20260101-000000-abc', task: 'Users', attempt: 2, index: 0 };
  const env = attemptEnv(who);
  expect(env).toMatchObject({
    LANDFAST_RUN: '20260101-000000-abc',
    LANDFAST_TASK: 'Users',
    LANDFAST_ATTEMPT: '2',
    LANDFAST_NAME: '20260101-000000-abc-users',
  });
  const port = Number(env.LANDFAST_PORT);
  const next = Number(attemptEnv({ ...who, task: 'b', index: 1 }).LANDFAST_PORT);
  expect(Math.abs(next - port)).toBeGreaterThanOrEqual(10);
  expect([port, next].every((each) => each >= 20_000 && each < 40_000)).toBe(true);
});

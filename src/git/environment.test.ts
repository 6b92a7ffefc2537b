/** The environment git runs in: what is forgotten, fixed and kept. */

import { expect, test } from 'vitest';
import { gitEnvironment } from './environment.ts';

test('what a hook says about its repository is forgotten, what a user says is kept', () => {
  const inherited = {
    GIT_DIR: '/a/.git',
    GIT_INDEX_FILE: '/a/.git/index.lock',
    GIT_WORK_TREE: '/a',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_CONFIG_GLOBAL: '/home/ada/gitconfig',
    PATH: '/bin',
  };
  expect(gitEnvironment(inherited)).toMatchObject({
    GIT_AUTHOR_NAME: 'Ada',
    GIT_CONFIG_GLOBAL: '/home/ada/gitconfig',
    PATH: '/bin',
  });
  expect(Object.keys(gitEnvironment(inherited))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^GIT_(DIR|INDEX_FILE|WORK_TREE)$/)]),
  );
});

test('messages are English and the encoding is the user’s', () => {
  const { LC_ALL, LC_CTYPE, LC_MESSAGES, LANGUAGE } = gitEnvironment({
    LC_ALL: 'de_DE.UTF-8',
    LANGUAGE: 'de',
  });
  expect({ LC_ALL, LC_CTYPE, LC_MESSAGES, LANGUAGE }).toEqual({
    LC_ALL: undefined,
    LC_CTYPE: 'de_DE.UTF-8',
    LC_MESSAGES: 'C',
    LANGUAGE: '',
  });
});

test('nothing that could open a dialogue is left, and additions win', () => {
  const environment = gitEnvironment(
    { DISPLAY: ':0', GPG_TTY: '/dev/tty', SSH_ASKPASS: '/bin/ask', GIT_ASKPASS: '/bin/ask' },
    { GIT_EDITOR: 'ed' },
  );
  expect(environment).toMatchObject({
    GIT_ASKPASS: '',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'ed',
  });
  expect(environment).not.toHaveProperty('DISPLAY');
  expect(environment).not.toHaveProperty('GPG_TTY');
  expect(environment).not.toHaveProperty('SSH_ASKPASS');
});

test('what an agent was told of its folders does not reach the runs that it starts', () => {
  const told = "'core.sparseCheckout=true' 'core.sparseCheckoutCone=true' 'index.sparse=true'";
  const given = (text: string) => gitEnvironment({ GIT_CONFIG_PARAMETERS: text });
  expect(given(told)).not.toHaveProperty('GIT_CONFIG_PARAMETERS');
  expect(given(`'user.name=Ada' ${told}`)).toMatchObject({
    GIT_CONFIG_PARAMETERS: "'user.name=Ada'",
  });
});

/** Who commits is told without git only where git would say the same. */

import { expect, test } from 'vitest';
import { identitiesIn, plainIdentity } from '../../src/git/identity.ts';
import { tempRepo } from '../support/temp-repo.ts';

test.each([
  ['Ada Lovelace', 'ada@example.com', true],
  ['Jürgen Müller-O’Neil', 'j.m+x@example.com', false],
  ["Renée d'Été", 'renee@example.com', true],
  ['山田', 'yamada@example.jp', true],
  ['x', 'y', true],
  ['Ada, Countess.', 'ada@example.com', false],
  ['"Ada"', 'ada@example.com', false],
  ['Ada <x>', 'ada@example.com', false],
  [' Ada ', ' ada@example.com', false],
  ['A.', 'a.', false],
])('%s <%s>', async (name, email, isPlain) => {
  await using repo = await tempRepo();
  await repo.git('config', 'user.name', name);
  await repo.git('config', 'user.email', email);
  const byGit = (await repo.git('var', 'GIT_AUTHOR_IDENT')).replace(/ \d+ [+-]\d{4}$/, '');
  const settings = new Map([
    ['user.name', name],
    ['user.email', email],
  ]);
  expect(plainIdentity(settings, {})).toBe(isPlain ? byGit : null);
  const both = { author: byGit, committer: byGit };
  expect(await identitiesIn(repo.commonDir, repo.signal)).toEqual(both);
});

test.each([
  ['a variable', {}, { GIT_AUTHOR_NAME: 'x' }],
  ['another variable', {}, { EMAIL: 'x@example.com' }],
  ['a setting of its own', { 'author.name': 'x' }, {}],
])('%s leaves it to git', (_what, more, env) => {
  const settings = { 'user.name': 'Ada', 'user.email': 'ada@example.com', ...more };
  expect(plainIdentity(new Map(Object.entries(settings)), env)).toBeNull();
});

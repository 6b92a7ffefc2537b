/** Whether git knows who commits. */

import { expect, test } from 'vitest';
import { identityProblem } from '../../src/git/commit.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('a missing identity is reported with its remedy', async () => {
  await using repo = await tempRepo();
  expect(await identityProblem(repo.commonDir, repo.signal)).toBe(null);
  await repo.git('config', '--unset', 'user.email');
  await repo.git('config', 'user.useConfigOnly', 'true');
  expect(await identityProblem(repo.commonDir, repo.signal)).toEqual({
    message: expect.stringContaining('who you are'),
    remedy: expect.stringContaining('git config --global user.email'),
  });
});

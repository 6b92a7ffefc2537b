/** Whether a repository has hooks, wherever they are. */

import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hooksIn } from '../../src/git/hooks.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('samples are no hooks; a hook is one', async ({ signal }) => {
  await using repo = await tempRepo();
  const commonDir = join(repo.dir, '.git');
  await writeFiles(commonDir, { 'hooks/pre-commit.sample': '#!/bin/sh\n' });
  expect(await hooksIn(commonDir, repo.dir, signal)).toBe(false);
  await writeFiles(commonDir, { 'hooks/pre-commit': '#!/bin/sh\n' });
  await chmod(join(commonDir, 'hooks', 'pre-commit'), 0o755);
  expect(await hooksIn(commonDir, repo.dir, signal)).toBe(true);
});

test('hooks that are turned off by a path that is no folder are none', async ({ signal }) => {
  await using repo = await tempRepo();
  await repo.git('config', 'core.hooksPath', '/dev/null');
  expect(await hooksIn(join(repo.dir, '.git'), repo.dir, signal)).toBe(false);
});

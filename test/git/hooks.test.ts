/** Hooks are found where git would look for them at that moment. */

import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPostCheckout, runPostMerge } from '../../src/git/hooks.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

async function install(repo: TempRepo, file: string, script: string): Promise<void> {
  await repo.write({ [file]: `#!/bin/sh\n${script}\n` });
  chmodSync(join(repo.dir, file), 0o755);
}

test('a hook is run as soon as it is there, wherever a setting says it is', async () => {
  await using repo = await tempRepo();
  const commit = await repo.git('rev-parse', 'HEAD');
  const log = join(repo.outside, 'log');
  const run = async () => {
    await runPostCheckout(repo.commonDir, { path: repo.dir, commit }, repo.signal);
    await runPostMerge(repo.commonDir, repo.dir, repo.signal);
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
  };
  expect(await run()).toEqual([]);
  await install(repo, '.git/hooks/post-merge', `echo merge $1 >> ${log}; exit 1`);
  expect(await run()).toEqual(['merge 0']);
  await install(repo, '.husky/post-checkout', `echo checkout $1 $3 >> ${log}`);
  await repo.git('config', 'core.hooksPath', '.husky');
  expect(await run()).toEqual(['merge 0', `checkout ${'0'.repeat(40)} 1`]);
  await repo.git('config', 'core.hooksPath', '/dev/null');
  expect(await run()).toHaveLength(2);
  await repo.write({ '.git/own': '[core]\n\thooksPath = .husky\n' });
  await repo.git('config', '--unset', 'core.hooksPath');
  await repo.git('config', 'includeIf.onbranch:main.path', 'own');
  expect(await run()).toHaveLength(3);
});

/** A repository whose path is not UTF-8: it is said, wherever a command begins. */

import { execFile } from 'node:child_process';
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { BIN, bareEnv, landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);

test.runIf(process.platform === 'linux')('inside of it, and through a link to it', async () => {
  await using repo = await tempRepo();
  const odd = Buffer.concat([Buffer.from(`${repo.outside}/caf`), Buffer.from([0xe9])]);
  renameSync(repo.dir, odd);
  symlinkSync(odd, join(repo.outside, 'link'));
  const told = {
    code: 3,
    stderr:
      `landfast: The path ${repo.outside}/caf\uFFFD is not valid UTF-8, so it cannot be opened.\n` +
      '  Rename the folder with \uFFFD in its name to one in UTF-8.\n',
  };
  const inside = ['-c', 'cd caf* && exec "$@"', 'sh', process.execPath, BIN, 'status'];
  const env = bareEnv(repo.outside);
  await expect(exec('sh', inside, { cwd: repo.outside, env })).rejects.toMatchObject(told);
  for (const command of ['status', 'doctor']) {
    expect(await landfast([command, '-C', 'link'], { cwd: repo.outside })).toMatchObject(told);
  }
});

/** Too few file handles: told as such, and nothing lost. */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bareEnv, landfast, Running } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { expectTold, expectWhole, make, WAITS } from './scene.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
const NAMES = Array.from({ length: 12 }, (_, n) => `t${n}`);
const REMEDY = '`ulimit -n`';

/** Runs the plan with so many file handles; its tasks hold theirs until there is a file `go`. */
function runWith(handles: number, repo: TempRepo): Running {
  const tasks = Object.fromEntries(NAMES.map((name) => [name, `echo 1 > ${name}.txt; ${WAITS}`]));
  const plan = nativePlan({ tasks, workers: NAMES.length });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const script = `ulimit -n ${handles}; exec "$@"`;
  const args = ['-c', script, 'sh', process.execPath, BIN, 'run', '../plan.yaml', '--events'];
  const env = bareEnv(repo.outside);
  const child = spawn('sh', args, { cwd: repo.dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Running(child);
}

test('with hardly any it does not even begin, and says which limit to raise', async () => {
  await using repo = await tempRepo();
  expectTold(await runWith(25, repo).ended, 3, 'too many processes or open files (EMFILE)', REMEDY);
  expect((await landfast(['runs', '--json'], { cwd: repo.dir })).stdout).toBe('[]\n');
});

test('with too few for its workers some fail for now; with more the rest lands', async () => {
  await using repo = await tempRepo();
  const engine = runWith(48, repo);
  await engine.untilFact('attempt.failed');
  make(repo, 'go');
  expectTold(await engine.ended, 1, 'too many processes or open files (EMFILE)', REMEDY);
  const resumed = await landfast(['resume'], { cwd: repo.dir });
  expect(resumed.code, resumed.stderr).toBe(0);
  // What could not be removed for want of handles was kept, and nothing is in it.
  expect(await landfast(['cleanup', '--yes'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  await expectWhole(
    repo,
    NAMES.map((name) => `${name}.txt`),
  );
});

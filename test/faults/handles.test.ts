/** Too few file handles: told as such, and nothing lost. */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bareEnv, type Ended, landfast, Running } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { expectResumed, expectTold } from './scene.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
const NAMES = Array.from({ length: 12 }, (_, n) => `t${n}`);
const REMEDY = '`ulimit -n`';

/** Runs the plan with so many file handles. */
async function runWith(handles: number, repo: TempRepo): Promise<Ended> {
  const tasks = Object.fromEntries(
    NAMES.map((name) => [name, `echo 1 > ${name}.txt; touch ../../../${name}; ${ALL_UP}`]),
  );
  const plan = nativePlan({ tasks, workers: NAMES.length });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const script = `ulimit -n ${handles}; exec "$@"`;
  const args = ['-c', script, 'sh', process.execPath, BIN, 'run', '../plan.yaml', '--events'];
  const env = bareEnv(repo.outside);
  const child = spawn('sh', args, { cwd: repo.dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Running(child).ended;
}

/** A while in which all of them hold their handles; the last ones may never come up. */
const ALL_UP = 'n=0; while test $n -lt 20; do sleep 0.05; n=$((n + 1)); done';

test('with hardly any it does not even begin, and says which limit to raise', async () => {
  await using repo = await tempRepo();
  expectTold(await runWith(28, repo), 3, 'too many processes or open files (EMFILE)', REMEDY);
  expect((await landfast(['runs', '--json'], { cwd: repo.dir })).stdout).toBe('[]\n');
});

test('with too few for its workers some fail for now; with more the rest lands', async () => {
  await using repo = await tempRepo();
  const ended = await runWith(60, repo);
  expectTold(ended, 1, 'too many processes or open files (EMFILE)', REMEDY);
  await expectResumed(
    repo,
    NAMES.map((name) => `${name}.txt`),
  );
});

/** A repository with a long past is looked at as fast as a new one. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cpuOfChildren } from '../../bench/measure.ts';
import { writePastRuns } from '../../bench/past-runs.ts';
import { bareEnv } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';

const execute = promisify(execFile);
const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
const TURNS = 5;

test('status takes as long after 1,000 runs as after one', async () => {
  await using young = await tempRepo();
  await using old = await tempRepo();
  writePastRuns(join(young.dir, '.git', 'landfast'), 1);
  writePastRuns(join(old.dir, '.git', 'landfast'), 1_000);
  const [few, many]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    few.push(await statusCpuMs(young.dir, young.outside, 'past-00001'));
    many.push(await statusCpuMs(old.dir, old.outside, 'past-01000'));
  }
  // Others may make a run slower, never faster.
  expect(Math.min(...many)).toBeLessThan(1.6 * Math.min(...few));
});

/** The processor time of `landfast status`, which shows the newest run. */
async function statusCpuMs(dir: string, home: string, run: string): Promise<number> {
  const script = `shown=$("$@") || exit; times; printf %s "$shown" | head -3`;
  const command = ['sh', process.execPath, PROGRAM, 'status', '-C', dir];
  const { stdout } = await execute('sh', ['-c', script, ...command], { env: bareEnv(home) });
  expect(stdout).toContain(run);
  return cpuOfChildren(stdout);
}

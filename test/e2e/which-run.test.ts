/** The run that a command without RUN is about: the live one, else the one made last. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { elsewhere } from '../faults/scene.ts';
import { landfast } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const HOUR_MS = 3_600_000;

test('a live run wins over a newer one, and the order of making over the clock', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run: live } = await liveRun(repo, { slow: waiting('slow') });
  const shown = async (): Promise<string> =>
    JSON.parse((await cli('status', '--json')).stdout).run as string;
  writeFileSync(join(repo.outside, 'quick.yaml'), nativePlan({ tasks: { quick: 'echo 1 > q' } }));
  const quick = await landfast(['run', '../quick.yaml'], {
    cwd: repo.dir,
    env: elsewhere({ clockMs: -HOUR_MS }),
  });
  expect(quick.code, quick.stderr).toBe(0);
  expect(await shown()).toBe(live);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  const runs = JSON.parse((await cli('runs', '--json')).stdout) as { run: string }[];
  expect(runs.map(({ run }) => run === live)).toEqual([false, true]);
  expect(await shown()).toBe(runs[0]?.run);
});

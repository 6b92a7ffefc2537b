/** A task that prints an endless line: the engine neither holds it nor hides that it was cut. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { liveRun } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

const MOST_BYTES = 16 * 1024 * 1024;
const SAID = 'had more than 16 MiB; its end is not kept.';

const LONG = "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo end; echo 1 > long";

test('the logs say that something is missing', async () => {
  await using repo = await tempRepo();
  const { engine } = await liveRun(repo, { long: LONG });
  expect(await engine.ended).toMatchObject({ code: 0 });
  const runs = join(repo.commonDir, 'landfast', 'runs');
  const logs = join(runs, readdirSync(runs)[0] ?? '', 'attempts', 'long.1');
  const [line, ...rest] = readFileSync(join(logs, 'stdout.log'), 'utf8').split('\n');
  expect(line).toHaveLength(MOST_BYTES);
  expect(rest).toEqual([`[The line above ${SAID}]`, 'end', '']);
  expect(readFileSync(join(logs, 'transcript.jsonl'), 'utf8')).toContain(
    `{"type":"warning","text":"A line of stdout ${SAID}"}`,
  );
});

test.runIf(process.platform === 'linux')('the engine stays small', async () => {
  await using repo = await tempRepo();
  const { engine } = await liveRun(repo, {
    long: LONG,
    next: {
      needs: ['long'],
      prompt: 'while test ! -e ../../../go; do sleep 0.05; done; echo 1 > next',
    },
  });
  await engine.untilFact('attempt.started', 'next');
  expect(peakOf(engine.child.pid)).toBeLessThan(250_000);
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await engine.ended).toMatchObject({ code: 0 });
});

/** The most that a process has held in memory, in KiB. */
function peakOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
}

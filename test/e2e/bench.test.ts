/** The benchmark, made small: both contestants do the job, and who does not do it is caught. */

import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { script } from '../../bench/contestants.ts';
import { copyTemplate, type Ground, git, makeTemplate, openGround } from '../../bench/ground.ts';
import { inspect } from '../../bench/inspect.ts';
import { cpuOfChildren, timeCommand, watchMemory } from '../../bench/measure.ts';
import { type Cell, median, tableText } from '../../bench/results.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUN = join(import.meta.dirname, '..', '..', 'bench', 'run.ts');
const TIMES = { wallMs: expect.any(Number), cpuMs: expect.any(Number) };
const MEMORY = { mainKb: expect.any(Number), treeKb: expect.any(Number) };
const execute = promisify(execFile);

test('three tasks are done by both, compared and written down', async ({ signal }) => {
  await using dir = await tempDir();
  const json = join(dir.path, 'results', 'three.json');
  const sizes = ['--n', '3', '--files', '5', '--rounds', '2', '--workers', '2'];

  const args = [RUN, ...sizes, '--dir', dir.path, '--json', json];
  const { stdout } = await execute(process.execPath, args, { signal });

  expect(stdout).toMatch(/^ +5 +3 +script .*\n +landfast .*\n +ratio +\d+\.\d+ +\d+\.\d+$/m);
  const { cells } = JSON.parse(await readFile(json, 'utf8')) as { cells: readonly Cell[] };
  const cost = { runs: [TIMES, TIMES], memory: MEMORY };
  expect(cells).toEqual([{ files: 5, tasks: 3, costs: { script: cost, landfast: cost } }]);
});

test('a ratio above the limit fails', async ({ signal }) => {
  await using dir = await tempDir();
  const sizes = ['--n', '1', '--files', '1', '--rounds', '1', '--max-ratio', '0.001'];
  const json = join(dir.path, 'one.json');

  const args = [RUN, ...sizes, '--dir', dir.path, '--json', json];
  const failed = execute(process.execPath, args, { signal });

  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the ratio of 1 tasks, 1 files is above 0.001'),
  });
});

test('a wrong option is refused before anything runs', async ({ signal }) => {
  const failed = execute(process.execPath, [RUN, '--n', '0'], { signal });
  await expect(failed).rejects.toMatchObject({
    code: 2,
    stderr: 'bench: --n wants a number above 0, not 0\n',
  });
});

test('work that is missing, or left over, is caught', async ({ signal }) => {
  await using dir = await tempDir();
  await using ground = await openGround(dir.path);
  const job = await startedJob(ground, signal);
  const command = await script.command(job);
  await timeCommand({ command, env: ground.env, dir: ground.dir }, signal);

  const tree = await git(ground, job.repository, ['rev-parse', 'main^{tree}'], signal);
  await expect(inspect(ground, script, job, signal)).resolves.toBe(tree);

  const more = { ...job, tasks: 4 };
  await expect(inspect(ground, script, more, signal)).rejects.toThrow('merges is 3, not 4');

  await git(ground, job.repository, ['branch', 'left-over'], signal);
  await expect(inspect(ground, script, job, signal)).rejects.toThrow('branches is');
});

test('a command that fails has no cost', async ({ signal }) => {
  await using dir = await tempDir();
  await using ground = await openGround(dir.path);
  const order = { command: ['sh', '-c', 'echo why; exit 3'], env: ground.env, dir: ground.dir };
  await expect(timeCommand(order, signal)).rejects.toThrow(/ended with 3:\nwhy/);
});

test('processor time and memory of grandchildren count', async ({ signal }) => {
  await using dir = await tempDir();
  const busy = 'const start = process.cpuUsage(); while (process.cpuUsage(start).user < 300_000);';
  const large = 'globalThis.kept = Buffer.alloc(200e6, 1); setTimeout(() => {}, 300);';
  const below = (code: string) => ({
    command: ['sh', '-c', '"$1" -e "$2"; true', 'sh', process.execPath, code],
    env: { PATH: process.env.PATH ?? '' },
    dir: dir.path,
  });

  const { cpuMs } = await timeCommand(below(busy), signal);
  const { mainKb, treeKb } = await watchMemory(below(large), signal);

  expect(cpuMs).toBeGreaterThan(290);
  expect(mainKb).toBeLessThan(50_000);
  expect(treeKb).toBeGreaterThan(200_000);
});

test('a command cannot look cheap by leaving its work to a process that outlives it', async ({
  signal,
}) => {
  await using dir = await tempDir();
  const busy = `
    const [start, parent] = [process.cpuUsage(), process.ppid];
    while (process.cpuUsage(start).user < 600_000);
    require('node:fs').writeFileSync('used', '');
    setInterval(() => process.ppid === parent || process.exit(), 10);`;
  const leave = '"$1" -e "$2" & until [ -e used ]; do sleep 0.1; done';
  const command = ['sh', '-c', leave, 'sh', process.execPath, busy];
  const order = { command, env: { PATH: process.env.PATH ?? '' }, dir: dir.path };
  await expect(watchMemory(order, signal)).rejects.toThrow(/used \d+ ms, of which it accounts for/);
});

test('times are read as bash and dash print them', () => {
  expect(cpuOfChildren('0m0.001s 0m0.002s\n1m2.500s 0m0.250s\n')).toBe(62_750);
  expect(cpuOfChildren('0m0.000000s 0m0.000000s\n0m0.010000s 0m0.020000s\n')).toBe(30);
  expect(() => cpuOfChildren('')).toThrow('strange times');
});

test('a median is the middle value, or lies between the two middle ones', () => {
  expect([[7], [9, 1], [3, 1, 2], [4, 1, 3, 2]].map(median)).toEqual([7, 5, 2, 2.5]);
});

test('the table shows medians, and ratios of medians', () => {
  const run = (wallMs: number) => ({ wallMs, cpuMs: 2 * wallMs });
  const cell: Cell = {
    files: 50,
    tasks: 10,
    costs: {
      script: {
        runs: [run(1000), run(9000), run(1000)],
        memory: { mainKb: 4096, treeKb: 20_480 },
      },
      landfast: { runs: [run(1500)], memory: { mainKb: 81_920, treeKb: 102_400 } },
    },
  };
  expect(`\n${tableText([cell])}\n`).toMatchInlineSnapshot(`
    "
     files  tasks              wall s     CPU s   main MB   tree MB
        50     10    script      1.00      2.00         4        20
                   landfast      1.50      3.00        80       100
                      ratio      1.50      1.50
    "
  `);
});

async function startedJob(ground: Ground, signal: AbortSignal) {
  const job = { repository: join(ground.dir, 'run', 'repository'), tasks: 3, workers: 2 };
  const template = await makeTemplate(ground, 5, signal);
  await mkdir(join(ground.dir, 'run'));
  await copyTemplate(ground, template, job.repository, signal);
  const start = await git(ground, job.repository, ['rev-parse', 'main'], signal);
  return { ...job, start };
}

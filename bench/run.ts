/**
 * The benchmark: what `landfast run` costs beside a plain script that does the same git work.
 *
 *   node bench/run.ts [--n 10,50,200] [--files 50,5000] [--rounds 3] [--workers 8]
 *                     [--dir FOLDER] [--json PATH] [--max-ratio R]
 *
 *   B1. The contestants take turns (script, landfast, script, …), so that a machine that is busy
 *       for a while is busy for both. What is printed are medians; the JSON file has every run.
 *   B2. Before anything is timed each contestant runs once to have its memory measured: caches are
 *       then as warm for the first timed run as for the last.
 *   B3. A run that did not do all of its work (inspect.ts), or that reached another tree than the
 *       others, ends the benchmark with an error.
 *
 * How the numbers are taken is in measure.ts, what is run in contestants.ts.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import { type Contestant, landfast, script } from './contestants.ts';
import {
  copyTemplate,
  fileSystemOf,
  type Ground,
  git,
  makeTemplate,
  openGround,
} from './ground.ts';
import { DishonestError, inspect } from './inspect.ts';
import { type Order, type Times, timeCommand, watchMemory } from './measure.ts';
import { type Options, readOptions } from './options.ts';
import { type Cell, ratiosOf, type Surroundings, tableText } from './results.ts';

const RUN_LIMIT_MS = 20 * 60_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`bench: ${options}`);
    return 2;
  }
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  try {
    return await bench(options, interrupted.signal);
  } catch (error) {
    console.error(`bench: ${messageOf(error)}`);
    return 1;
  }
}

async function bench(options: Options, signal: AbortSignal): Promise<number> {
  await using ground = await openGround(options.dir);
  const around = await surroundings(ground, options, signal);
  const { fileSystem, cores, processor, node, git: gitVersion } = around;
  console.log(`${fileSystem}; ${cores} cores, ${processor}; Node ${node}; ${gitVersion}`);
  const cells: Cell[] = [];
  for (const files of options.files) {
    const template = await makeTemplate(ground, files, signal);
    for (const tasks of options.tasks) {
      const size = { files, tasks, workers: options.workers, template };
      cells.push(await measureCell(ground, size, options.rounds, signal));
    }
    await rm(template, { recursive: true });
  }
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify({ surroundings: around, cells }, null, 2)}\n`);
  console.log(`\n${tableText(cells)}\n\nEvery run: ${options.json}`);
  return verdict(cells, options);
}

async function surroundings(
  ground: Ground,
  { workers, rounds }: Options,
  signal: AbortSignal,
): Promise<Surroundings> {
  return {
    fileSystem: fileSystemOf(ground.dir),
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    node: process.version,
    git: await git(ground, ground.dir, ['--version'], signal),
    workers,
    rounds,
  };
}

interface Size {
  readonly files: number;
  readonly tasks: number;
  readonly workers: number;
  readonly template: string;
}

async function measureCell(
  ground: Ground,
  size: Size,
  rounds: number,
  signal: AbortSignal,
): Promise<Cell> {
  let tree: string | null = null;
  const run = async <T>(contestant: Contestant, measure: Measure<T>): Promise<T> => {
    const ran = await runOnce(ground, { ...size, contestant, measure }, signal);
    tree ??= ran.tree;
    if (ran.tree === tree) return ran.cost;
    throw new DishonestError(`${contestant.name} reached the tree ${ran.tree}, not ${tree}`);
  };
  const memory = {
    script: await run(script, watchMemory),
    landfast: await run(landfast, watchMemory),
  };
  const runs: Readonly<Record<Contestant['name'], Times[]>> = { script: [], landfast: [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const contestant of [script, landfast]) {
      const times = await run(contestant, timeCommand);
      runs[contestant.name].push(times);
      say(size, `${contestant.name} ${(times.wallMs / 1000).toFixed(2)} s`);
    }
  }
  return {
    files: size.files,
    tasks: size.tasks,
    costs: {
      script: { runs: runs.script, memory: memory.script },
      landfast: { runs: runs.landfast, memory: memory.landfast },
    },
  };
}

type Measure<T> = (order: Order, signal: AbortSignal) => Promise<T>;

/** One run in a repository of its own, which is gone afterwards. */
async function runOnce<T>(
  ground: Ground,
  what: Size & { readonly contestant: Contestant; readonly measure: Measure<T> },
  signal: AbortSignal,
): Promise<{ readonly cost: T; readonly tree: string }> {
  const { contestant, measure, template, tasks, workers } = what;
  const dir = join(ground.dir, 'run');
  const job = { repository: join(dir, 'repository'), tasks, workers };
  await mkdir(dir);
  await copyTemplate(ground, template, job.repository, signal);
  const start = await git(ground, job.repository, ['rev-parse', 'main'], signal);
  const command = await contestant.command(job);
  const cost = await measure({ command, env: ground.env, dir }, limited(signal));
  const tree = await inspect(ground, contestant, { ...job, start }, signal);
  await rm(dir, { recursive: true });
  return { cost, tree };
}

/** Something that hangs must not hang the benchmark. */
function limited(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT_MS)]);
}

function say({ files, tasks }: Size, text: string): void {
  console.error(`${tasks} tasks, ${files} files: ${text}`);
}

function verdict(cells: readonly Cell[], { maxRatio }: Options): number {
  const slow = cells.filter((cell) => !(ratiosOf(cell).wallMs <= maxRatio));
  for (const { files, tasks } of slow) {
    console.error(`bench: the ratio of ${tasks} tasks, ${files} files is above ${maxRatio}`);
  }
  return slow.length === 0 ? 0 : 1;
}

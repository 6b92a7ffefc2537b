/**
 * The landing benchmark: how long until everything good is on a green main.
 *
 *   node bench/landing.ts [--tasks 16] [--gate-ms 5000] [--slots 2] [--json PATH]
 *
 * The same branches are landed by the serial loop that people write (merge, run the gate, reset when
 * it is red) and by `landfast land`, with every combination verified and as batches.
 *
 *   B1. The gate waits and then looks at the files: what is measured is the queue, not a test suite.
 *   B2. A contestant that landed something red, or did not land exactly the good branches, ends the
 *       benchmark with an error.
 */

import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { copyTemplate, defaultPlace, type Ground, git, openGround } from './ground.ts';

const BIN = resolve(import.meta.dirname, '..', 'bin', 'landfast.cjs');
const SCENARIOS = ['all green', 'one culprit', 'one conflict'] as const;
const WAYS = ['serial', 'each', 'batch'] as const;
/** What is promised (docs/benchmarks.md), as times of the serial loop; with 16 tasks and 2 slots. */
const TARGETS: Readonly<Record<string, number>> = {
  'all green/each': 1.8,
  'all green/batch': 6,
  'one culprit/batch': 2.5,
};

/** What people write: one checkout, one branch after the other. */
const SERIAL = `
gate=$1; shift
for branch in "$@"; do
  git merge -q --no-ff -m "Merge $branch" "$branch" || { git merge --abort; continue; }
  sh -c "$gate" || git reset -q --hard HEAD~1
done
`;

/** How often the gate may run at most, with 16 tasks and 2 slots (test/merge/numbers.test.ts). */
const MOST_RUNS: Readonly<Record<string, number>> = {
  'all green/batch': 1,
  'one culprit/batch': 10,
};

type Scenario = (typeof SCENARIOS)[number];
type Way = (typeof WAYS)[number];

interface Sizes {
  readonly tasks: number;
  readonly gateMs: number;
  readonly slots: number;
}

interface Row {
  readonly scenario: Scenario;
  readonly way: Way;
  readonly ms: number;
  readonly gates: number;
  readonly landed: number;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`bench: ${messageOf(error)}`);
  return 1;
});

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tasks: { type: 'string', default: '16' },
      'gate-ms': { type: 'string', default: '5000' },
      slots: { type: 'string', default: '2' },
      json: { type: 'string', default: `bench/results/landing-${Date.now()}.json` },
    },
  });
  const sizes = {
    tasks: Number(values.tasks),
    gateMs: Number(values['gate-ms']),
    slots: Number(values.slots),
  };
  if (!Object.values(sizes).every((size) => Number.isInteger(size) && size > 0)) {
    console.error('bench: --tasks, --gate-ms and --slots are whole numbers of at least 1.');
    return 2;
  }
  const rows = await measure(sizes);
  await mkdir(dirname(values.json), { recursive: true });
  await writeFile(values.json, `${JSON.stringify({ ...sizes, rows }, null, 2)}\n`);
  return missed(rows, sizes).length === 0 ? 0 : 1;
}

async function measure(sizes: Sizes): Promise<readonly Row[]> {
  const { signal } = new AbortController();
  await using ground = await openGround(defaultPlace(tmpdir()));
  const rows: Row[] = [];
  console.log(`${sizes.tasks} branches, a gate of ${sizes.gateMs} ms, ${sizes.slots} slots`);
  for (const scenario of SCENARIOS) {
    const template = join(ground.dir, `template-${SCENARIOS.indexOf(scenario)}`);
    await makeBranches(ground, { template, scenario, tasks: sizes.tasks }, signal);
    for (const way of WAYS) {
      const row = await runOnce(ground, { template, scenario, way, sizes }, signal);
      const serial = rows.find((other) => other.scenario === scenario && other.way === 'serial');
      const ratio = serial === undefined ? '' : `  ${(serial.ms / row.ms).toFixed(1)}x`;
      const seconds = `${(row.ms / 1000).toFixed(1)} s`;
      console.log(
        `${scenario.padEnd(13)}${way.padEnd(8)}${seconds.padStart(8)}  ${row.gates} gate runs${ratio}`,
      );
      rows.push(row);
    }
  }
  for (const line of missed(rows, sizes)) console.log(line);
  return rows;
}

/** The promises that were not kept; they are made for a gate that takes longer than git. */
function missed(rows: readonly Row[], { tasks, slots, gateMs }: Sizes): readonly string[] {
  if (tasks !== 16 || slots !== 2 || gateMs < 5000) return [];
  const rowOf = (name: string): Row | undefined =>
    rows.find((row) => `${row.scenario}/${row.way}` === name);
  const slow = Object.entries(TARGETS).flatMap(([name, target]) => {
    const serial = rowOf(`${name.split('/')[0]}/serial`)?.ms ?? Number.NaN;
    const ratio = serial / (rowOf(name)?.ms ?? Number.NaN);
    return ratio >= target ? [] : [`MISSED ${name}: ${ratio.toFixed(2)}x, wanted ${target}x`];
  });
  const many = Object.entries(MOST_RUNS).flatMap(([name, most]) => {
    const runs = rowOf(name)?.gates ?? Number.NaN;
    return runs <= most ? [] : [`MISSED ${name}: ${runs} gate runs, at most ${most} promised`];
  });
  return [...slow, ...many];
}

function branchName(nth: number): string {
  return `work/${String(nth).padStart(2, '0')}`;
}

/** Neither the first nor the last: a bisection has to look for it. */
function odd(tasks: number): number {
  return Math.ceil(tasks * 0.6);
}

/** A repository with a branch for each task: one file each, but for the odd one. */
async function makeBranches(
  ground: Ground,
  { template, scenario, tasks }: { template: string; scenario: Scenario; tasks: number },
  signal: AbortSignal,
): Promise<void> {
  await mkdir(template);
  const run = (...args: readonly string[]) => git(ground, template, args, signal);
  await run('init', '-q');
  await writeFile(join(template, 'README.md'), 'hello\n');
  await run('add', '-A');
  await run('commit', '-q', '-m', 'Begin');
  for (let nth = 1; nth <= tasks; nth += 1) {
    await run('checkout', '-q', '-b', branchName(nth), 'main');
    const isOdd = nth === odd(tasks);
    const conflicts = isOdd && scenario === 'one conflict';
    await writeFile(join(template, conflicts ? 'file-1' : `file-${nth}`), `${nth}\n`);
    if (isOdd && scenario === 'one culprit') await writeFile(join(template, 'broken'), '');
    await run('add', '-A');
    await run('commit', '-q', '-m', `Add ${nth}`);
  }
  await run('checkout', '-q', 'main');
}

interface Order {
  readonly template: string;
  readonly scenario: Scenario;
  readonly way: Way;
  readonly sizes: Sizes;
}

async function runOnce(ground: Ground, order: Order, signal: AbortSignal): Promise<Row> {
  const { template, scenario, way, sizes } = order;
  const dir = join(ground.dir, `${way}-${SCENARIOS.indexOf(scenario)}`);
  await copyTemplate(ground, template, dir, signal);
  const log = `${dir}.gates`;
  await appendFile(log, '');
  const gate = `echo x >> ${log}; sleep ${sizes.gateMs / 1000}; test ! -e broken`;
  const names = Array.from({ length: sizes.tasks }, (_, at) => branchName(at + 1));
  await writeFile(join(ground.dir, 'serial.sh'), SERIAL);
  const config = join(ground.dir, 'home', '.config', 'landfast', 'config.yaml');
  await mkdir(dirname(config), { recursive: true });
  await writeFile(config, `limits: { gates: ${sizes.slots} }\n`);
  const command =
    way === 'serial'
      ? ['bash', join(ground.dir, 'serial.sh'), gate, ...names]
      : [process.execPath, BIN, 'land', ...names, '--gate', `slow=${gate}`, '--verify', way];
  const begun = performance.now();
  const said = await runCommand(command, dir, ground.env);
  const ms = performance.now() - begun;
  const landed = await inspect(ground, { dir, scenario, tasks: sizes.tasks, said }, signal);
  const gates = (await readFile(log, 'utf8')).split('\n').length - 1;
  return { scenario, way, ms: Math.round(ms), gates, landed };
}

/** Its output; that it ends with 1 where a branch did not land is expected. */
function runCommand(
  [file = '', ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((done) => {
    execFile(file, args, { cwd, env }, (_, stdout, stderr) => done(`${stdout}${stderr}`));
  });
}

/** Counts what landed; throws where it is not exactly what is good, or main was ever red. */
async function inspect(
  ground: Ground,
  { dir, scenario, tasks, said }: { dir: string; scenario: Scenario; tasks: number; said: string },
  signal: AbortSignal,
): Promise<number> {
  const files = await git(ground, dir, ['ls-tree', '--name-only', 'main'], signal);
  const out = scenario === 'all green' ? 0 : odd(tasks);
  const wanted = Array.from({ length: tasks }, (_, at) => at + 1).filter((nth) => nth !== out);
  const expected = ['README.md', ...wanted.map((nth) => `file-${nth}`)].sort().join(' ');
  const found = files.trim().split('\n').sort().join(' ');
  if (found !== expected) throw new Error(`main has ${found}, not ${expected}:\n${said}`);
  const red = ['log', '--first-parent', '--format=%H', 'main', '--', 'broken'];
  const ever = await git(ground, dir, red, signal);
  if (ever.trim() !== '') throw new Error(`main was red at ${ever}`);
  return wanted.length;
}

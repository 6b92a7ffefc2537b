/**
 * The benchmark: what `landfast run` costs beside a plain script that does the same git work.
 *
 *   node bench/run.ts [CASE…] [--way plan,manifest,shell] [--rounds N] [--out FILE] [--dir FOLDER]
 *                     [--list] [--guard] [--publish] [--tasks N [--files N] [--workers N]]
 *
 *   B1. The entrants of a case take turns (script, landfast, script, …), so that a machine that is
 *       busy for a while is busy for all. What is printed are medians; the JSON file has every run.
 *   B2. Before anything is timed each entrant runs once to have its memory measured and its git
 *       processes counted: caches are then as warm for the first timed run as for the last.
 *   B3. A run that did not do all of its work (inspect.ts), or that reached another tree than others
 *       with the same tasks, ends the benchmark with an error.
 *   B4. A missed target is exit code 1. What was measured is in the JSON file all the same.
 *
 * How the numbers are taken is in measure.ts, what is run in cases.ts and contestants.ts.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import { CASES, type Case, GUARD_CASES } from './cases.ts';
import { installProgram } from './contestants.ts';
import { fileSystemOf, type Ground, git, openGround, UNJOURNALED } from './ground.ts';
import { guard } from './guard.ts';
import { type Options, readOptions } from './options.ts';
import { findOrchestra, withOrchestra } from './orchestra.ts';
import { writePages } from './publish.ts';
import { type CaseResult, checksOf, median, type Surroundings } from './results.ts';
import { measureCase } from './rounds.ts';
import { tableText } from './table.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`bench: ${options}`);
    return 2;
  }
  if (options.list) {
    console.log(listText(options.guard ? GUARD_CASES : CASES));
    return 0;
  }
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  try {
    await using ground = await openGround(options.dir);
    await installProgram(ground);
    const around = await surroundings(ground, interrupted.signal);
    tellWhere(around);
    if (options.guard) return await guard(ground, options, interrupted.signal);
    const cases = await withRivals(options.cases, interrupted.signal);
    return await bench(ground, { ...options, cases, around }, interrupted.signal);
  } catch (error) {
    console.error(`bench: ${messageOf(error)}`);
    return 1;
  }
}

/** Other tools are measured where they are found. */
async function withRivals(cases: readonly Case[], signal: AbortSignal): Promise<readonly Case[]> {
  const { PO_SRC: source } = process.env;
  if (source === undefined || source === '') return cases;
  return withOrchestra(cases, await findOrchestra(source, signal));
}

function listText(cases: readonly Case[]): string {
  return cases.map(({ name, title }) => `${name.padEnd(14)}${title}`).join('\n');
}

async function surroundings(ground: Ground, signal: AbortSignal): Promise<Surroundings> {
  return {
    date: new Date().toISOString().slice(0, 10),
    fileSystem: fileSystemOf(ground.dir),
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    node: process.version.slice(1),
    git: (await git(ground, ground.dir, ['--version'], signal)).replace('git version ', ''),
  };
}

function tellWhere({ fileSystem, cores, processor, load, node, git: version }: Surroundings) {
  console.error(
    `${fileSystem}; ${cores} cores (${processor}), load ${load}; Node ${node}, git ${version}`,
  );
  if (fileSystem !== UNJOURNALED) return;
  console.error(
    'There new files are slow after many were removed, which blurs every difference: ' +
      'name a folder in memory or on another disk with --dir.',
  );
}

async function bench(
  ground: Ground,
  { cases, rounds, out, publish, around }: Options & { readonly around: Surroundings },
  signal: AbortSignal,
): Promise<number> {
  const results: CaseResult[] = [];
  for (const each of cases) {
    const costs = await measureCase(ground, each, rounds ?? each.rounds, signal);
    const { name, title } = each;
    const result = { name, title, costs, checks: checksOf(each, costs, median) };
    results.push(result);
    console.log(`${tableText(result, median)}\n`);
    await mkdir(dirname(out), { recursive: true });
    const text = JSON.stringify({ surroundings: around, cases: results }, null, 2);
    await writeFile(out, `${text}\n`);
  }
  if (publish) await writePages({ surroundings: around, cases: results });
  const missed = results.flatMap(({ checks }) => checks).filter(({ kept }) => !kept);
  console.log(`Every run: ${out}\n${missed.length} of the targets missed.`);
  return missed.length === 0 ? 0 : 1;
}

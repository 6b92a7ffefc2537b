/**
 * The stream benchmark: what it costs the engine to listen to many agents that all speak at once,
 * and whether it keeps up.
 *
 *   node bench/stream.ts [--agents 100] [--rate 20] [--seconds 20] [--max-lag 500]
 *                        [--dir FOLDER] [--json PATH] [--profile FOLDER]
 *
 *   S1. A whole run of the published program is measured: the agents (stream-agent.pl) get
 *       worktrees, are parsed as claude, and their work is judged, committed, landed and published.
 *   S2. It fails if an event is missing, doubled or out of order in any log or transcript, and if a
 *       second process (stream-follower.ts) was at any time more than --max-lag ms behind.
 *   S3. --profile has the engine write a V8 CPU profile there; the numbers are then not for print.
 *
 * How the numbers are taken is in stream-processes.ts, how they are counted in stream-figures.ts.
 */

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { attemptFiles, attemptsDir } from '../src/journal/transcript.ts';
import {
  defaultPlace,
  fileSystemOf,
  type Ground,
  git,
  makeTemplate,
  openGround,
} from './ground.ts';
import {
  engineLags,
  fullHouse,
  journalLags,
  type Kept,
  type Loss,
  lossOf,
  numbered,
  type Spread,
  shareBetween,
  spreadOf,
  statusLags,
  totalLoss,
} from './stream-figures.ts';
import { type Watched, watchEngine } from './stream-processes.ts';

interface Options {
  readonly agents: number;
  /** Events a second, for each agent. */
  readonly rate: number;
  readonly seconds: number;
  readonly maxLagMs: number;
  readonly dir: string;
  readonly json: string;
  readonly profile: string | null;
}

/** What is printed and written down. */
export interface Figures {
  readonly events: number;
  readonly stdout: Loss;
  readonly transcript: Loss;
  /** From an agent's print to the engine; the first part of the way to status. */
  readonly engineLagMs: Spread;
  readonly statusLagMs: Spread;
  readonly journalLagMs: Spread;
  readonly wallMs: number;
  /** Of the engine's own process, to the last look at it. */
  readonly cpuMs: number;
  readonly peakKb: number;
  /** Of one core, while every agent spoke; null when they never did so all together. */
  readonly cpuShare: number | null;
  readonly fullHouseMs: number;
}

const ROOT = join(import.meta.dirname, '..');
const FILES = 50;
const RUN_LIMIT_MS = 10 * 60_000;

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

function readOptions(args: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        agents: { type: 'string', default: '100' },
        rate: { type: 'string', default: '20' },
        seconds: { type: 'string', default: '20' },
        'max-lag': { type: 'string', default: '500' },
        dir: { type: 'string', default: defaultPlace(tmpdir()) },
        json: { type: 'string', default: join(import.meta.dirname, 'results', fileName()) },
        profile: { type: 'string' },
      },
    });
    return {
      agents: count('--agents', values.agents),
      rate: count('--rate', values.rate),
      seconds: count('--seconds', values.seconds),
      maxLagMs: count('--max-lag', values['max-lag']),
      dir: resolve(values.dir),
      json: resolve(values.json),
      profile: values.profile === undefined ? null : resolve(values.profile),
    };
  } catch (error) {
    return messageOf(error);
  }
}

function fileName(): string {
  return `stream-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`;
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${option} wants a whole number from 1, not ${text}`);
}

async function bench(options: Options, signal: AbortSignal): Promise<number> {
  await requirePerl(signal);
  await using ground = await openGround(options.dir);
  const around = await surroundings(ground, signal);
  const { fileSystem, cores, processor, node, git: gitVersion } = around;
  console.log(`${fileSystem}; ${cores} cores, ${processor}; Node ${node}; ${gitVersion}`);
  const repository = await makeTemplate(ground, FILES, signal);
  const stateDir = join(repository, '.git', 'landfast');
  const command = await engineCommand(ground, repository, options);
  const engine = { command, env: ground.env, dir: ground.dir };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT_MS)]);
  const watched = await watchEngine(engine, stateDir, limit);
  const attempts = attemptsDir(stateDir, watched.sightings.run);
  const figures = figuresOf(await readKept(attempts, options), watched, options);
  const { agents, rate, seconds, maxLagMs } = options;
  const result = { surroundings: around, options: { agents, rate, seconds, maxLagMs }, figures };
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
  console.log(`\n${tableText(figures, options)}\n\nAs data: ${options.json}`);
  return verdict(figures, options);
}

async function requirePerl(signal: AbortSignal): Promise<void> {
  try {
    await promisify(execFile)('perl', ['-MTime::HiRes', '-e', '1'], { signal });
  } catch (error) {
    throw new Error(`the scripted agent needs perl with Time::HiRes: ${messageOf(error)}`);
  }
}

async function surroundings(ground: Ground, signal: AbortSignal) {
  return {
    fileSystem: fileSystemOf(ground.dir),
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    node: process.version,
    git: await git(ground, ground.dir, ['--version'], signal),
  };
}

async function engineCommand(
  ground: Ground,
  repository: string,
  { agents, rate, seconds, profile }: Options,
): Promise<readonly string[]> {
  const agent = join(ground.dir, 'stream-agent');
  await copyFile(join(import.meta.dirname, 'stream-agent.pl'), agent);
  await chmod(agent, 0o755);
  const plan = join(ground.dir, 'plan.yaml');
  const tasks = taskNames(agents).map((id) => ({
    id,
    prompt: `Print ${rate * seconds} events, ${rate} a second, and write ${id}.txt.`,
    writes: [`${id}.txt`],
  }));
  const defaults = { agent: 'claude', retries: 0 };
  const head = { landfast: 1, name: 'stream', target: 'main', limits: { workers: agents } };
  await writeFile(plan, JSON.stringify({ ...head, defaults, tasks })); // JSON is YAML.
  const profiling = profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const program = [process.execPath, ...profiling, join(ROOT, 'bin', 'landfast.cjs')];
  const flags = ['--claude-exe', agent, '--no-dashboard', '--quiet'];
  return [...program, 'run', plan, '-C', repository, ...flags];
}

function taskNames(agents: number): readonly string[] {
  return Array.from({ length: agents }, (_, index) => `agent-${index + 1}`);
}

/** What is on disk of each agent, which had one attempt only. */
async function readKept(attempts: string, { agents }: Options): Promise<readonly Kept[]> {
  return Promise.all(
    taskNames(agents).map(async (task) => {
      const { stdout, transcript } = attemptFiles(attempts, task, 1);
      return { task, stdout: await readEvents(stdout), transcript: await readEvents(transcript) };
    }),
  );
}

async function readEvents(file: string): Promise<Kept['stdout']> {
  return numbered((await readFile(file, 'utf8')).split('\n').slice(0, -1));
}

function figuresOf(kept: readonly Kept[], watched: Watched, options: Options): Figures {
  const each = options.rate * options.seconds;
  const { samples, sightings, wallMs } = watched;
  const last = samples.at(-1);
  const window = fullHouse(kept);
  return {
    events: each * options.agents,
    stdout: totalLoss(kept.map(({ stdout }) => lossOf(stdout, each))),
    transcript: totalLoss(kept.map(({ transcript }) => lossOf(transcript, each))),
    engineLagMs: spreadOf(engineLags(kept)),
    statusLagMs: spreadOf(statusLags(kept, sightings)),
    journalLagMs: spreadOf(journalLags(sightings)),
    wallMs,
    cpuMs: last?.cpuMs ?? Number.NaN,
    peakKb: last?.peakKb ?? Number.NaN,
    cpuShare: shareBetween(samples, window),
    fullHouseMs: Math.max(0, window.to - window.from),
  };
}

function tableText(figures: Figures, { agents, rate, seconds }: Options): string {
  const { events, stdout, transcript, cpuShare, fullHouseMs } = figures;
  const { engineLagMs, statusLagMs, journalLagMs } = figures;
  const loss = ({ lost, misplaced }: Loss) => [lost, misplaced];
  const lag = ({ p50, p95, max }: Spread) => [p50, p95, max];
  const s = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const share = cpuShare === null ? 'never' : `${(cpuShare * 100).toFixed(0)} % of a core`;
  return [
    `${agents} agents, ${rate} events a second each, for ${seconds} s: ${events} events`,
    '',
    row('', ['lost', 'misplaced']),
    row('raw logs', loss(stdout)),
    row('transcripts', loss(transcript)),
    '',
    row('ms behind', ['p50', 'p95', 'max']),
    row('engine', lag(engineLagMs)),
    row('status', lag(statusLagMs)),
    row('journal', lag(journalLagMs)),
    '',
    row('engine', ['CPU', 'wall', 'peak RSS']),
    row('', [s(figures.cpuMs), s(figures.wallMs), `${(figures.peakKb / 1024).toFixed(0)} MB`]),
    `while all agents spoke (${s(fullHouseMs)}): ${share}`,
  ].join('\n');
}

function row(name: string, fields: readonly (string | number)[]): string {
  return `${name.padEnd(12)}${fields.map((field) => String(field).padStart(10)).join('')}`;
}

function verdict(figures: Figures, { maxLagMs }: Options): number {
  const { stdout, transcript, statusLagMs, journalLagMs } = figures;
  const problems = [
    ...Object.entries({ 'raw logs': stdout, transcripts: transcript })
      .filter(([, { lost, misplaced }]) => lost + misplaced > 0)
      .map(([name, loss]) => `${name}: ${loss.lost} lost, ${loss.misplaced} misplaced`),
    ...Object.entries({ status: statusLagMs, journal: journalLagMs })
      .filter(([, { max }]) => !(max <= maxLagMs))
      .map(([name, { max }]) => `${name} was ${max} ms behind, more than ${maxLagMs}`),
  ];
  for (const problem of problems) console.error(`bench: ${problem}`);
  return problems.length === 0 ? 0 : 1;
}

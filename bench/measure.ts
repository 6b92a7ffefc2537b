/**
 * What one command costs: wall time, processor time and memory of its whole process tree. Linux.
 *
 * Node can tell what its own process used, but not its children's; `/usr/bin/time` is not
 * everywhere. So:
 *
 *   wall    by this process's clock, from starting the command to its end.
 *   CPU     user and system time by the shell's own `times`: the command runs as the only child of
 *           an `sh`, which prints what its ended children and theirs used, as the kernel counts it.
 *           What nobody waits for would be missing: see M3.
 *   memory  by looking into /proc again and again: the command's own peak (`VmHWM`, which the
 *           kernel keeps, so that nothing before the last look is missed), and the largest sum over
 *           all its processes at one moment (`Pss`: a page that several share is divided among
 *           them). A process that lives between two looks is not seen.
 *
 *   M1. Looking costs processor time. So memory is measured in runs of its own: while a run is
 *       timed, this process only waits.
 *   M2. Output goes to a file, not to a pipe that this process would have to empty.
 *   M3. What the looks saw being used and `times` does not know was used by processes that were
 *       left behind, which would make a command look cheap. That is an error.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Order {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder for its output and the like. */
  readonly dir: string;
}

export interface Times {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export interface Memory {
  /** The peak of the command's own process. */
  readonly mainKb: number;
  /** The peak of all its processes together. */
  readonly treeKb: number;
}

/** The command did not succeed: there is nothing to measure. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const WITH_TIMES = 'times=$1; shift; "$@"; status=$?; times >"$times"; exit $status';
const LOOK_EVERY_MS = 10;
/** Where there are many processes a look takes long: it must not take all of a core. */
const REST_PER_LOOK = 4;
/** The unit of times in /proc. */
const TICK_MS = 10;
/** How much a few dozen rounded times may differ from their sum. */
const ROUNDING_MS = 200;
const OUTPUT_CHARS = 4_000;

/** Runs a command and times it. */
export async function timeCommand(order: Order, signal: AbortSignal): Promise<Times> {
  const began = performance.now();
  await runCommand(order, () => {}, signal);
  const wallMs = Math.round((performance.now() - began) * 10) / 10;
  return { wallMs, cpuMs: await countedCpu(order) };
}

/** Runs a command and watches its memory. */
export async function watchMemory(order: Order, signal: AbortSignal): Promise<Memory> {
  const peak = { mainKb: 0, treeKb: 0, cpuMs: 0 };
  let timer: NodeJS.Timeout | undefined;
  const watch = ({ pid }: ChildProcess): void => {
    if (pid === undefined) return;
    const look = (): void => {
      const began = performance.now();
      const seen = lookBelow(pid);
      for (const key of ['mainKb', 'treeKb', 'cpuMs'] as const) {
        peak[key] = Math.max(peak[key], seen[key]);
      }
      const tookMs = performance.now() - began;
      timer = setTimeout(look, Math.max(LOOK_EVERY_MS, tookMs * REST_PER_LOOK));
    };
    timer = setTimeout(look, LOOK_EVERY_MS);
  };
  try {
    await runCommand(order, watch, signal);
  } finally {
    clearTimeout(timer);
  }
  const counted = await countedCpu(order);
  if (peak.cpuMs <= counted * 1.2 + ROUNDING_MS)
    return { mainKb: peak.mainKb, treeKb: peak.treeKb };
  const [seen, told] = [peak.cpuMs, counted].map((ms) => `${ms.toFixed(0)} ms`);
  throw new CommandError(
    `${order.command.join(' ')}\nused ${seen}, of which it accounts for ${told}`,
  );
}

async function countedCpu({ dir }: Order): Promise<number> {
  return cpuOfChildren(await readFile(join(dir, 'times'), 'utf8'));
}

/** The second line of `times`: what children have used, `0m1.250s 0m0.500s` for user and system. */
export function cpuOfChildren(times: string): number {
  const spans = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new CommandError(`sh says strange times: ${times}`);
  const seconds = spans.map(([, minutes, rest]) => Number(minutes) * 60 + Number(rest));
  return Math.round(seconds.reduce((sum, each) => sum + each, 0) * 10_000) / 10;
}

async function runCommand(
  { command, env, dir }: Order,
  onStart: (child: ChildProcess) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const output = join(dir, 'output');
  const fd = openSync(output, 'w');
  const child = spawn('/bin/sh', ['-c', WITH_TIMES, 'sh', join(dir, 'times'), ...command], {
    cwd: dir,
    env,
    detached: true, // Leads a process group, so that `stop` reaches what it has started.
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  const stop = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    onStart(child);
    const [code, endedBy] = (await once(child, 'exit')) as [number | null, string | null];
    signal.throwIfAborted();
    if (code === 0) return;
    const said = (await readFile(output, 'utf8')).slice(-OUTPUT_CHARS);
    throw new CommandError(`${command.join(' ')}\nended with ${code ?? endedBy}:\n${said}`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** What everything that `pid`, the measuring shell, has started holds and has used until now. */
function lookBelow(pid: number): Memory & { readonly cpuMs: number } {
  const childrenOf = Map.groupBy(processes(), ({ parent }) => parent);
  const main = childrenOf.get(pid)?.[0];
  if (main === undefined) return { mainKb: 0, treeKb: 0, cpuMs: 0 };
  const tree = [main];
  for (const { pid: parent } of tree) tree.push(...(childrenOf.get(parent) ?? []));
  return {
    mainKb: kbOf(main.pid, 'status', 'VmHWM'),
    treeKb: tree.reduce((sum, each) => sum + kbOf(each.pid, 'smaps_rollup', 'Pss'), 0),
    cpuMs: tree.reduce((sum, each) => sum + each.cpuMs, 0),
  };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Its own, and that of its children that have ended. */
  readonly cpuMs: number;
}

function processes(): readonly Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const stat = readProc(name, 'stat');
      // The second field, in brackets, may hold anything: the third is the first after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      return { pid: Number(name), parent: Number(fields[1] ?? 0), cpuMs: ticks * TICK_MS };
    });
}

function kbOf(pid: number, file: string, key: string): number {
  const line = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readProc(String(pid), file));
  return Number(line?.[1] ?? 0);
}

/** Empty when the process is gone. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8');
  } catch {
    return '';
  }
}

/**
 * What one command costs: wall time, processor time and memory of its whole process tree. Linux.
 *
 * Node can tell what its own process used, but not its children's; `/usr/bin/time` is not
 * everywhere. So:
 *
 *   wall    by this process's clock, from starting the command to its end.
 *   CPU     user and system time by the shell's own `times`: the command runs as the only child of
 *           an `sh`, which prints what its ended children and theirs used, as the kernel counts it.
 *           A process that nobody waited for would be missing; neither contestant leaves any.
 *   memory  by looking into /proc again and again: the command's own peak (`VmHWM`, which the kernel
 *           keeps, so that nothing between two looks is missed), and the largest sum of the
 *           resident memory of all its processes at one moment. Pages that processes share count
 *           in each of them, and a process that lives between two looks is not seen.
 *
 *   M1. Looking costs processor time. So memory is measured in runs of its own: while a run is
 *       timed, this process only waits.
 *   M2. Output goes to a file, not to a pipe that this process would have to empty.
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
const OUTPUT_CHARS = 4_000;

/** Runs a command and times it. */
export async function timeCommand(order: Order, signal: AbortSignal): Promise<Times> {
  const began = performance.now();
  await runCommand(order, () => {}, signal);
  const wallMs = performance.now() - began;
  return { wallMs, cpuMs: cpuOfChildren(await readFile(join(order.dir, 'times'), 'utf8')) };
}

/** Runs a command and watches its memory. */
export async function watchMemory(order: Order, signal: AbortSignal): Promise<Memory> {
  const peak = { mainKb: 0, treeKb: 0 };
  let timer: NodeJS.Timeout | undefined;
  const watch = ({ pid }: ChildProcess): void => {
    if (pid === undefined) return;
    timer = setInterval(() => {
      const { mainKb, treeKb } = memoryBelow(pid);
      peak.mainKb = Math.max(peak.mainKb, mainKb);
      peak.treeKb = Math.max(peak.treeKb, treeKb);
    }, LOOK_EVERY_MS);
  };
  try {
    await runCommand(order, watch, signal);
  } finally {
    clearInterval(timer);
  }
  return peak;
}

/** The second line of `times`: what children have used, `0m1.250s 0m0.500s` for user and system. */
export function cpuOfChildren(times: string): number {
  const spans = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (spans.length !== 2) throw new CommandError(`sh says strange times: ${times}`);
  const seconds = spans.map(([, minutes, rest]) => Number(minutes) * 60 + Number(rest));
  return seconds.reduce((sum, each) => sum + each, 0) * 1000;
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

/** The memory of everything that `pid`, which is the measuring shell, has started. */
function memoryBelow(pid: number): Memory {
  const childrenOf = Map.groupBy(processes(), ({ parent }) => parent);
  const main = childrenOf.get(pid)?.[0];
  if (main === undefined) return { mainKb: 0, treeKb: 0 };
  const tree = [main];
  for (const { pid: parent } of tree) tree.push(...(childrenOf.get(parent) ?? []));
  const treeKb = tree.reduce((sum, each) => sum + statusKb(each.pid, 'VmRSS'), 0);
  return { mainKb: statusKb(main.pid, 'VmHWM'), treeKb };
}

function processes(): readonly { readonly pid: number; readonly parent: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      // The name in brackets may hold anything; after it come the state and the parent.
      const fields = /^.*\) \S (\d+)/s.exec(readProc(name, 'stat'));
      return { pid: Number(name), parent: Number(fields?.[1] ?? 0) };
    });
}

function statusKb(pid: number, key: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readProc(String(pid), 'status'));
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

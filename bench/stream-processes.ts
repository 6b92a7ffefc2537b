/**
 * The two processes that stream.ts starts: the engine, which is measured, and its follower. Linux.
 *
 *   P1. What is measured is the engine's own process, all its threads included: its agents, git and
 *       the follower are other processes.
 *   P2. Both are gone when `watchEngine` settles, whether it ends well or not.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, type Order } from './measure.ts';
import type { Sample } from './stream-figures.ts';
import type { Sightings } from './stream-follower.ts';

export interface Watched {
  readonly samples: readonly Sample[];
  readonly sightings: Sightings;
  readonly wallMs: number;
}

const FOLLOWER = join(import.meta.dirname, 'stream-follower.ts');
const SAMPLE_MS = 50;
/** The unit of times in /proc. */
const TICK_MS = 10;
/** For a follower that has only to notice that the run is over. */
const FOLLOWER_MS = 10_000;
const OUTPUT_CHARS = 4_000;

/** Runs the engine, watched from outside and from a second process, to its end. */
export async function watchEngine(
  engine: Order,
  stateDir: string,
  signal: AbortSignal,
): Promise<Watched> {
  signal.throwIfAborted();
  const file = join(engine.dir, 'sightings.json');
  const command = [process.execPath, FOLLOWER, stateDir, file];
  await using follower = startChild({ ...engine, command }, 'follower.out');
  await using main = startChild(engine, 'engine.out');
  const began = performance.now();
  const samples: Sample[] = [];
  const sampling = setInterval(() => samples.push(...look(main.child)), SAMPLE_MS);
  try {
    await main.success(signal);
  } finally {
    clearInterval(sampling);
  }
  const wallMs = performance.now() - began;
  await follower.success(AbortSignal.any([signal, AbortSignal.timeout(FOLLOWER_MS)]));
  const sightings = JSON.parse(await readFile(file, 'utf8')) as Sightings;
  return { samples, sightings, wallMs };
}

interface Started extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Waits for its end, and throws unless that is a good one. */
  success(signal: AbortSignal): Promise<void>;
}

function startChild({ command: [program = '', ...args], env, dir }: Order, name: string): Started {
  const output = join(dir, name);
  const fd = openSync(output, 'w');
  const child = spawn(program, args, { cwd: dir, env, stdio: ['ignore', fd, fd] });
  closeSync(fd);
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  ended.catch(() => {}); // It never started: `success` tells.
  return {
    child,
    success: async (signal) => {
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      const [code, endedBy] = await Promise.race([ended, aborted]);
      if (code === 0) return;
      const said = (await readFile(output, 'utf8')).slice(-OUTPUT_CHARS);
      throw new CommandError(`${args.join(' ')}\nended with ${code ?? endedBy}:\n${said}`);
    },
    [Symbol.asyncDispose]: () => end(child, ended),
  };
}

/** An engine that is told to stop ends its agents first. */
const STOP_MS = 15_000;

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const tooLong = sleep(STOP_MS, 'late', { ref: false });
  if ((await Promise.race([ended, tooLong])) === 'late') child.kill('SIGKILL');
}

/** What the process holds and has used until now; nothing when it is gone. */
function look({ pid }: ChildProcess): readonly Sample[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    // The second field, in brackets, may hold anything: the third is the first after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
    if (peak === undefined) return []; // A zombie.
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS; // User and system.
    return [{ at: Date.now(), cpuMs, peakKb: Number(peak) }];
  } catch {
    return [];
  }
}

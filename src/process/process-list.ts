/**
 * The processes of this machine at one moment: their parents, their marks, their folders.
 *
 * - A process is a pid *and* its start time: a pid may have been reused.
 * - Zombies are not listed: they are dead, and their parent may never reap them.
 * - Reading is synchronous and takes about 15 µs per process of the machine, which is cheap enough
 *   at the end of every child. Environments are read on demand.
 *
 * Linux has /proc. Elsewhere `ps` is run, which takes some 20 ms.
 */

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { trySystem } from '../base/errors.ts';
import { environment, PerRuntime } from '../base/runtime.ts';

/** The environment variable by which the processes of an attempt are found again. */
export const MARK_VARIABLE = 'LANDFAST_MARK';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The session leader; null where unknown. */
  readonly session: number | null;
  /** Comparable with other entries of this machine, in no particular unit. */
  readonly start: number;
  /**
   * Its marks, outermost first, from its environment; null while that is empty, which it is for a
   * moment during `exec`.
   */
  marks(): readonly string[] | null;
}

const HAS_PROC = existsSync('/proc/self/stat');

export const processList: () => readonly ProcessEntry[] = HAS_PROC ? tableOfProc : tableOfPs;

/** When a process started, zombies included; null if there is none. */
export function startOf(pid: number): number | null {
  if (HAS_PROC) return statOf(pid)?.entry.start ?? null;
  return tableOfPs().find((entry) => entry.pid === pid)?.start ?? null;
}

export function isAlive({ pid, start }: Pick<ProcessEntry, 'pid' | 'start'>): boolean {
  if (HAS_PROC) {
    const stat = statOf(pid);
    return stat !== null && !stat.dead && stat.entry.start === start;
  }
  return trySystem(() => process.kill(pid, 0), false);
}

/** The value of MARK_VARIABLE for a child: inherited marks, then its own. */
export function markFor(mark: string): string {
  const inherited = environment()[MARK_VARIABLE];
  return inherited === undefined || inherited === '' ? mark : `${inherited};${mark}`;
}

/**
 * Every live process that started at `since` or later, which is when `first` did. One that was older
 * a moment ago is skipped: no system reuses a pid that soon. Pids are assigned in ascending order
 * until they wrap around, so where few were assigned since, only these are read.
 */
export function youngProcesses(since: number, first: number): readonly ProcessEntry[] {
  if (!HAS_PROC) return tableOfPs().filter(({ start }) => start >= since);
  const { starts, marks } = lookNow();
  const entries: ProcessEntry[] = [];
  for (const pid of pidsFrom(first) ?? allPids()) {
    if ((starts.get(pid) ?? since) < since) continue;
    const stat = statOf(pid);
    if (stat === null) continue;
    starts.set(pid, stat.entry.start);
    if (stat.dead || stat.entry.start < since) continue;
    entries.push({ ...stat.entry, marks: () => marksSeen(stat.entry, marks) });
  }
  return entries;
}

/** Pids assigned since `first`; null where they are too many to check one by one. */
function pidsFrom(first: number): readonly number[] | null {
  // `0.20 0.18 0.12 1/80 11206`: the last field is the last pid.
  const load = trySystem(() => readFileSync('/proc/loadavg', 'utf8'), '');
  const last = Number(load.slice(load.lastIndexOf(' ') + 1));
  if (!(last >= first && last - first < MOST_PIDS)) return null;
  const pids = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
  return pids.filter((pid) => existsSync(`/proc/${pid}`));
}

/** Checking so many takes as long as listing all. */
const MOST_PIDS = 100;

function allPids(): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const digit = name.charCodeAt(0);
    return digit < 0x30 || digit > 0x39 ? [] : Number(name);
  });
}

/** What was read within MOMENT_MS. */
class Look {
  readonly at = performance.now();
  readonly starts = new Map<number, number>();
  /** By pid and start. */
  readonly marks = new Map<string, readonly string[]>();
}

const MOMENT_MS = 500;
const looks = new PerRuntime(() => ({ last: new Look() }));

function lookNow(): Look {
  const shared = looks.current ?? { last: new Look() };
  if (performance.now() - shared.last.at > MOMENT_MS) shared.last = new Look();
  return shared.last;
}

export function tableOfProc(): readonly ProcessEntry[] {
  return allPids().flatMap((pid) => {
    const stat = statOf(pid);
    return stat === null || stat.dead ? [] : stat.entry;
  });
}

/** `e` (or `-E`) of `ps` appends the environment to the command. */
export function tableOfPs(): readonly ProcessEntry[] {
  const all = process.platform === 'darwin' ? '-axEww' : 'axeww';
  const columns = 'pid=,ppid=,pgid=,state=,lstart=,command=';
  const { stdout } = spawnSync('ps', [all, '-o', columns], {
    encoding: 'utf8',
    env: { PATH: environment().PATH, LC_ALL: 'C' },
    maxBuffer: 256 * 1024 * 1024,
  });
  return (stdout ?? '').split('\n').flatMap((line) => entryOfPs(line) ?? []);
}

interface Stat {
  readonly entry: ProcessEntry;
  readonly dead: boolean;
}

/** Filled and read without an await in between. */
const buffer = Buffer.allocUnsafe(4096);

function statOf(pid: number): Stat | null {
  const file = trySystem(() => openSync(`/proc/${pid}/stat`, 'r'), null);
  if (file === null) return null;
  try {
    const length = trySystem(() => readSync(file, buffer, 0, buffer.length, 0), 0);
    return length === 0 ? null : parseStat(pid, buffer.toString('latin1', 0, length));
  } finally {
    closeSync(file);
  }
}

/** `pid (comm) state ppid pgrp session …`, start time being field 22; comm may hold anything. */
function parseStat(pid: number, text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 20);
  const [state, parent, group, session] = fields;
  const entry = {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: Number(fields[19]),
    marks: () => marksOfProc(pid),
  };
  return { entry, dead: state === 'Z' || state === 'X' };
}

/**
 * Marks are inherited, so a process without a mark does not get it later. They are remembered for a
 * moment: where many children end at the same time, each of them looks at all processes.
 */
function marksSeen({ pid, start }: ProcessEntry, seen: Look['marks']): readonly string[] | null {
  const key = `${pid} ${start}`;
  const known = seen.get(key);
  if (known !== undefined) return known;
  const marks = marksOfProc(pid);
  if (marks !== null) seen.set(key, marks);
  return marks;
}

function marksOfProc(pid: number): readonly string[] | null {
  const variables = trySystem(() => readFileSync(`/proc/${pid}/environ`), null);
  if (variables === null) return []; // Gone, or another user's.
  if (variables.length === 0) return null;
  const name = `${MARK_VARIABLE}=`;
  let at = variables.indexOf(name);
  while (at > 0 && variables[at - 1] !== 0) at = variables.indexOf(name, at + 1);
  if (at === -1) return [];
  const end = variables.indexOf(0, at);
  const value = variables.toString('utf8', at + name.length, end === -1 ? undefined : end);
  return value.split(';');
}

/** `pid ppid pgid state Mon Jan  5 12:00:00 2026 command and VARIABLES=…` */
function entryOfPs(line: string): ProcessEntry | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)(.*)$/s.exec(
    line,
  );
  if (match === null || match[4]?.startsWith('Z')) return null;
  const value = new RegExp(`\\s${MARK_VARIABLE}=(\\S*)`).exec(match[6] ?? '')?.[1];
  return {
    pid: Number(match[1]),
    parent: Number(match[2]),
    group: Number(match[3]),
    session: null,
    start: Date.parse(match[5] ?? ''),
    marks: () => (value === undefined ? [] : value.split(';')),
  };
}

/**
 * The folders that processes of this machine work in; each once. On Linux those of the same user,
 * for root those of all; elsewhere none. A folder that was moved is reported where it is now.
 */
export function foldersInUse(): readonly string[] {
  const pids = HAS_PROC ? allPids() : [];
  const folders = pids.map((pid) => trySystem(() => readlinkSync(`/proc/${pid}/cwd`), null));
  return [...new Set(folders)].filter((folder) => folder !== null);
}

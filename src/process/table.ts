/**
 * The processes of this machine at one moment: who descends from whom, and who carries a mark.
 *
 *   T1. A process is a pid *and* its start time; a pid alone may be somebody else by now.
 *   T2. Zombies are not listed: they are dead and wait only for a parent that may never ask.
 *   T3. Reading is synchronous and takes about 15 µs per process of the machine, so that a look
 *       at the end of every child is affordable. Environments are read only when asked for.
 *
 * Linux has /proc. Elsewhere `ps` is asked, which costs some 20 ms.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** The environment variable that tells whose a process is, wherever it went. */
export const MARK_VARIABLE = 'LANDFAST_MARK';

/** One live process. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The session's leader, where the system tells. */
  readonly session: number | null;
  /** When it started; comparable with other entries of this machine, in no particular unit. */
  readonly start: number;
  /**
   * Its marks, outermost first, read from its environment; null where that is empty: for a moment,
   * while it becomes another program, nobody can tell.
   */
  marks(): readonly string[] | null;
}

const HAS_PROC = existsSync('/proc/self/stat');

/** Every live process. */
export const processTable: () => readonly ProcessEntry[] = HAS_PROC ? tableOfProc : tableOfPs;

/** When a process started, even if it is a zombie by now; null if there is none. */
export function startOf(pid: number): number | null {
  if (HAS_PROC) return statOf(pid)?.entry.start ?? null;
  return tableOfPs().find((entry) => entry.pid === pid)?.start ?? null;
}

/** Whether exactly this process still lives. */
export function isAlive({ pid, start }: Pick<ProcessEntry, 'pid' | 'start'>): boolean {
  if (HAS_PROC) {
    const stat = statOf(pid);
    return stat !== null && !stat.dead && stat.entry.start === start;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What MARK_VARIABLE must be for a child: our own marks, if any, then its mark. */
export function markFor(mark: string): string {
  const inherited = process.env[MARK_VARIABLE];
  return inherited === undefined || inherited === '' ? mark : `${inherited};${mark}`;
}

/**
 * Every live process that started at `since` or later, which is when `first` did. A process that was
 * seen to be older a moment ago is not looked at again: no system gives a pid to somebody else
 * within that time. Nor does it give lower pids to younger processes, before it has given all of
 * them: where few were given since, only these are looked at.
 */
export function youngProcesses(since: number, first: number): readonly ProcessEntry[] {
  if (!HAS_PROC) return tableOfPs().filter(({ start }) => start >= since);
  const now = performance.now();
  if (now - lookedAt > MOMENT_MS) {
    starts.clear();
    seenMarks.clear();
  }
  if (starts.size === 0) lookedAt = now;
  const entries: ProcessEntry[] = [];
  for (const pid of pidsFrom(first) ?? allPids()) {
    if ((starts.get(pid) ?? since) < since) continue;
    const stat = statOf(pid);
    if (stat === null) continue;
    starts.set(pid, stat.entry.start);
    if (stat.dead || stat.entry.start < since) continue;
    entries.push({ ...stat.entry, marks: () => marksSeen(stat.entry) });
  }
  return entries;
}

/** Those that were given to somebody from this one on; null where these are too many to ask for. */
function pidsFrom(first: number): readonly number[] | null {
  const load = textOf('/proc/loadavg'); // `0.20 0.18 0.12 1/80 11206`: the last is the last pid.
  const last = Number(load.slice(load.lastIndexOf(' ') + 1));
  if (!(last >= first && last - first < MOST_PIDS)) return null;
  const pids = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
  return pids.filter((pid) => existsSync(`/proc/${pid}`));
}

/** A look at all of them takes as long as asking for so many. */
const MOST_PIDS = 100;

function allPids(): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const digit = name.charCodeAt(0);
    return digit < 0x30 || digit > 0x39 ? [] : Number(name);
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const MOMENT_MS = 500;
const starts = new Map<number, number>();
const seenMarks = new Map<string, readonly string[]>();
let lookedAt = 0;

/** The table as /proc tells it. */
export function tableOfProc(): readonly ProcessEntry[] {
  return allPids().flatMap((pid) => {
    const stat = statOf(pid);
    return stat === null || stat.dead ? [] : stat.entry;
  });
}

/** The table as `ps` tells it; its `e` (or `-E`) appends the environment to the command. */
export function tableOfPs(): readonly ProcessEntry[] {
  const all = process.platform === 'darwin' ? '-axEww' : 'axeww';
  const columns = 'pid=,ppid=,pgid=,state=,lstart=,command=';
  const { stdout } = spawnSync('ps', [all, '-o', columns], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    maxBuffer: 256 * 1024 * 1024,
  });
  return (stdout ?? '').split('\n').flatMap((line) => entryOfPs(line) ?? []);
}

interface Stat {
  readonly entry: ProcessEntry;
  readonly dead: boolean;
}

const scratch = Buffer.allocUnsafe(4096);

function statOf(pid: number): Stat | null {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
  } catch {
    return null;
  }
  try {
    const length = readSync(file, scratch, 0, scratch.length, 0);
    return parseStat(pid, scratch.toString('latin1', 0, length));
  } catch {
    return null; // It ended while we read.
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
 * Marks are handed down: who has none of somebody's at one look has none at the next. They are read
 * once in a while, because where many end at the same time everybody looks at everybody.
 */
function marksSeen({ pid, start }: ProcessEntry): readonly string[] | null {
  const key = `${pid} ${start}`;
  const known = seenMarks.get(key);
  if (known !== undefined) return known;
  const marks = marksOfProc(pid);
  if (marks !== null) seenMarks.set(key, marks);
  return marks;
}

function marksOfProc(pid: number): readonly string[] | null {
  let environment: Buffer;
  try {
    environment = readFileSync(`/proc/${pid}/environ`);
  } catch {
    return []; // Gone, or another user's.
  }
  if (environment.length === 0) return null;
  const name = `${MARK_VARIABLE}=`;
  let at = environment.indexOf(name);
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(name, at + 1);
  if (at === -1) return [];
  const end = environment.indexOf(0, at);
  const value = environment.toString('utf8', at + name.length, end === -1 ? undefined : end);
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

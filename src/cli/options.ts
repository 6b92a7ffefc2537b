/** Options that several commands share, and how the texts given to options become values. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { bytesIn } from '../base/byte-size.ts';
import type { LimitChanges } from '../model/plan.ts';

/** The command line, or one command of it. */
export type Program = Command;

// biome-ignore lint/suspicious/noExplicitAny: commander gives what the command line held.
type Action = (...given: any[]) => Promise<number>;
/** Makes a command of an action: its answer becomes the exit code. */
export type Wrap = (command: Action) => (...given: unknown[]) => Promise<void>;

/** What most commands are given. */
export interface CommonFlags {
  readonly projectDir: string;
  readonly json?: boolean;
}

export function globalOptions(program: Command): Command {
  return program.option('-C, --project-dir <dir>', 'use the repository in this folder', '.');
}

/** Options that say how a run is executed and shown, not what it does. */
export function howToRun(command: Command): Command {
  return command
    .option('--max-workers <n>', 'run at most this many agents at a time', positive)
    .option('-s, --sequential', 'run one agent at a time')
    .option('--budget <usd>', 'start no more agents once this much is spent', money)
    .option('--disk <size>', 'disk space that workspaces and run data may use, such as 20GB', room)
    .option('--disk-free <size>', 'start no agent while less disk space is free', size)
    .option('--memory-per-attempt <size>', 'memory to reserve for each agent', size)
    .option('--load <n>', 'start no further agent above this load per core', load)
    .option('--claude-exe <path>', 'the program to use for the claude agent')
    .option('--keep-worktrees', 'remove no workspaces, whatever the outcome')
    .option('--report <path>', 'write a report when the run ends (.json or .md)')
    .option('--profile <path>', 'write a timing profile as a Chrome trace (.json)')
    .addOption(new Option('--dashboard', 'show the live view (default: on a terminal)'))
    .option('--no-dashboard', 'print plain lines instead of the live view')
    .option('--events', 'print journal entries as NDJSON on standard output')
    .option('--quiet', 'print problems only')
    .option('--log-dir <dir>', "write each task's output to files in this folder as well")
    .option('--no-log', 'keep no raw output of agents')
    .option('--detach', 'continue in the background once the run has started');
}

export function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Options as users type them: `dryRun` is `--dry-run`. */
export function optionNames(keys: readonly string[]): readonly string[] {
  return keys.map((key) => `--${key.replace(/[A-Z]/g, (x) => `-${x.toLowerCase()}`)}`);
}

/** One more value of an option that may be given several times. */
export function more(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function positive(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** Any whole number: whether it is in range, the plan says. */
export function digits(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** The only number of streams there is. */
export function two(text: string): number {
  if (text === '2') return 2;
  throw new InvalidArgumentError(
    'A plan is split into 2 streams. Without this option, everything that can run in parallel does.',
  );
}

export function money(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be an amount in US dollars, such as 5 or 2.50.');
}

/** A size such as `10GB` or `512MiB`, or a number of bytes; 0 for none. */
export function size(text: string): number {
  const bytes = /^\d{1,15}$/.test(text) ? Number(text) : bytesIn(text);
  if (bytes !== null) return bytes;
  throw new InvalidArgumentError('It must be a size such as 10GB or 512MiB.');
}

export function room(text: string): number {
  const bytes = size(text);
  if (bytes > 0) return bytes;
  throw new InvalidArgumentError('It must be a size above zero, such as 10GB.');
}

export function load(text: string): number {
  if (/^\d{1,4}(?:\.\d{1,4})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a load per core above zero, such as 1.5.');
}

/** A time such as `90m`, `12h` or `7d`, in milliseconds. */
export function age(text: string): number {
  const [, number, unit] = /^(\d{1,5})([smhdw])$/.exec(text) ?? [];
  const ms = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }[unit ?? ''];
  if (ms !== undefined) return Number(number) * ms * 1_000;
  throw new InvalidArgumentError('It must be a duration such as 90m, 12h or 7d.');
}

export interface LimitFlags {
  readonly maxWorkers?: number;
  readonly sequential?: boolean;
  readonly gates?: number;
  readonly budget?: number;
  readonly disk?: number;
  readonly diskFree?: number;
  readonly memoryPerAttempt?: number;
  readonly load?: number;
}

/** The limits that were given; the others stay what they are. */
export function limitsFrom(flags: LimitFlags): LimitChanges {
  const { sequential, maxWorkers, gates, budget, disk, diskFree, memoryPerAttempt, load } = flags;
  const workers = sequential === true ? 1 : maxWorkers;
  const sizes = { diskBytes: disk, diskFreeBytes: diskFree, memoryPerAttempt };
  const limits = { workers, gates, budgetUsd: budget, ...sizes, loadPerCore: load };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** The benchmark's command line. */

import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { CASES, type Case, customCase, GUARD_CASES, inWays } from './cases.ts';
import { defaultPlace, roomFor } from './ground.ts';
import { independent, WAYS, type Way } from './jobs.ts';

export interface Options {
  readonly cases: readonly Case[];
  /** Null: as many as the case says. */
  readonly rounds: number | null;
  /** Where the repositories are made: this decides the file system. */
  readonly dir: string;
  readonly out: string;
  /** Only what is grossly slower than promised is a failure. */
  readonly guard: boolean;
  /** Write what was measured to docs. */
  readonly publish: boolean;
  /** Only say which cases there are. */
  readonly list: boolean;
}

const OPTIONS = {
  case: { type: 'string', multiple: true },
  way: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  out: { type: 'string' },
  dir: { type: 'string' },
  guard: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  tasks: { type: 'string' },
  files: { type: 'string', default: '50' },
  workers: { type: 'string', default: '8' },
} as const;

/** Reads the command line; a text says what is wrong with it. */
export function readOptions(args: readonly string[]): Options | string {
  try {
    const parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const { values, positionals } = parsed;
    const names = listOf([...(values.case ?? []), ...positionals]);
    const cases = inChosenWays(chosenCases({ ...values, names }), listOf(values.way ?? []));
    const { rounds, dir, guard, publish, list } = values;
    if (publish && cases !== CASES) throw new Error('--publish wants all cases, measured together');
    return {
      cases,
      rounds: rounds === undefined ? null : count('--rounds', rounds),
      dir: resolve(dir ?? defaultPlace(tmpdir(), Math.max(...cases.map(bytesOf)))),
      out: resolve(values.out ?? join(import.meta.dirname, 'results', fileName())),
      guard,
      publish,
      list,
    };
  } catch (error) {
    return messageOf(error);
  }
}

/** Texts that may hold several words each, separated by commas. */
function listOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(','));
}

function inChosenWays(cases: readonly Case[], names: readonly string[]): readonly Case[] {
  if (names.length === 0) return cases;
  const ways = names.map((name): Way => {
    const found = WAYS.find((way) => way === name);
    if (found !== undefined) return found;
    throw new Error(`there is no way ${name}; there are ${WAYS.join(', ')}`);
  });
  const left = inWays(cases, ways);
  if (left.length > 0) return left;
  throw new Error(`none of these cases has the way ${names.join(', ')}`);
}

interface Chosen {
  readonly names: readonly string[];
  readonly guard: boolean;
  readonly tasks?: string | undefined;
  readonly files: string;
  readonly workers: string;
}

function chosenCases({ names, guard, tasks, files, workers }: Chosen): readonly Case[] {
  if (tasks !== undefined) {
    return [
      customCase({
        files: count('--files', files),
        tasks: independent(count('--tasks', tasks)),
        workers: count('--workers', workers),
        sleepS: 0,
      }),
    ];
  }
  const all = guard ? GUARD_CASES : CASES;
  return names.length === 0 ? all : names.map(named);

  function named(name: string): Case {
    const found = all.find((each) => each.name === name);
    if (found !== undefined) return found;
    const known = all.map((each) => each.name).join(', ');
    throw new Error(`there is no case ${name}; there are ${known}`);
  }
}

/** What a case may need on disk at the same time. */
function bytesOf({ entrants }: Case): number {
  return Math.max(...entrants.map(({ work }) => roomFor(work.files, work.workers)));
}

function fileName(): string {
  return `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`;
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${option} wants a whole number from 1, not ${text}`);
}

/**
 * The cases and what is promised of each. docs/benchmarks.md explains them; its tables and
 * the chart are made from what was measured (page.ts).
 *
 *   C1. Within a case the entrants take turns. A target compares two of them, or one with a number.
 *   C2. What is compared with the script is run in every way (jobs.ts), with the same targets.
 *   C3. The guard's cases are small enough for two minutes; they have targets of their own.
 */

import {
  bareNode,
  type Contestant,
  help,
  landfast,
  path,
  script,
  status,
  warmLandfast,
} from './contestants.ts';
import { chain, criticalPath, diamonds, independent, WAYS, type Way, type Work } from './jobs.ts';

export interface Entrant {
  readonly name: string;
  readonly by: Contestant;
  readonly work: Work;
}

export interface Target {
  readonly what: 'wall' | 'CPU' | 'memory';
  readonly of: string;
  /** Whom it is compared with; null where `most` is a number of ms or kB. */
  readonly over: string | null;
  readonly most: number;
  /** Both are divided by their number of tasks first. */
  readonly perTask?: boolean;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  readonly entrants: readonly Entrant[];
  readonly targets: readonly Target[];
}

/** What the engine may take, in every case. */
const PEAK_KB = 160 * 1024;

const SMALL = 50;
const MID = 5_000;
const LARGE = 50_000;

/** Everything that `npm run bench` measures. */
export const CASES: readonly Case[] = [
  againstScript('small-50', work(SMALL, independent(50), 8), { wall: 0.75, cpu: 0.9 }, 7),
  againstScript('small-200', work(SMALL, independent(200), 8), { wall: 0.6, cpu: 0.75 }, 5),
  pooled('mid-50', work(MID, independent(50), 8), {
    cold: { wall: 0.35, cpu: 0.4 },
    warm: { wall: 0.2, cpu: 0.2 },
  }),
  pooled('large-10', work(LARGE, independent(10), 4), {
    cold: { wall: 0.6, cpu: 0.6 },
    warm: { wall: 0.25, cpu: 0.25 },
  }),
  perTask('thousand', { many: 1_000, few: 50 }, 1.2),
  ordered('chain-200', { title: 'A chain of 200 tasks', tasks: chain(200) }, 1.1),
  ordered('diamonds-200', { title: 'Diamonds of 200 tasks', tasks: diamonds(200) }, 1.1),
  sleeping('sleep-100', { agents: 100, workers: 50, sleepS: 2, mostMs: 5_500 }),
  starting('help', 30),
  looking('status-1000', 10),
];

/** What `--guard` measures: its limits are what is reached, not what is aimed at. */
export const GUARD_CASES: readonly Case[] = [
  againstScript('small-50', work(SMALL, independent(50), 8), { wall: 1.4, cpu: 1.3 }, 2),
  pooled(
    'mid-32',
    work(MID, independent(32), 8),
    { cold: { wall: 0.5, cpu: 0.55 }, warm: { wall: 0.45, cpu: 0.45 } },
    1,
  ),
  perTask('flat-200', { many: 200, few: 50 }, 1, 1),
  ordered('chain-60', { title: 'A chain of 60 tasks', tasks: chain(60) }, 2.6, 1),
  starting('help', 10),
];

interface Most {
  readonly wall: number;
  readonly cpu: number;
}

function work(files: number, tasks: Work['tasks'], workers: number): Work {
  return { files, tasks, workers, sleepS: 0 };
}

function againstScript(name: string, job: Work, most: Most, rounds: number): Case {
  const ways = WAYS.map(landfast);
  return {
    name,
    title: titleOf(job),
    rounds,
    entrants: [script, ...ways].map((by) => entrant(by, job)),
    targets: ways.flatMap((by) => [...ratios(by.name, script.name, most), peak(by.name)]),
  };
}

function pooled(
  name: string,
  job: Work,
  { cold, warm }: { readonly cold: Most; readonly warm: Most },
  rounds = 3,
): Case {
  const colds = againstScript(name, job, cold, rounds);
  const warms = WAYS.map(warmLandfast);
  return {
    ...colds,
    entrants: [...colds.entrants, ...warms.map((by) => entrant(by, job))],
    targets: [
      ...colds.targets,
      ...warms.flatMap((by) => [...ratios(by.name, script.name, warm), peak(by.name)]),
    ],
  };
}

/** A case of any size, with nothing promised. */
export function customCase(job: Work): Case {
  const all = [script, ...WAYS.map(landfast), ...WAYS.map(warmLandfast)];
  const entrants = all.map((by) => entrant(by, job));
  return { name: 'custom', title: titleOf(job), rounds: 3, entrants, targets: [] };
}

/** The cases that have one of these ways, without the other ways. */
export function inWays(cases: readonly Case[], ways: readonly Way[]): readonly Case[] {
  const isChosen = ({ by: { way } }: Entrant): boolean => way !== null && ways.includes(way);
  return cases
    .filter(({ entrants }) => entrants.some(isChosen))
    .map((each) => {
      const entrants = each.entrants.filter((one) => one.by.way === null || isChosen(one));
      const names = entrants.map(({ name }) => name);
      return { ...each, entrants, targets: each.targets.filter(({ of }) => names.includes(of)) };
    });
}

function perTask(
  name: string,
  { many, few }: { readonly many: number; readonly few: number },
  most: number,
  rounds = 3,
): Case {
  const named = (by: Contestant, count: number): Entrant => ({
    name: `${by.name}, ${count} tasks`,
    by,
    work: work(SMALL, independent(count), 8),
  });
  const pairs = WAYS.map(landfast).map((by) => [named(by, few), named(by, many)] as const);
  return {
    name,
    title: `${thousands(many)} tasks beside ${few}, for each task`,
    rounds,
    entrants: pairs.flat(),
    targets: pairs.flatMap(([less, more]): readonly Target[] => {
      const target = { of: more.name, over: less.name, most, perTask: true };
      return [{ what: 'wall', ...target }, { what: 'CPU', ...target }, peak(more.name)];
    }),
  };
}

function ordered(
  name: string,
  { title, tasks }: { readonly title: string; readonly tasks: Work['tasks'] },
  most: number,
  rounds = 3,
): Case {
  const shell = landfast('shell');
  return {
    name,
    title: `${title}, beside git's own work on the critical path`,
    rounds,
    entrants: [
      entrant(path, work(SMALL, criticalPath(tasks), 1)),
      entrant(shell, work(SMALL, tasks, 8)),
    ],
    targets: [{ what: 'wall', of: shell.name, over: path.name, most }, peak(shell.name)],
  };
}

function sleeping(
  name: string,
  how: {
    readonly agents: number;
    readonly workers: number;
    readonly sleepS: number;
    readonly mostMs: number;
  },
): Case {
  const { agents, workers, sleepS, mostMs } = how;
  const shell = landfast('shell');
  return {
    name,
    title: `${agents} agents that sleep for ${sleepS} s, ${workers} at a time`,
    rounds: 3,
    entrants: [entrant(shell, { ...work(SMALL, independent(agents), workers), sleepS })],
    targets: [{ what: 'wall', of: shell.name, over: null, most: mostMs }, peak(shell.name)],
  };
}

function starting(name: string, rounds: number): Case {
  const nothing = work(1, [], 1);
  return {
    name,
    title: '`landfast --help` beside a Node that does nothing',
    rounds,
    entrants: [entrant(bareNode, nothing), entrant(help, nothing)],
    targets: [{ what: 'wall', of: help.name, over: bareNode.name, most: 1.6 }],
  };
}

function looking(name: string, rounds: number): Case {
  const nothing = work(1, [], 1);
  const [one, many] = [status(1), status(1_000)];
  return {
    name,
    title: '`landfast status` after 1,000 runs beside 1 run',
    rounds,
    entrants: [entrant(one, nothing), entrant(many, nothing)],
    targets: [{ what: 'wall', of: many.name, over: one.name, most: 1.6 }],
  };
}

function entrant(by: Contestant, job: Work): Entrant {
  return { name: by.name, by, work: job };
}

function ratios(of: string, over: string, { wall, cpu }: Most): readonly Target[] {
  return [
    { what: 'wall', of, over, most: wall },
    { what: 'CPU', of, over, most: cpu },
  ];
}

function peak(of: string): Target {
  return { what: 'memory', of, over: null, most: PEAK_KB };
}

function titleOf({ files, tasks, workers }: Work): string {
  return `${thousands(files)} files, ${thousands(tasks.length)} tasks, ${workers} at a time`;
}

function thousands(count: number): string {
  return count.toLocaleString('en');
}

/**
 * A scene for the whole program with a real agent CLI: a real repository and a scripted API.
 *
 *   S1. The environment of the program is built from nothing (landfast.ts, real-agents.ts). What a
 *       session around it would have set is added on purpose: none of it may reach an agent.
 *   S2. Plan and report are beside the checkout, which stays clean.
 *   S3. The CLI is found on PATH, as a script that records its environment and becomes the CLI.
 *   S4. Every wait has a limit and nothing is left behind: a program that takes too long is ended,
 *       and so is one that still runs when the scope is left. Processes that survive are killed.
 *
 * Live processes are looked up in /proc: these tiers run on Linux.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '../../../src/base/errors.ts';
import type { Entry, Event } from '../../../src/model/event.ts';
import { sendSignal } from '../../../src/process/spawn.ts';
import type { reportJson } from '../../../src/report/json.ts';
import { type Ended, type Running, start } from '../landfast.ts';
import { type TempRepo, tempRepo } from '../temp-repo.ts';
import { cachedCli } from './cli-cache.ts';
import type { RealAgent } from './real-agents.ts';
import {
  type ApiRequest,
  type Scenarios,
  type ScriptedApi,
  startScriptedApi,
} from './scripted-api.ts';

const LIMIT_MS = 240_000;

/** The report that `--report r.json` writes. */
export type Report = ReturnType<typeof reportJson>;

/** The program in a repository of its own. */
export interface ProgramScene extends AsyncDisposable {
  readonly repo: TempRepo;
  /** Starts `landfast run` on a plan, with `--events` and a report. */
  run(plan: object): Promise<Running>;
  /** Starts `landfast resume` in the same way. */
  resume(): Running;
  /** Runs any other command to its end. */
  command(...args: readonly string[]): Promise<Ended>;
  report(): Promise<Report>;
  /** Pids of live processes that an attempt, a check or a gate of this scene has started. */
  processes(): readonly number[];
}

/** The program with a real agent and its scripted model. */
export interface AgentScene extends ProgramScene {
  readonly api: ScriptedApi;
  /** Runs tasks of this agent; `defaults` and other keys of the plan are added. */
  runTasks(tasks: readonly object[], plan?: PlanParts): Promise<Running>;
  /** The requests of a scenario, in order. */
  requests(scenario: string): readonly ApiRequest[];
  /** The environments of all CLI processes so far. */
  cliEnvironments(): Promise<readonly Readonly<Record<string, string>>[]>;
}

interface PlanParts {
  readonly defaults?: object;
  readonly [key: string]: unknown;
}

/** Sets a scene without an agent's CLI; leaving the scope removes all of it. */
export async function programScene(
  options: {
    /** The variables of the program beside those that every program has; told the user's home. */
    readonly env?: (home: string) => Promise<Readonly<Record<string, string>>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<ProgramScene> {
  const repo = await tempRepo(options.files === undefined ? {} : { files: options.files });
  const home = repo.outside;
  const env = { HOME: home, ...(await options.env?.(home)) };
  const started: Running[] = [];
  const begin = (...args: readonly string[]) => {
    const running = start(args, { cwd: repo.dir, env });
    started.push(running);
    const limit = setTimeout(() => running.child.kill('SIGTERM'), LIMIT_MS);
    void running.ended.then(() => clearTimeout(limit));
    return running;
  };
  const flags = ['--events', '--report', '../r.json'];
  return {
    repo,
    run: async (plan) => {
      await writeFile(join(home, 'plan.yaml'), JSON.stringify({ landfast: 1, ...plan }));
      return begin('run', '../plan.yaml', ...flags);
    },
    resume: () => begin('resume', ...flags),
    command: (...args) => begin(...args).ended,
    report: async () => JSON.parse(await readFile(join(home, 'r.json'), 'utf8')) as Report,
    processes: () => markedProcesses(home),
    async [Symbol.asyncDispose]() {
      for (const { child, ended } of started) {
        child.kill('SIGTERM');
        await ended;
      }
      for (const pid of markedProcesses(home)) sendSignal(pid, 'SIGKILL');
      await repo[Symbol.asyncDispose]();
    },
  };
}

/** Sets a scene with a real agent; leaving the scope removes all of it. */
export async function agentScene(
  agent: RealAgent,
  scenarios: Scenarios,
  options: {
    readonly files?: Readonly<Record<string, string>>;
    /** Added to the CLI's environment; an empty value removes a variable. */
    readonly env?: Readonly<Record<string, string>>;
    /** Where the CLI looks for the API, if not at the scripted one. */
    readonly url?: string;
  } = {},
): Promise<AgentScene> {
  const { cli } = agent;
  const program = await cachedCli(cli);
  const api = await startScriptedApi(agent.dialect, scenarios);
  const scene = await programScene({
    ...(options.files === undefined ? {} : { files: options.files }),
    env: async (home) => {
      const bin = await recordingCli(home, cli.name, program);
      const own = await agent.env(home, options.url ?? api.url);
      const all = { ...agent.otherSession, ...own, PATH: `${bin}:${own.PATH}`, ...options.env };
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    },
  });
  const home = scene.repo.outside;
  return {
    ...scene,
    api,
    runTasks: (tasks, { defaults, ...plan } = {}) => {
      const own = agent.defaults(join(home, 'bin', cli.name));
      return scene.run({ ...plan, defaults: { ...own, ...defaults }, tasks });
    },
    requests: (scenario) => api.requests.filter((request) => request.scenario === scenario),
    cliEnvironments: () => recordedEnvironments(home),
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** A task whose prompt leads to the scenario of its name. The marker stays out of its title. */
export function scriptedTask(id: string, more: object = {}): object {
  return { id, prompt: `Do what ${id} says\n\n[[scenario:${id}]]`, ...more };
}

/** The facts of one type, in order; of one task where one is named. */
export function facts<T extends Event['type']>(
  entries: readonly Entry[],
  type: T,
  task?: string,
): readonly (Event & { readonly type: T })[] {
  return entries
    .map(({ event }) => event)
    .filter((event): event is Event & { readonly type: T } => event.type === type)
    .filter((event) => task === undefined || ('task' in event && event.task === task));
}

/** Those of the texts that the model is not told in a request; all of them if it never came. */
export function untold(
  request: ApiRequest | undefined,
  ...texts: readonly string[]
): readonly string[] {
  const conversation = request?.conversation ?? '';
  return texts.filter((text) => !conversation.includes(JSON.stringify(text).slice(1, -1)));
}

async function recordingCli(home: string, name: string, program: string): Promise<string> {
  const bin = join(home, 'bin');
  await mkdir(bin);
  await mkdir(join(home, 'environments'));
  const script = `#!/bin/sh\nenv > "$HOME/environments/$$"\nexec '${program}' "$@"\n`;
  await writeFile(join(bin, name), script, { mode: 0o755 });
  return bin;
}

async function recordedEnvironments(home: string) {
  const dir = join(home, 'environments');
  const texts = (await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8'));
  return (await Promise.all(texts)).map((text) =>
    Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2))),
  );
}

/** By what /proc says, not by our own process list. Zombies have no environment there. */
function markedProcesses(home: string): readonly number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    const variables = environmentOf(pid).split('\0');
    return (
      variables.includes(`HOME=${home}`) &&
      variables.some((variable) => variable.startsWith('LANDFAST_MARK='))
    );
  });
}

/** Empty for a process that has ended or belongs to another user. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}

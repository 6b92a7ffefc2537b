/**
 * A scene for the whole program: a real repository and an agent that speaks the Agent Client
 * Protocol.
 *
 *   S1. The environment of the program is built from nothing (landfast.ts). What a session around
 *       it would have set is added on purpose: none of it may reach an agent that no plan names it
 *       for.
 *   S2. Plan and report are beside the checkout, so that a clean checkout can be asked for.
 *   S3. Nothing waits for ever, nothing is left: a program that takes too long is told to end, and
 *       so is one that still runs when the scope is left. What that left behind is killed.
 *
 * Live processes are looked up in /proc: this tier runs on Linux.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, Event } from '../../src/model/event.ts';
import { sendSignal } from '../../src/process/spawn.ts';
import type { reportJson } from '../../src/report/json.ts';
import { type Ended, type Running, start } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** What a person's or another agent's session leaves in the environment of what it starts. */
const OTHER_SESSION = {
  ANTHROPIC_API_KEY: 'sk-other',
  OPENAI_API_KEY: 'sk-other',
  CLAUDECODE: '1',
  GEMINI_CLI: '1',
  OPENCODE: '1',
};

const LIMIT_MS = 90_000;

/** The report that `--report r.json` writes. */
export type Report = ReturnType<typeof reportJson>;

export interface Scene extends AsyncDisposable {
  readonly repo: TempRepo;
  /** Starts `landfast run` on a plan of tasks for acp, with `--events` and a report. */
  run(plan: { readonly defaults?: object; readonly tasks: readonly object[] }): Promise<Running>;
  /** Runs any other command to its end. */
  command(...args: readonly string[]): Promise<Ended>;
  report(): Promise<Report>;
  /** Pids of live processes that an attempt, a check or a gate of this scene has started. */
  processes(): readonly number[];
}

/** Sets a scene; leaving the scope removes all of it. `makeEnv` is told the user's home. */
export async function setScene(
  makeEnv: (home: string) => Promise<Readonly<Record<string, string>>> = async () => ({}),
): Promise<Scene> {
  const repo = await tempRepo();
  const home = repo.outside;
  const env = { ...OTHER_SESSION, HOME: home, ...(await makeEnv(home)) };
  const begun: Running[] = [];
  const begin = (...args: readonly string[]) => {
    const running = start(args, { cwd: repo.dir, env });
    begun.push(running);
    const limit = setTimeout(() => running.child.kill('SIGTERM'), LIMIT_MS);
    void running.ended.then(() => clearTimeout(limit));
    return running;
  };
  return {
    repo,
    run: async (plan) => {
      const defaults = { agent: 'acp', retries: 0, ...plan.defaults };
      const text = JSON.stringify({ landfast: 1, limits: { workers: 8 }, ...plan, defaults });
      await writeFile(join(home, 'plan.yaml'), text);
      return begin('run', '../plan.yaml', '--events', '--report', '../r.json');
    },
    command: (...args) => begin(...args).ended,
    report: async () => JSON.parse(await readFile(join(home, 'r.json'), 'utf8')) as Report,
    processes: () => markedProcesses(home),
    async [Symbol.asyncDispose]() {
      for (const { child, ended } of begun) {
        child.kill('SIGTERM');
        await ended;
      }
      for (const pid of markedProcesses(home)) sendSignal(pid, 'SIGKILL');
      await repo[Symbol.asyncDispose]();
    },
  };
}

/** A task whose prompt leads to the scenario of its name. The marker stays out of its title. */
export function acpTask(id: string, more: object = {}): object {
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

/** By what /proc says, not by our own process table. Zombies have no environment there. */
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

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // It has ended, or is another user's.
  }
}

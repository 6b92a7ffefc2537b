/**
 * A scene for the whole program: a real repository, the real Claude Code CLI and a scripted API.
 *
 *   S1. The environment of the program is built from nothing (landfast.ts, claude-cli.ts). What a
 *       session around it would have set is added on purpose: none of it may reach the CLI.
 *   S2. Plan and report are beside the checkout, so that a clean checkout can be asked for.
 *   S3. The CLI is started through a script that notes its environment and becomes the CLI.
 *   S4. Nothing waits for ever, nothing is left: a program that takes too long is told to end, and
 *       so is one that still runs when the scope is left. What that left behind is killed.
 *
 * Live processes are looked up in /proc: this tier runs on Linux.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, Event } from '../../src/model/event.ts';
import { sendSignal } from '../../src/process/spawn.ts';
import type { reportJson } from '../../src/report/json.ts';
import { claudeCli, claudeEnv } from '../support/claude-cli.ts';
import { type Ended, type Running, start } from '../support/landfast.ts';
import {
  type ApiRequest,
  type MessagesApi,
  type Scenario,
  startMessagesApi,
} from '../support/messages-api.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** Known before a test begins: installing it may take longer than a test may. */
const CLI = await claudeCli();

/** What a person's or another agent's session leaves in the environment of what it starts. */
const OTHER_SESSION = {
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_SESSION_ID: '00000000-0000-4000-8000-000000000000',
  CLAUDE_CODE_SSE_PORT: '9',
  CLAUDE_AGENT_SDK_VERSION: '0.0.0',
  ANTHROPIC_LOG: 'debug',
};

const LIMIT_MS = 60_000;

/** The report that `--report r.json` writes. */
export type Report = ReturnType<typeof reportJson>;

export interface Scene extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly api: MessagesApi;
  /** Starts `landfast run` on a plan, with `--events` and a report. */
  run(plan: object): Promise<Running>;
  /** Starts `landfast resume` in the same way. */
  resume(): Running;
  /** Runs any other command to its end. */
  command(...args: readonly string[]): Promise<Ended>;
  report(): Promise<Report>;
  /** The requests a scenario got, in order. */
  requests(scenario: string): readonly ApiRequest[];
  /** The environments of all CLI processes so far. */
  cliEnvironments(): Promise<readonly Readonly<Record<string, string>>[]>;
  /** Pids of live processes that an attempt, a check or a gate of this scene has started. */
  processes(): readonly number[];
}

/** Sets a scene; leaving the scope removes all of it. */
export async function setScene(options: {
  readonly scenarios: Readonly<Record<string, Scenario>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the CLI's environment; an empty value takes a variable away. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Scene> {
  const api = await startMessagesApi(options);
  const repo = await tempRepo(options.files === undefined ? {} : { files: options.files });
  const home = repo.outside;
  const exe = await notingCli(home);
  const all = { ...OTHER_SESSION, ...claudeEnv(home, api.url), ...options.env };
  const env = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  const begun: Running[] = [];
  const begin = (...args: readonly string[]) => {
    const running = start(args, { cwd: repo.dir, env });
    begun.push(running);
    const limit = setTimeout(() => running.child.kill('SIGTERM'), LIMIT_MS);
    void running.ended.then(() => clearTimeout(limit));
    return running;
  };
  const flags = ['--events', '--claude-exe', exe, '--report', '../r.json'];
  return {
    repo,
    api,
    run: async (plan) => {
      await writeFile(join(home, 'plan.yaml'), JSON.stringify({ landfast: 1, ...plan }));
      return begin('run', '../plan.yaml', ...flags);
    },
    resume: () => begin('resume', ...flags),
    command: (...args) => begin(...args).ended,
    report: async () => JSON.parse(await readFile(join(home, 'r.json'), 'utf8')) as Report,
    requests: (scenario) => api.requests.filter((request) => request.scenario === scenario),
    cliEnvironments: () => notedEnvironments(home),
    processes: () => markedProcesses(home),
    async [Symbol.asyncDispose]() {
      for (const { child, ended } of begun) {
        child.kill('SIGTERM');
        await ended;
      }
      for (const pid of markedProcesses(home)) sendSignal(pid, 'SIGKILL');
      await api[Symbol.asyncDispose]();
      await repo[Symbol.asyncDispose]();
    },
  };
}

/** A task whose prompt leads to the scenario of its name. The marker stays out of its title. */
export function claudeTask(id: string, more: object = {}): object {
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
  const said = JSON.stringify(request?.body.messages ?? []);
  return texts.filter((text) => !said.includes(JSON.stringify(text).slice(1, -1)));
}

async function notingCli(home: string): Promise<string> {
  const exe = join(home, 'claude');
  await mkdir(join(home, 'environments'));
  const script = `#!/bin/sh\nenv > "$HOME/environments/$$"\nexec '${CLI}' "$@"\n`;
  await writeFile(exe, script, { mode: 0o755 });
  return exe;
}

async function notedEnvironments(home: string) {
  const dir = join(home, 'environments');
  const texts = (await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8'));
  return (await Promise.all(texts)).map((text) =>
    Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2))),
  );
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

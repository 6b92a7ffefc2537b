/**
 * One attempt of a real CLI through our driver's command, parser and outcome, without the rest of
 * the program: what the worker does, in small.
 */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentOutcome, Job } from '../../../src/agents/agent.ts';
import type { AgentEvent } from '../../../src/model/agent-event.ts';
import { type AgentOptions, NO_OPTIONS } from '../../../src/model/plan.ts';
import { run } from '../../../src/process/run.ts';
import { jobOf } from '../job.ts';
import { tempDir } from '../temp-dir.ts';
import { cachedCli } from './cli-cache.ts';
import type { RealAgent } from './real-agents.ts';
import { type ScriptedApi, type Step, startScriptedApi } from './scripted-api.ts';

/** A workspace and a home below one folder, and the API; gone at the end of the scope. */
export interface Workplace extends AsyncDisposable {
  readonly api: ScriptedApi;
  /** The folder around the others. */
  readonly root: string;
  /** The workspace: the root of a repository, as the paths in some rules start there. */
  readonly work: string;
  readonly home: string;
  /** The files in the workspace. */
  files(): Promise<readonly string[]>;
  /** Runs an attempt to its end. */
  drive(
    job?: Partial<Omit<Job, 'options'>>,
    options?: Partial<AgentOptions>,
    until?: (event: AgentEvent) => boolean,
  ): Promise<Driven>;
}

export interface Driven {
  readonly events: readonly AgentEvent[];
  readonly outcome: AgentOutcome;
}

/** Makes a workplace whose prompts play `steps`. */
export async function workplace(
  agent: RealAgent,
  steps: readonly Step[],
  options: {
    /** Where the CLI looks for the API, if not at the scripted one. */
    readonly url?: string;
    readonly env?: RealAgent['env'];
  } = {},
): Promise<Workplace> {
  const executable = await cachedCli(agent.cli);
  const api = await startScriptedApi(agent.dialect, { it: steps });
  const root = await tempDir();
  const [work, home] = [join(root.path, 'work'), join(root.path, 'home')];
  await mkdir(home);
  await promisify(execFile)('git', ['init', '-q', work]);
  const env = await (options.env ?? agent.env)(home, options.url ?? api.url);
  return {
    ...{ api, root: root.path, work, home },
    files: async () => (await readdir(work)).filter((name) => name !== '.git').sort(),
    drive: async (part = {}, asked = {}, until = () => false) => {
      const temp = await mkdtemp(join(root.path, 'temp-'));
      const job = jobOf({
        ...{ prompt: '# Do it\n\n[[scenario:it]]', executable, cwd: work },
        ...{ newSession: randomUUID(), options: { ...NO_OPTIONS, ...asked } },
        ...part,
      });
      return drive(agent, job, { temp, env: { ...env, TMPDIR: temp }, until });
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

/** Ends the process once an event is enough, or says that the login has failed. */
async function drive(
  { driver }: RealAgent,
  job: Job,
  place: {
    readonly temp: string;
    readonly env: Readonly<Record<string, string>>;
    readonly until: (event: AgentEvent) => boolean;
  },
): Promise<Driven> {
  const command = driver.command(job);
  const here = (text: string) => text.replaceAll('{temp}', place.temp);
  for (const [name, text] of Object.entries(command.files ?? {})) {
    await writeFile(join(place.temp, name), text);
  }
  const own = Object.entries(command.env).map(([name, value]) => [name, here(value)]);
  const parser = driver.parser(job);
  const events: AgentEvent[] = [];
  const tails = { stdout: '', stderr: '' };
  const enough = new AbortController();
  const exit = await run(
    {
      file: command.file,
      args: command.args.map(here),
      cwd: job.cwd,
      env: { ...place.env, ...Object.fromEntries(own) },
      stdin: command.stdin,
      graceMs: 0,
      mark: null,
      onLine: (line, from) => {
        const heard = parser[from](line);
        if (heard.length === 0) tails[from] += `${line}\n`;
        events.push(...heard);
        if (heard.some((event) => place.until(event) || refusedLogin(event) !== null)) {
          enough.abort();
        }
      },
    },
    enough.signal,
  );
  const refused = events.map(refusedLogin).find((outcome) => outcome !== null);
  const outcome = driver.outcome({
    ...{ exit, job, result: resultOf(events), spoke: events.length > 0 },
    ...{ stdoutTail: tails.stdout, stderrTail: tails.stderr },
  });
  return { events, outcome: refused ?? outcome };
}

function refusedLogin(event: AgentEvent): AgentOutcome | null {
  return event.type === 'retry' && event.failure.kind === 'auth'
    ? { ok: false, failure: event.failure }
    : null;
}

/** The last result. */
export function resultOf(events: readonly AgentEvent[]): (AgentEvent & { type: 'result' }) | null {
  return events.findLast((event) => event.type === 'result') ?? null;
}

/** The session that the CLI named. */
export function sessionOf(events: readonly AgentEvent[]): string | null {
  return events.find((event) => event.type === 'session')?.id ?? null;
}

/** The events of one type. */
export function ofType<T extends AgentEvent['type']>(
  events: readonly AgentEvent[],
  type: T,
): readonly (AgentEvent & { type: T })[] {
  return events.filter((event): event is AgentEvent & { type: T } => event.type === type);
}

/** A server of the Model Context Protocol with one tool, `tell`, that repeats its text and $WORD. */
export const MCP_SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'keeper', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { text } }) => ({
    content: [{ type: 'text', text: (text ? text + ' ' : '') + process.env.WORD }],
  }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params) ?? {};
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;

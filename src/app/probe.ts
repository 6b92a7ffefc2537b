/** What is really on this machine: agents with their versions, and who is logged in. */

import type { Agent } from '../agents/agent.ts';
import { AGENTS } from '../agents/index.ts';
import { exitCode } from '../base/exit.ts';
import { NO_OPTIONS } from '../model/plan.ts';
import { capture } from '../process/capture.ts';
import { allowedEnv } from '../worker/environment.ts';
import { findProgram } from './agents.ts';
import type { Host } from './place.ts';

export interface FoundAgent {
  readonly agent: Agent;
  /** Where its program is; null where it is missing, or where the plan names it. */
  readonly path: string | null;
  readonly version: string | null;
  readonly login: 'in' | 'out' | 'unknown';
}

/** A start of some of these programs takes seconds. */
const PATIENCE_MS = 20_000;

/** Looks for every agent, all at once. */
export async function probeAgents(host: Host, signal: AbortSignal): Promise<readonly FoundAgent[]> {
  return Promise.all(AGENTS.map((agent) => probe(agent, host, signal)));
}

async function probe(agent: Agent, host: Host, signal: AbortSignal): Promise<FoundAgent> {
  const { file, versionArgs, login } = agent.program;
  const path = file === null ? null : findProgram(file, host);
  if (path === null) return { agent, path, version: null, login: 'unknown' };
  const answer =
    versionArgs.length === 0 ? null : await ask(agent, { path, args: versionArgs, host }, signal);
  const version = /\d+\.\d+(?:\.\d+)?[\w.-]*/.exec(`${answer?.stdout} ${answer?.stderr}`);
  const said = login === null ? null : await ask(agent, { path, args: login.args, host }, signal);
  return {
    agent,
    path,
    version: version?.[0] ?? null,
    login: login === null || said === null ? 'unknown' : login.judge(said),
  };
}

async function ask(
  agent: Agent,
  call: { readonly path: string; readonly args: readonly string[]; readonly host: Host },
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const { path: file, args, host } = call;
  const { inherit } = agent.command(PROBE);
  const env = { ...allowedEnv(host.env, inherit) };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const command = { file, args: [...args], cwd: host.cwd, env, stdin: '' };
  const { exit, stdout, stderr } = await capture(command, limit);
  return { code: exitCode(exit), stdout, stderr };
}

/** A job that is never done: only what the agent needs from the environment is asked for. */
const PROBE: Parameters<Agent['command']>[0] = {
  prompt: '',
  executable: null,
  newSession: '',
  resume: null,
  fork: false,
  role: null,
  model: null,
  permissions: 'default',
  readOnly: false,
  budgetUsd: null,
  options: { ...NO_OPTIONS, command: ['true'] },
  cwd: '/',
};

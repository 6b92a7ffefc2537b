/**
 * fence: wraps a program so that it can write only where it may. The system's own tool does the
 * work: bubblewrap (`bwrap`) on Linux, Seatbelt (`sandbox-exec`) on macOS.
 *
 *   F1. Everything can be read, nothing can be written but the workspace, the temp folder, what git
 *       needs for a commit there (bounds.ts) and the named caches.
 *   F2. What a program starts cannot leave: neither daemons nor programs with more rights.
 *   F3. A fence is never silently weaker than asked for: what cannot be kept is refused.
 *   F4. The tool is named by its absolute path, so that no workspace can bring its own.
 *
 * A program that does not exist is seen from outside of a fence as exit code 127.
 */

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { OperationalError, UserError } from '../base/errors.ts';
import { capture } from './capture.ts';
import { boundsOf, type NetworkRule } from './fence/bounds.ts';
import { bubblewrapCommand, ISOLATION, LANDMARKS } from './fence/bubblewrap.ts';
import { refusalOf } from './fence/refusal.ts';
import { seatbeltProfile } from './fence/seatbelt.ts';

/** What one attempt may do. All paths are absolute. */
export interface FenceRules {
  /** A linked worktree. */
  readonly workspace: string;
  /** What all worktrees of the repository share. */
  readonly commonDir: string;
  /** The full ref that is checked out in the workspace; null where HEAD is detached. */
  readonly branchRef: string | null;
  /** Caches and the agent's own state. Folders that do not exist are made, for the owner only. */
  readonly writable: readonly string[];
  readonly network: NetworkRule;
}

/** A program as it is started inside of the fence; `temp` is a folder it may write to as well. */
export type Fence = (program: Bare, temp: string) => Bare;

interface Bare {
  readonly file: string;
  readonly args: readonly string[];
}

/** Whether this machine can fence programs in. */
export type FenceSupport =
  | { readonly kind: 'available'; readonly tool: string; readonly version: string }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

const PROBE_MS = 10_000;
const INSTALL = 'Install bubblewrap: apt-get, dnf, pacman, zypper and apk call the package so.';
const ELSEWHERE = 'Run in a container or a virtual machine instead, with `sandbox: off`.';

/** Builds a real fence around nothing: the tool may be there and still be forbidden to work. */
export async function fenceSupport(signal: AbortSignal): Promise<FenceSupport> {
  switch (process.platform) {
    case 'linux':
      return bubblewrapSupport(signal);
    case 'darwin':
      return seatbeltSupport(signal);
    default:
      return { kind: 'missing', why: `no fence for ${process.platform}`, remedy: ELSEWHERE };
  }
}

/** The fence around one attempt. Makes the folders that must exist, and refuses bad rules. */
export function makeFence(rules: FenceRules): Fence {
  if (typeof rules.network !== 'string') requireProxies();
  const isMac = process.platform === 'darwin';
  const tool = toolAt(isMac ? 'sandbox-exec' : 'bwrap');
  const bounds = boundsOf(rules);
  return (program, temp) => {
    const realTemp = realpathSync(temp);
    if (!isMac) {
      const node = process.execPath;
      return bubblewrapCommand({ tool, bounds, temp: realTemp, node }, program);
    }
    const profile = seatbeltProfile(bounds, realTemp);
    return { file: tool, args: ['-p', profile, program.file, ...program.args] };
  };
}

/** Refuses where a fence cannot leave a proxy as the only way out. */
export function requireProxies(): void {
  if (process.platform === 'linux') return;
  const remedy = 'Say `network: on` or `network: off`, or run it on Linux.';
  throw new UserError('only on Linux can a fence allow single hosts', remedy);
}

async function bubblewrapSupport(signal: AbortSignal): Promise<FenceSupport> {
  const tool = findTool('bwrap');
  if (tool === null) {
    return { kind: 'missing', why: 'bubblewrap (bwrap) is not installed', remedy: INSTALL };
  }
  const version = await answerOf(tool, ['--version'], signal);
  const args = [...ISOLATION, '--unshare-net', ...LANDMARKS, '--', '/bin/sh', '-c', ':'];
  const probe = await answerOf(tool, args, signal);
  if (!probe.ok) return { kind: 'missing', ...refusalOf(probe.text) };
  return { kind: 'available', tool, version: version.text.replace(/^bubblewrap /, '') };
}

async function seatbeltSupport(signal: AbortSignal): Promise<FenceSupport> {
  const tool = findTool('sandbox-exec');
  if (tool === null) {
    return { kind: 'missing', why: 'sandbox-exec is not there', remedy: ELSEWHERE };
  }
  const probe = await answerOf(
    tool,
    ['-p', '(version 1)(allow default)', '/bin/sh', '-c', ':'],
    signal,
  );
  if (!probe.ok) {
    return { kind: 'missing', why: `sandbox-exec: ${probe.text}`, remedy: ELSEWHERE };
  }
  const version = await answerOf('/usr/bin/sw_vers', ['-productVersion'], signal);
  return { kind: 'available', tool, version: `macOS ${version.text}` };
}

interface Answer {
  readonly ok: boolean;
  readonly text: string;
}

/** What a short command said; an aborted signal is thrown as its reason. */
async function answerOf(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Answer> {
  const command = { file, args, cwd: '/', env: process.env, stdin: '', limitMs: PROBE_MS };
  const { exit, stdout, stderr } = await capture(command, signal);
  signal.throwIfAborted();
  const ok = exit.kind === 'exited' && exit.code === 0;
  return { ok, text: (stderr.trim() === '' ? stdout : stderr).trim() };
}

function toolAt(name: string): string {
  const tool = findTool(name);
  if (tool !== null) return tool;
  throw new OperationalError(`there is no ${name} to fence agents in`, {
    remedy: name === 'bwrap' ? INSTALL : ELSEWHERE,
  });
}

function findTool(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(':').filter(isAbsolute);
  return [...folders, '/usr/bin', '/bin'].map((dir) => join(dir, name)).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

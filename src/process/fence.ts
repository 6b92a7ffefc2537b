/**
 * fence: wraps a program so that it can write only where it may. The system's own tool does the
 * work: bubblewrap (`bwrap`) on Linux, Seatbelt (`sandbox-exec`) on macOS.
 *
 * - Everything can be read, nothing can be written but the workspace, the temp folder, what git
 *   needs for a commit there (bounds.ts) and the named caches.
 * - What a program starts cannot leave: neither daemons nor programs with more rights.
 * - A fence is never silently weaker than asked for: what cannot be kept is refused.
 * - The tool is named by its absolute path, so that no workspace can bring its own.
 *
 * A program that does not exist is seen from outside of a fence as exit code 127.
 */

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { OperationalError, trySystem, UserError } from '../base/errors.ts';
import { environment } from '../base/runtime.ts';
import { capture } from './capture.ts';
import { boundsOf, type FenceRules } from './fence/bounds.ts';
import {
  bubblewrapCommand,
  type CommandLine,
  ISOLATION,
  LANDMARKS,
  refusalOf,
} from './fence/bubblewrap.ts';
import { seatbeltProfile } from './fence/seatbelt.ts';

/** Wraps a program; `temp` is a folder that it may write to as well. */
export type Fence = (program: CommandLine, temp: string) => CommandLine;

export type FenceSupport =
  | { readonly kind: 'available'; readonly tool: string; readonly version: string }
  | { readonly kind: 'missing'; readonly why: string; readonly remedy: string };

const PROBE_MS = 10_000;
const INSTALL = 'Install bubblewrap; apt-get, dnf, pacman, zypper and apk have it under that name.';
const ELSEWHERE = 'Run in a container or a virtual machine instead, with `sandbox: off`.';

/** Tries a real fence: the tool may be installed and still be forbidden to work. */
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

/** Throws where a fence cannot restrict the network to a proxy. */
export function requireProxies(): void {
  if (process.platform === 'linux') return;
  const remedy = 'Use `network: on` or `network: off`, or run it on Linux.';
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
    return { kind: 'missing', why: 'sandbox-exec is missing', remedy: ELSEWHERE };
  }
  const args = ['-p', '(version 1)(allow default)', '/bin/sh', '-c', ':'];
  const probe = await answerOf(tool, args, signal);
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

/** An aborted signal is thrown as its reason. */
async function answerOf(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Answer> {
  const command = { file, args, cwd: '/', env: environment(), stdin: '', limitMs: PROBE_MS };
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
  const folders = (environment().PATH ?? '').split(':').filter(isAbsolute);
  return [...folders, '/usr/bin', '/bin'].map((dir) => join(dir, name)).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  const isExecutable = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return trySystem(isExecutable, false);
}

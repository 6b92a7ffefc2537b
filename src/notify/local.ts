/** Notices on this machine: runs a command, shows a note on the desktop. */

import { messageOf } from '../base/errors.ts';
import { type Capture, capture } from '../process/capture.ts';
import { SpawnError } from '../process/spawn.ts';

const COMMAND_LIMIT_MS = 30_000;
const DESKTOP_LIMIT_MS = 5_000;
const MOST_OUTPUT = 1024 * 1024;

/** Where programs are started, and what they see of the user's environment. */
export interface Machine {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** Runs the user's command with the JSON on its standard input; what went wrong, or null. */
export async function runHook(
  command: string,
  text: string,
  { dir, env }: Machine,
  signal: AbortSignal,
): Promise<string | null> {
  const shell = { file: '/bin/sh', args: ['-c', command], cwd: dir, env };
  return outcomeOf({ ...shell, stdin: `${text}\n`, limitMs: COMMAND_LIMIT_MS }, signal);
}

/** Shows a note on the desktop; what went wrong, or null. */
export async function showNote(
  note: Note,
  { dir, env, platform }: Machine,
  signal: AbortSignal,
): Promise<string | null> {
  const program = platform === 'darwin' ? appleScript(note) : notifySend(note);
  return outcomeOf({ ...program, cwd: dir, env, stdin: '', limitMs: DESKTOP_LIMIT_MS }, signal);
}

export interface Note {
  readonly title: string;
  readonly text: string;
}

/** The texts are arguments of the script, never part of it. */
function appleScript({ title, text }: Note): Pick<Capture, 'file' | 'args'> {
  const lines = [
    'on run argv',
    'display notification (item 2 of argv) with title (item 1 of argv)',
    'end run',
  ];
  return { file: 'osascript', args: [...lines.flatMap((line) => ['-e', line]), title, text] };
}

function notifySend({ title, text }: Note): Pick<Capture, 'file' | 'args'> {
  return { file: 'notify-send', args: ['--app-name=Landfast', '--', title, text] };
}

async function outcomeOf(command: Capture, signal: AbortSignal): Promise<string | null> {
  try {
    const { exit, stderr } = await capture({ ...command, maxBytes: MOST_OUTPUT }, signal);
    if (exit.kind === 'exited' && exit.code === 0) return null;
    if (exit.kind === 'aborted') return messageOf(exit.reason);
    const how = exit.kind === 'exited' ? `it exited with ${exit.code}` : 'it was ended by a signal';
    const said = stderr.trim().split('\n').at(-1) ?? '';
    return said === '' ? how : `${how}: ${said}`;
  } catch (error) {
    if (error instanceof SpawnError) return error.message;
    throw error;
  }
}

/**
 * An agent's last action in a few words: `Edit src/a.ts`, `Bash npm test`, `waits 12 s to retry`.
 * At most ACTION_LENGTH characters; null if an event says nothing new.
 */

import type { AgentEvent } from '../model/agent-event.ts';
import { durationText } from './format.ts';
import { brief, clean } from './sanitize.ts';

export const ACTION_LENGTH = 45;

export function actionOf(event: AgentEvent): string | null {
  const words = wordsOf(event);
  if (words === null) return null;
  const text = brief(words, ACTION_LENGTH);
  return text === '' ? null : text;
}

/** The action behind a line printed by a script, set-up or a check. */
export function printedAction(line: string): string | null {
  return ENDED.test(line) ? null : actionOf({ type: 'text', text: line });
}

/** The end note of a command (workspace/check.ts); the next line says more. */
const ENDED = /^\((?:exit code \d+|ended .*|stopped), [\d.]+ s\)$/;

function wordsOf(event: AgentEvent): string | null {
  switch (event.type) {
    case 'session':
      return event.model === undefined ? 'session started' : `session started (${event.model})`;
    case 'text':
      // A fragment of a sentence would only flicker; the whole text follows.
      return event.delta === true ? null : event.text;
    case 'thinking':
      return 'thinking';
    case 'tool.start':
      return toolWords(event.name, event.input);
    case 'retry':
      return `waits ${durationText(event.delayMs)} to retry (${event.attempt}/${event.max})`;
    case 'limit':
      return event.status === 'rejected' ? 'usage limit reached' : null;
    case 'denied':
      return `denied: ${event.tool}`;
    case 'warning':
      return `warning: ${event.text}`;
    case 'activity':
      return (event.background ?? 0) > 0 ? `${event.background} in the background` : null;
    case 'result':
      return event.ok ? 'finishing' : `stopped: ${event.failure?.kind ?? 'failed'}`;
    case 'tool.end':
    case 'usage':
      return null;
  }
}

function toolWords(name: string, input: unknown): string {
  const tool = brief(name.replace(/^mcp__/, '').replaceAll('__', ' '), 24);
  const argument = mainArgument(input);
  if (argument === null) return tool;
  const room = ACTION_LENGTH - [...tool].length - 1;
  return `${tool} ${argument.isPath ? lastOf(argument.text, room) : argument.text}`;
}

/** The main argument in full; null if unknown. */
export function toolArgument(input: unknown): string | null {
  return mainArgument(input)?.text ?? null;
}

/** Picks the most telling argument by the names that tools use. */
function mainArgument(input: unknown): { text: string; isPath: boolean } | null {
  if (typeof input === 'string') return { text: input, isPath: false };
  if (typeof input !== 'object' || input === null) return null;
  const fields = input as Readonly<Record<string, unknown>>;
  for (const key of [...PATH_KEYS, ...TEXT_KEYS]) {
    const value = fields[key];
    const isPath = PATH_KEYS.includes(key);
    if (typeof value === 'string' && value !== '') return { text: value, isPath };
    const isCommand = Array.isArray(value) && value.length > 0 && !isPath;
    if (isCommand) return { text: commandWords(value), isPath };
  }
  return null;
}

const PATH_KEYS: readonly string[] = ['file_path', 'filePath', 'notebook_path', 'absolute_path'];
const TEXT_KEYS: readonly string[] = [
  ...['command', 'cmd', 'pattern', 'path', 'query', 'url', 'skill', 'description', 'prompt'],
];

/** `['bash', '-lc', 'npm test']` is `npm test`. */
function commandWords(words: readonly unknown[]): string {
  const texts = words.filter((word) => typeof word === 'string');
  const shell = /^(?:.*\/)?(?:ba|z|da)?sh$/.test(texts[0] ?? '') && /^-\w*c$/.test(texts[1] ?? '');
  return (shell ? texts.slice(2) : texts).join(' ');
}

/** A path's end says more than its beginning. */
function lastOf(path: string, room: number): string {
  const characters = [...clean(path.slice(-400))];
  if (characters.length <= room) return characters.join('');
  const end = characters.slice(1 - room).join('');
  const slash = end.indexOf('/');
  return `…${slash > 0 ? end.slice(slash) : end}`;
}

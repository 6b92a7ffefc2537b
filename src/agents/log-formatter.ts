/**
 * An attempt's output for people, as it happens. Never throws; long results are cut, and lines
 * outside the agent's own stream are shown as they are.
 *
 *   [INIT] Session: 8b05f910... Model: opus
 *   I will look at the tests first.
 *   [TOOL] Bash: npm test
 *   [RESULT] 12 passed
 *
 *   [COMPLETE] Duration: 45.2s
 *   Done.
 */

import type { Said } from '../model/effect.ts';
import { fieldsOf, textOf } from './json-fields.ts';

export interface LogFormatter {
  /** The text to add; often none. `at` is the time in milliseconds. */
  format(chatter: Said, at: number): string;
}

/** Formats the events of any agent; of `plain` ones, what they print. */
export class EventFormatter implements LogFormatter {
  readonly #plain: boolean;
  readonly #names = new Map<string, string>();
  #startedAt: number | null = null;

  constructor({ plain }: { readonly plain: boolean }) {
    this.#plain = plain;
  }

  format(chatter: Said, at: number): string {
    this.#startedAt ??= at;
    if (chatter.from !== 'agent') {
      return this.#plain || chatter.from === 'stderr' ? `${chatter.text}\n` : '';
    }
    const { event } = chatter;
    switch (event.type) {
      case 'session':
        return initText(event.id, event.model ?? '');
      case 'text':
        return event.delta === true || this.#plain ? '' : `${event.text}\n`;
      case 'tool.start':
        this.#names.set(event.id, event.name);
        return toolText(event.name, event.input);
      case 'tool.end':
        return resultText(event.output, this.#names.get(event.id) ?? '');
      case 'result':
        return completeText(at - this.#startedAt, event.text);
      default:
        return '';
    }
  }
}

export function initText(session: string, model: string): string {
  return `[INIT] Session: ${cut(session || 'unknown', 8)}... Model: ${model || 'unknown'}\n`;
}

const MOST_COMMAND = 100;

/** The line for a tool that is used: its command or its file, where it has one. */
export function toolText(name: string, input: unknown): string {
  const { command, file_path: file, path } = fieldsOf(input);
  const shell = flat(textOf(command));
  const what = shell === '' ? flat(textOf(file) || textOf(path)) : ended(shell, MOST_COMMAND);
  return what === '' ? `[TOOL] ${name}\n` : `[TOOL] ${name}: ${what}\n`;
}

const SHORT = 500;
const LONG = 1000;
const EXCERPT = 200;

/** Output of a tool: whole when short, else its beginning and length. */
export function resultText(text: string, tool: string): string {
  if (text === '') return '';
  const length = [...text].length;
  if (length <= SHORT) return `[RESULT] ${text}\n`;
  if (length <= LONG) return `[RESULT] ${cut(text, SHORT)}... [${length} chars]\n`;
  const from = tool === '' ? '' : ` from ${tool}`;
  const size = length.toLocaleString('en-US');
  return `[RESULT${from}] (${size} chars) ${flat(cut(text, EXCERPT))}...\n`;
}

export function completeText(durationMs: number, text: string): string {
  const line = `\n[COMPLETE] Duration: ${(durationMs / 1000).toFixed(1)}s\n`;
  return text === '' ? line : `${line}${ended(text, SHORT)}\n`;
}

function ended(text: string, length: number): string {
  const short = cut(text, length);
  return short === text ? text : `${short}...`;
}

/** The first characters; none of them is cut in two. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : [...text.slice(0, 2 * length)].slice(0, length).join('');
}

function flat(text: string): string {
  return text.replace(/\r?\n/g, ' ');
}

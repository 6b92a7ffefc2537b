/**
 * What a refused tool was to do, and the line of a plan or of landfast.yaml that would allow it.
 *
 *   D1. A refusal that the plan wants has no such line: a read task's edits, `disallowed_tools`.
 *   D2. The line allows no more than it must, as far as the agent has rules for that.
 */

import type { Job } from './agent.ts';
import { clip, fieldsOf, listOf, textOf } from './json-fields.ts';

export interface ToolCall {
  readonly tool: string;
  readonly input: unknown;
}

/** What an agent calls its tools, and whether a job may have rules for single ones. */
export interface ToolNames {
  readonly shell: string;
  readonly edits: readonly string[];
  readonly rules: boolean;
}

/** The argument that tells most: a command, a path, an address; null where there is none. */
export function whatOf(input: unknown): string | null {
  const fields = fieldsOf(input);
  const command = listOf(fields.command).map(textOf).join(' ');
  const texts = [command, ...KEYS.map((key) => textOf(fields[key]))];
  const text = texts.find((each) => each !== '');
  return text === undefined ? null : clip(text, 200);
}

const PATHS = ['file_path', 'filePath', 'notebook_path', 'absolute_path', 'path'];
const KEYS = ['command', ...PATHS, 'url', 'query', 'description'];

/** The line that would allow the call; null where there is none. */
export function allowing(job: Job, { tool, input }: ToolCall, names: ToolNames): string | null {
  const isEdit = names.edits.includes(tool);
  const { tools } = job.options;
  if (job.readOnly && (isEdit || !names.rules)) return null;
  if (tools.disallowed.some((rule) => rule === tool || rule.startsWith(`${tool}(`))) return null;
  if (isEdit && !EDITING.has(job.permissions)) return line('permission_mode', 'acceptEdits');
  if (!names.rules) return line('permission_mode', 'bypassPermissions');
  const folder = folderOutside(job, input);
  if (folder !== null) return line('add_dirs', `[${word(folder)}]`);
  const command = tool === names.shell ? textOf(fieldsOf(input).command) : '';
  const programs = programsIn(command).filter((name) => !tools.commands.includes(name));
  return programs.length > 0
    ? line('allowed_cli', `[${programs.join(', ')}]`)
    : line('allowed_tools', `[${word(tool)}]`);
}

const EDITING: ReadonlySet<string> = new Set(['acceptEdits', 'auto', 'bypassPermissions']);

function line(key: string, value: string): string {
  return `tools: { ${key}: ${value} }`;
}

/** A text as YAML has it in a list. */
function word(text: string): string {
  return /^[\w./~:-]+$/.test(text) ? text : JSON.stringify(text);
}

/** The folder of a file that is not in the workspace. */
function folderOutside({ cwd }: Job, input: unknown): string | null {
  const path = PATHS.map((key) => textOf(fieldsOf(input)[key])).find((each) => each !== '') ?? '';
  const isInside = path === cwd || path.startsWith(`${cwd}/`);
  if (!path.startsWith('/') || isInside) return null;
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** The programs that a command starts; none where that takes a shell to know. */
function programsIn(command: string): readonly string[] {
  const parts = command.split(/&&|\|\||[;|\n]/).filter((part) => part.trim() !== '');
  const names = parts.map((part) => PROGRAM.exec(part.trim())?.[1] ?? '');
  const isPlain = names.every((name) => name !== '' && !KEYWORDS.test(name));
  return isPlain ? [...new Set(names)] : [];
}

/** The first word that is no assignment, where it is a name or a path as it stands. */
const PROGRAM = /^(?:\w+=[^\s'"`$()]*\s+)*([\w./+-]+)(?=\s|$)/;
const KEYWORDS = /^(?:if|for|while|until|case|do|then|else|done|fi)$/;

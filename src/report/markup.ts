/**
 * Pieces of Markdown. Data never changes the structure: inline text is escaped, and a code span or
 * fence is longer than any run of backticks inside.
 */

import { brief, tail } from './sanitize.ts';

/** A table; cells are Markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** Escapes text, for tables too. An underscore within a word needs no escape. */
export function escaped(text: string, max: number): string {
  return brief(text, max)
    .replace(/[\\`*[\]<>|~&]/g, '\\$&')
    .replace(/^[-+#=]|(?<=^\d+)[.)]/, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_');
}

/** A code span. Not for tables, where a pipe would end the cell even inside. */
export function code(text: string): string {
  const line = brief(text, 120);
  const marks = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
  return `${marks}${pad}${line}${pad}${marks}`;
}

/** The end of an output as a code block. */
export function fence(text: string, maxLines: number): string {
  const inside = tail(text, maxLines);
  const marks = '`'.repeat(Math.max(3, longestRun(inside) + 1));
  return `${marks}\n${inside}\n${marks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

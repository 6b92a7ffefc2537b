/**
 * Markdown as far as plans need it: headings, fenced blocks, and other lines. A fence may be indented
 * (in lists) and ends with a fence of its own kind that is at least as long, or with the text.
 */

import { LINE_BREAK, withoutBom } from './front-matter.ts';

export type MarkdownPart = MarkdownHeading | MarkdownFence | MarkdownLine;

export interface MarkdownHeading {
  readonly kind: 'heading';
  readonly line: number;
  readonly level: number;
  readonly text: string;
}

export interface MarkdownFence {
  readonly kind: 'fence';
  /** The line of the opening fence; the text begins on the next. */
  readonly line: number;
  readonly column: number;
  /** The opening fence. */
  readonly marks: string;
  /** What follows the opening fence, such as a language. */
  readonly info: string;
  /** The lines between the fences. */
  readonly lines: readonly string[];
  readonly closed: boolean;
}

export interface MarkdownLine {
  readonly kind: 'line';
  readonly line: number;
  readonly text: string;
}

const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;

export function readMarkdown(text: string): readonly MarkdownPart[] {
  const lines = withoutBom(text).split(LINE_BREAK);
  const parts: MarkdownPart[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const content = lines[index]!;
    const line = index + 1;
    const fence = openingFence(content);
    const heading = HEADING.exec(content);
    if (fence !== null) {
      const end = closingLine(lines, index + 1, fence.marks);
      const inside = lines.slice(index + 1, end);
      parts.push({ kind: 'fence', line, ...fence, lines: inside, closed: end < lines.length });
      index = end;
    } else if (heading !== null) {
      const [, marks = '', title = ''] = heading;
      parts.push({ kind: 'heading', line, level: marks.length, text: headingText(title) });
    } else {
      parts.push({ kind: 'line', line, text: content });
    }
  }
  return parts;
}

/** The text in a fence that it cannot close. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Without optional closing marks. */
function headingText(title: string): string {
  return title
    .trim()
    .replace(/(?:^|[ \t])#+$/, '')
    .trimEnd();
}

interface Opening {
  readonly marks: string;
  readonly info: string;
  readonly column: number;
}

function openingFence(line: string): Opening | null {
  const found = FENCE.exec(line);
  if (found === null) return null;
  const [, indent = '', marks = '', info = ''] = found;
  // A line with further back-ticks is inline code.
  if (marks.startsWith('`') && info.includes('`')) return null;
  return { marks, info: info.trim(), column: indent.length + 1 };
}

/** The index of the line that closes the fence, else the number of lines. */
function closingLine(lines: readonly string[], from: number, marks: string): number {
  for (let index = from; index < lines.length; index += 1) {
    const line = lines[index]!.trim();
    if (line.length >= marks.length && line === marks[0]!.repeat(line.length)) return index;
  }
  return lines.length;
}

/** Markdown as far as plans need it: YAML in front of a body, headings, fenced blocks, other lines. */

import { type Place, placeAt } from '../problem.ts';

export type FrontMatter =
  /** Line 1 is not `---`. */
  | { readonly kind: 'none' }
  /** There is no second `---`. */
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed';
      /** Begins on line 2 of the file. */
      readonly yaml: string;
      readonly body: string;
      /** The line of the file on which the body begins. */
      readonly bodyLine: number;
    };

export const LINE_BREAK = /\r\n|\n|\r/;

/** Splits the text at the two lines that are `---`, apart from trailing blanks. */
export function splitFrontMatter(text: string, lineBreak = LINE_BREAK): FrontMatter {
  const lines = text.split(lineBreak);
  const isDelimiter = (line: string | undefined) => line?.trimEnd() === '---';
  if (!isDelimiter(lines[0])) return { kind: 'none' };
  const end = lines.findIndex((line, index) => index > 0 && isDelimiter(line));
  if (end === -1) return { kind: 'open' };
  return {
    kind: 'closed',
    yaml: lines.slice(1, end).join('\n'),
    body: lines.slice(end + 1).join('\n'),
    bodyLine: end + 2,
  };
}

/** Where a pattern matches in the front matter, or in a text without one. */
export function markerIn(front: FrontMatter, text: string, pattern: RegExp): Place | null {
  const yaml = front.kind === 'closed' ? front.yaml : text;
  const found = pattern.exec(yaml);
  if (found === null) return null;
  const { line, column } = placeAt(yaml, found.index);
  return { line: front.kind === 'closed' ? line + 1 : line, column };
}

/** Without the byte order mark that some editors add. */
export function withoutBom(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

export type MarkdownPart = MarkdownHeading | MarkdownFence | MarkdownLine;

interface MarkdownHeading {
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

interface MarkdownLine {
  readonly kind: 'line';
  readonly line: number;
  readonly text: string;
}

const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;

/** A fence may be indented (in lists); a longer one, or the end of the text, closes it too. */
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

function openingFence(line: string): Pick<MarkdownFence, 'marks' | 'info' | 'column'> | null {
  const [, indent = '', marks = '', info = ''] = FENCE.exec(line) ?? [];
  // A line with further back-ticks is inline code.
  if (marks === '' || (marks.startsWith('`') && info.includes('`'))) return null;
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

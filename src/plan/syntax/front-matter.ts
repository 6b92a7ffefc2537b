/** Markdown with YAML in front: `---`, the YAML, `---`, and a body for people. */

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

/** Prompts in the body of a Markdown plan: a heading `## <task id>` and what follows it. */

import { LINE_BREAK } from '../../front-matter.ts';

/** One section of level two. */
export interface Section {
  readonly title: string;
  readonly text: string;
  /** The line of the file its heading is on. */
  readonly line: number;
}

/** A section ends at the next heading of level one or two; headings in code fences do not count. */
export function sectionsOf(body: string, firstLine: number): readonly Section[] {
  const sections: { title: string; lines: string[]; line: number }[] = [];
  let isOpen = false;
  let fence: string | null = null;
  for (const [index, line] of body.split(LINE_BREAK).entries()) {
    fence = fenceAfter(line, fence);
    const heading = fence === null ? /^(#{1,2})[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line) : null;
    if (heading === null) {
      if (isOpen) sections.at(-1)!.lines.push(line);
      continue;
    }
    isOpen = heading[1] === '##';
    if (!isOpen) continue;
    const title = heading[2]!.replace(/^`(.*)`$/, '$1');
    sections.push({ title, lines: [], line: firstLine + index });
  }
  return sections.map(({ title, lines, line }) => ({ title, text: lines.join('\n').trim(), line }));
}

/** The fence that is open after the line: a fence is closed by one at least as long. */
function fenceAfter(line: string, open: string | null): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (mark === null) return open;
  const [, fence = '', info = ''] = mark;
  if (open === null) return fence.startsWith('`') && info.includes('`') ? null : fence;
  return fence.startsWith(open) && info.trim() === '' ? null : open;
}

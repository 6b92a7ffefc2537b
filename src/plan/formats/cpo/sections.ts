/** The body of a task file: its title and its `##` sections, each with the line it begins on. */

import { LINE_BREAK } from '../../front-matter.ts';

export interface Body {
  /** What follows the id in `# <id>: <title>`. */
  readonly title: string | null;
  /** By name in lower case. */
  readonly sections: ReadonlyMap<string, Section>;
  readonly all: Section;
}

export interface Section {
  readonly lines: readonly string[];
  /** The line of the file that `lines[0]` is. */
  readonly firstLine: number;
}

/** Cuts the body at its headings of the second level; those inside code fences are none. */
export function readBody(text: string, firstLine: number): Body {
  const lines = text.split(LINE_BREAK);
  const heads: { readonly name: string; readonly index: number }[] = [];
  let title: string | null = null;
  let fence: string | null = null;
  for (const [index, line] of lines.entries()) {
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === null) fence = mark;
      else if (mark.startsWith(fence)) fence = null;
    }
    if (fence !== null || mark !== undefined) continue;
    const [, marks = ''] = /^(##?)\s/.exec(line) ?? [];
    const text = line.slice(marks.length).trim();
    if (marks === '##' && text !== '') heads.push({ name: text.toLowerCase(), index });
    if (marks === '#' && text !== '') title ??= text;
  }
  const sections = new Map<string, Section>();
  for (const [i, { name, index }] of heads.entries()) {
    const content = lines.slice(index + 1, heads[i + 1]?.index ?? lines.length);
    if (!sections.has(name))
      sections.set(name, { lines: content, firstLine: firstLine + index + 1 });
  }
  return { title: withoutId(title), sections, all: { lines, firstLine } };
}

/** The text of a section as it was written, without blank lines around it; '' without one. */
export function sectionText(section: Section | undefined): string {
  return (section?.lines ?? [])
    .join('\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

function withoutId(title: string | null): string | null {
  return title?.replace(/^task-\d+[\w.-]*\s*[:–—-]\s*/i, '') ?? null;
}

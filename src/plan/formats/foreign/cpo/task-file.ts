/**
 * A task file, `tasks/task-NNN-component.md`: front matter and sections. What can be read of a wrong
 * file is returned, for the checks across files.
 */

import { type Place, type ProblemLog, START } from '../../../problem.ts';
import { LINE_BREAK, splitFrontMatter, withoutBom } from '../../../syntax/front-matter.ts';
import { describe, entryOf, readYaml, type YamlNode } from '../../../syntax/yaml.ts';
import { readCount, readWord, readWords, type Word } from './manifest.ts';
import { readScope, type Scope } from './scope.ts';

export interface TaskFile {
  /** Relative to the directory. */
  readonly path: string;
  readonly log: ProblemLog;
  /** From the front matter, else from the file's name. */
  readonly id: string;
  readonly idAt: Place;
  readonly component: string | null;
  readonly wave: number | null;
  readonly waveAt: Place;
  readonly agent: Word | null;
  readonly deps: readonly Word[];
  readonly blocks: readonly Word[] | null;
  readonly skills: readonly string[];
  readonly contracts: readonly Word[];
  readonly title: string | null;
  readonly scope: Scope;
  readonly requirements: string;
  readonly checklist: string;
  /** The first line of the body that is neither heading nor directive. */
  readonly objective: string | null;
}

export function readTaskFile(path: string, text: string, log: ProblemLog): TaskFile {
  const plain = withoutBom(text);
  const front = splitFrontMatter(plain);
  if (front.kind !== 'closed') {
    const what = front.kind === 'none' ? 'there is no front matter' : 'front matter is not closed';
    log.error(START, what, 'put id, wave, deps and agent between two lines that are exactly ---');
  }
  const root = front.kind === 'closed' ? readFront(front.yaml, log) : EMPTY;
  const body = front.kind === 'closed' ? readBody(front.body, front.bodyLine) : readBody(plain, 1);
  const id = readWord(root, 'id', log);
  const scope = body.sections.get('scope') ?? body.all;
  const hasBlocks = entryOf(root, 'blocks') !== undefined;
  return {
    path,
    log,
    id: id?.text ?? path.replace(/^.*\//, '').replace(/\.md$/i, ''),
    idAt: id?.at ?? START,
    component: readWord(root, 'component', log)?.text ?? null,
    wave: readCount(root, 'wave', log),
    waveAt: entryOf(root, 'wave')?.value.at ?? START,
    agent: readWord(root, 'agent', log),
    deps: readWords(root, 'deps', log),
    blocks: hasBlocks ? readWords(root, 'blocks', log) : null,
    skills: readWords(root, 'skills', log).map((word) => word.text),
    contracts: readWords(root, 'contracts', log),
    title: body.title,
    scope: readScope(scope, log),
    requirements: sectionText(body.sections.get('requirements')),
    checklist: sectionText(body.sections.get('checklist')),
    objective: objectiveOf(body.all.lines),
  };
}

const EMPTY: YamlNode = { kind: 'map', at: START, entries: new Map() };

function readFront(yaml: string, log: ProblemLog): YamlNode {
  const root = readYaml({ text: yaml, firstLine: 2, version: '1.2' }, log);
  if (root === null || root.kind === 'map') return root ?? EMPTY;
  log.error(root.at, `front matter must be a mapping, found ${describe(root)}`);
  return EMPTY;
}

/** The first line between the title and the first section. */
function objectiveOf(lines: readonly string[]): string | null {
  const end = lines.findIndex((line) => /^##\s/.test(line));
  const head = lines.slice(0, end === -1 ? lines.length : end);
  return head.find((line) => /^\s*[^\s#]/.test(line))?.trim() ?? null;
}

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

/** Splits the body at headings of the second level outside of code fences. */
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

/** Without blank lines around it; '' if there is no such section. */
export function sectionText(section: Section | undefined): string {
  return (section?.lines ?? [])
    .join('\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

function withoutId(title: string | null): string | null {
  return title?.replace(/^task-\d+[\w.-]*\s*[:–—-]\s*/i, '') ?? null;
}

/**
 * A task file, `tasks/task-NNN-component.md`: front matter for programs, sections for people.
 *
 *   F1. Whatever is wrong with it, what could be read is returned: the checks across files go on.
 */

import { splitFrontMatter, withoutBom } from '../../front-matter.ts';
import { type Place, type ProblemLog, START } from '../../problem.ts';
import { describe, entryOf, readYaml, type YamlNode } from '../../yaml-source.ts';
import { readCount, readWord, readWords, type Word } from './fields.ts';
import { readScope, type Scope } from './scope-text.ts';
import { readBody, sectionText } from './sections.ts';

export interface TaskFile {
  /** Relative to the directory. */
  readonly path: string;
  readonly log: ProblemLog;
  /** As the front matter has it; without one the file's name. */
  readonly id: string;
  readonly idAt: Place;
  readonly component: string | null;
  readonly wave: number | null;
  readonly waveAt: Place;
  readonly agent: Word | null;
  readonly deps: readonly Word[];
  /** Null where the file does not say. */
  readonly blocks: readonly Word[] | null;
  readonly skills: readonly string[];
  readonly contracts: readonly Word[];
  readonly title: string | null;
  readonly scope: Scope;
  /** The sections as they were written; '' without one. */
  readonly requirements: string;
  readonly checklist: string;
  /** The first line of the body that is neither heading nor directive. */
  readonly objective: string | null;
}

/** Reads a task file. */
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

/** What stands between the title and the first section. */
function objectiveOf(lines: readonly string[]): string | null {
  const end = lines.findIndex((line) => /^##\s/.test(line));
  const head = lines.slice(0, end === -1 ? lines.length : end);
  return head.find((line) => /^\s*[^\s#]/.test(line))?.trim() ?? null;
}

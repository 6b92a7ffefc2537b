/**
 * A task file, `tasks/task-NNN-component.md`: front matter and sections. What can be read of a wrong
 * file is returned, for the checks across files.
 */

import {
  inScope,
  isLiteral,
  listBraces,
  normaliseGlob,
  overlaps,
} from '../../../../model/scope.ts';
import { type Place, type ProblemLog, quote, START } from '../../../problem.ts';
import { LINE_BREAK, splitFrontMatter, withoutBom } from '../../../syntax/markdown.ts';
import { entryOf, expectMap, readYaml, type YamlNode } from '../../../syntax/yaml.ts';
import { pathRefusal } from '../../native/values.ts';
import { type CpoTask, readCount, readWord, readWords, type Word } from './manifest.ts';

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
  return (root && expectMap(root, 'front matter', log)) ?? EMPTY;
}

/** The first line between the title and the first section. */
function objectiveOf(lines: readonly string[]): string | null {
  const end = lines.findIndex((line) => /^##\s/.test(line));
  const head = lines.slice(0, end === -1 ? lines.length : end);
  return head.find((line) => /^\s*[^\s#]/.test(line))?.trim() ?? null;
}

interface Section {
  readonly lines: readonly string[];
  /** The line of the file that `lines[0]` is. */
  readonly firstLine: number;
}

/**
 * Splits the body at headings of the second level outside of code fences, into sections by name in
 * lower case. The title is what follows the id in `# <id>: <title>`.
 */
function readBody(text: string, firstLine: number) {
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
  const all: Section = { lines, firstLine };
  return { title: withoutId(title), sections, all };
}

/** Without blank lines around it; '' if there is no such section. */
function sectionText(section: Section | undefined): string {
  return (section?.lines ?? [])
    .join('\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

function withoutId(title: string | null): string | null {
  return title?.replace(/^task-\d+[\w.-]*\s*[:–—-]\s*/i, '') ?? null;
}

/*
 * The Scope of a task file: CREATE, MODIFY and BOUNDARY in every spelling that is in use.
 *
 *     CREATE: apps/u/{models,views}.py, apps/u/tests/*.py     commas inside braces do not separate
 *     MODIFY: []                                              so do (none), none and -
 *     BOUNDARY:
 *     - apps/core/* (do not modify)                           a remark in parentheses
 *     **CREATE**:
 *     - `apps/u/admin.py` - the admin pages                   quoted, with a description
 *     MODIFY: apps/a.py::User.save  # only this method        a part of a file, and a remark
 *
 *   S1. What looks like no path is a warning and left out: prose must not become a rule.
 *   S2. Braces are spelled out: every entry is a path or a glob without alternatives.
 */

export type Directive = 'create' | 'modify' | 'boundary';

export interface ScopeEntry {
  /** Relative to the repository's root. */
  readonly path: string;
  /** The part of the file after `::`, such as `User.save`; null means all of it. */
  readonly part: string | null;
  readonly at: Place;
}

type Scope = Readonly<Record<Directive, readonly ScopeEntry[]>>;

export const NO_SCOPE: Scope = { create: [], modify: [], boundary: [] };

const DIRECTIVE =
  /^\s*(?:[-*+]\s+|#{3,}\s+)?(?:\*\*|__|`)?(create|modify|boundary)(?:\*\*|__|`)?\s*:(?:\*\*|__)?/i;

const MAX_LINE = 4000;
const MAX_ENTRIES = 2000;

const DESCRIPTION = /\s+(?:-{1,2}|–|—)\s+.*$/;

export function readScope(section: Section, log: ProblemLog): Scope {
  const scope: Record<Directive, ScopeEntry[]> = { create: [], modify: [], boundary: [] };
  let current: Directive | null = null;
  let open = false; // The line before ended with a comma.
  for (const [index, line] of section.lines.entries()) {
    const begin = line.slice(0, MAX_LINE); // Patterns are kept away from endless lines.
    const head: RegExpExecArray | null = DIRECTIVE.exec(begin);
    const bullet = /^\s*[-*+]\s+/.exec(begin);
    let start = 0;
    if (head !== null) {
      current = head[1]!.toLowerCase() as Directive;
      start = head[0].length;
    } else if (bullet !== null) start = bullet[0].length;
    else if (!open || line.trim() === '') continue;
    if (current === null) continue;
    if (line.length > MAX_LINE) {
      log.error({ line: section.firstLine + index, column: 1 }, 'this line is too long for a list');
      continue;
    }
    const at = { line: section.firstLine + index, column: start + 1 };
    const text = line.slice(start);
    const list = head === null && bullet !== null ? text.replace(DESCRIPTION, '') : text;
    scope[current].push(...readEntries(list, at, log));
    if (scope[current].length > MAX_ENTRIES) {
      log.error(at, `there are more than ${MAX_ENTRIES} entries`, 'name folders: apps/users/**');
      break;
    }
    open = /,\s*$/.test(line);
  }
  return scope;
}

function readEntries(text: string, at: Place, log: ProblemLog): readonly ScopeEntry[] {
  const entries: ScopeEntry[] = [];
  for (const { text: piece, offset } of splitList(withoutRemark(text))) {
    const place = { line: at.line, column: at.column + offset };
    const named = pathIn(piece);
    if (named === '') continue;
    const [path = '', part] = named.split('::', 2);
    const isQuoted = /[`"']/.test(piece);
    if (/\s/.test(path) && !isQuoted) {
      const message = `${quote(named)} is not a path and is left out`;
      log.warning(place, message, 'put paths with spaces in ``');
      continue;
    }
    const refusal = pathRefusal(path);
    if (refusal !== null) {
      const message = refusal.message ?? `${quote(path)} is not a path in the repository`;
      log.error(place, message, refusal.remedy);
      continue;
    }
    for (const one of listBraces(normaliseGlob(path))) {
      entries.push({ path: one, part: part?.trim() || null, at: place });
    }
  }
  return entries;
}

/** `CREATE: [a.py, b.py]` may have brackets. */
function splitList(text: string): readonly { readonly text: string; readonly offset: number }[] {
  const list = /^(\s*\[)(.*)\]\s*$/.exec(text);
  const inner = list === null ? text : list[2]!;
  let from = list === null ? 0 : list[1]!.length;
  return splitAtCommas(inner).map((piece) => {
    const offset = from + (piece.length - piece.trimStart().length);
    from += piece.length + 1;
    return { text: piece.trim(), offset };
  });
}

/** Splits at commas outside of brackets and quotes. */
function splitAtCommas(text: string): readonly string[] {
  const pieces: string[] = [];
  let depth = 0;
  let quoted: string | null = null;
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i]!;
    if (quoted !== null) quoted = char === quoted ? null : quoted;
    else if (char === '`' || char === '"') quoted = char;
    else if ('{[('.includes(char)) depth += 1;
    else if ('}])'.includes(char)) depth = Math.max(0, depth - 1);
    else if (char === ',' && depth === 0) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces;
}

function withoutRemark(text: string): string {
  return text.replace(/\s#(?:\s.*)?$/, '');
}

const NOTHING = /^(?:none|nothing|n\/a|-+|–|—|\(.*\)|\[\s*\])?\.?$/i;

/** Without quotes, remarks and descriptions; '' for "none". */
function pathIn(entry: string): string {
  const [, , inQuotes] = /^(?:\*\*)?([`"'])(.+?)\1/.exec(entry) ?? [];
  if (inQuotes !== undefined) return inQuotes.trim();
  const bare = entry.replace(/\s+\(.*$/, '').replace(DESCRIPTION, '');
  return NOTHING.test(bare.trim()) ? '' : bare.trim();
}

/*
 * Who owns which file. A file is CREATEd by one task of all waves. In one wave a file is changed by one
 * task, unless two change different parts of it. A task does not change what lies wholly inside its
 * own BOUNDARY. Where brackets in globs leave that uncertain, it is a warning.
 */

/** Each is compared with each. */
const MAX_CLAIMS = 2000;

export function checkOwnership(tasks: readonly CpoTask[]): void {
  const claims = tasks.flatMap(claimsOf);
  const beyond = claims[MAX_CLAIMS];
  if (beyond !== undefined) {
    const message = `there are more than ${MAX_CLAIMS} files to CREATE and MODIFY`;
    beyond.task.file?.log.error(beyond.entry.at, message, 'name folders instead: apps/users/**');
    return;
  }
  for (const [index, claim] of claims.entries()) {
    for (const earlier of claims.slice(0, index)) {
      if (earlier.task.id !== claim.task.id) checkPair(earlier, claim);
    }
  }
  for (const claim of claims) checkBoundary(claim);
}

interface Claim {
  readonly task: CpoTask;
  readonly verb: Exclude<Directive, 'boundary'>;
  readonly entry: ScopeEntry;
}

function claimsOf(task: CpoTask): readonly Claim[] {
  const { create = [], modify = [] } = task.file?.scope ?? {};
  return [
    ...create.map((entry) => ({ task, verb: 'create', entry }) as const),
    ...modify.map((entry) => ({ task, verb: 'modify', entry }) as const),
  ];
}

function checkPair(first: Claim, second: Claim): void {
  const bothCreate = first.verb === 'create' && second.verb === 'create';
  if (!bothCreate && first.task.wave !== second.task.wave) return;
  if (!bothCreate && !partsOverlap(first.entry.part, second.entry.part)) return;
  const answer = meeting(first.entry.path, second.entry.path);
  if (answer === 'no') return;
  const one = `${first.verb.toUpperCase()} ${quote(shown(first.entry))} of ${quote(first.task.id)}`;
  const two = `${second.verb.toUpperCase()} ${quote(shown(second.entry))}`;
  const may = answer === 'yes' ? 'is also' : 'may also be';
  const message = `conflict: ${two} of ${quote(second.task.id)} ${may} in ${one}`;
  const remedy = bothCreate
    ? 'a file is created by one task only: give it to one of them'
    : `both are in wave ${second.task.wave}: move one to another wave, or name parts (path::Name)`;
  const log = second.task.file?.log;
  if (answer === 'yes') log?.error(second.entry.at, message, remedy);
  else log?.warning(second.entry.at, message, remedy);
}

function checkBoundary({ task, verb, entry }: Claim): void {
  const fence = (task.file?.scope.boundary ?? []).find(
    (boundary) =>
      partsOverlap(boundary.part, entry.part) &&
      (boundary.path === entry.path || inScope(sampleOf(entry.path), [boundary.path])),
  );
  if (fence === undefined) return;
  const what = `${verb.toUpperCase()} ${quote(shown(entry))}`;
  task.file?.log.error(
    entry.at,
    `conflict: ${what} lies in the task's own BOUNDARY ${quote(shown(fence))}`,
    'remove it from one of the two',
  );
}

/** Null is the whole file. */
function partsOverlap(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a === b) return true;
  return a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

function meeting(a: string, b: string): 'yes' | 'maybe' | 'no' {
  if (isPlain(a) && isPlain(b)) {
    return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`) ? 'yes' : 'no';
  }
  if (isPlain(a) && inScope(a, [b])) return 'yes';
  if (isPlain(b) && inScope(b, [a])) return 'yes';
  if (!overlaps([a], [b])) return 'no';
  return /[[\]()]/.test(a + b) ? 'maybe' : 'yes';
}

/** One path: brackets alone are part of a name, as in `app/[id]`. */
function isPlain(glob: string): boolean {
  return isLiteral(glob) || !/[*?{|\\]/.test(glob);
}

/** A path that the glob covers, and other globs are unlikely to. */
function sampleOf(glob: string): string {
  if (isPlain(glob)) return glob;
  return glob
    .replaceAll('**', 'any-0/any-1')
    .replaceAll('*', 'any-2')
    .replaceAll('?', 'q')
    .replace(/\{([^,}]*)[^}]*\}/g, '$1');
}

export function shown({ path, part }: ScopeEntry): string {
  return part === null ? path : `${path}::${part}`;
}

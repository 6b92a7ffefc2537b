/**
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

import { listBraces, normaliseGlob } from '../../../model/scope.ts';
import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { pathRefusal } from '../native/values.ts';
import type { Section } from './sections.ts';

export type Directive = 'create' | 'modify' | 'boundary';

export interface ScopeEntry {
  /** Relative to the repository's root. */
  readonly path: string;
  /** The part of the file after `::`, such as `User.save`; null means all of it. */
  readonly part: string | null;
  readonly at: Place;
}

export type Scope = Readonly<Record<Directive, readonly ScopeEntry[]>>;

export const NO_SCOPE: Scope = { create: [], modify: [], boundary: [] };

const DIRECTIVE =
  /^\s*(?:[-*+]\s+|#{3,}\s+)?(?:\*\*|__|`)?(create|modify|boundary)(?:\*\*|__|`)?\s*:(?:\*\*|__)?/i;

const MAX_LINE = 4000;
const MAX_ENTRIES = 2000;

/** What a bullet says of its path. */
const DESCRIPTION = /\s+(?:-{1,2}|–|—)\s+.*$/;

/** Reads the directives of a section. */
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
      log.warning(
        place,
        `${quote(named)} is no path and is left out`,
        'put paths with blanks in ``',
      );
      continue;
    }
    const refusal = pathRefusal(path);
    if (refusal !== null) {
      const message = refusal.message ?? `${quote(path)} is no path in the repository`;
      log.error(place, message, refusal.remedy);
      continue;
    }
    for (const one of listBraces(normaliseGlob(path))) {
      entries.push({ path: one, part: part?.trim() || null, at: place });
    }
  }
  return entries;
}

/** `CREATE: [a.py, b.py]` is the same list as without brackets. */
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

/** Only commas outside of brackets and quotes separate. */
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

/** The path of an entry without quotes, remarks and descriptions; '' where it says "none". */
function pathIn(entry: string): string {
  const [, , inQuotes] = /^(?:\*\*)?([`"'])(.+?)\1/.exec(entry) ?? [];
  if (inQuotes !== undefined) return inQuotes.trim();
  const bare = entry.replace(/\s+\(.*$/, '').replace(DESCRIPTION, '');
  return NOTHING.test(bare.trim()) ? '' : bare.trim();
}

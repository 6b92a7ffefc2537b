/**
 * Scopes: which paths a list of globs covers, and whether two lists could cover the same path.
 *
 * - `inScope` is exact, `overlaps` conservative: if any path is in both scopes, it says true. It
 *   may say true for scopes that never meet (character classes, groups), never the reverse.
 * - An entry without wildcards covers the path itself and everything below it.
 * - Brackets and parentheses also stand for themselves: folders are named `app/[id]/(tab)`.
 * - An empty list covers nothing. What a task means that declares no scope is policy.
 */

import picomatch from 'picomatch';

/** Whether some glob of the list covers the file. */
export function inScope(file: string, globs: readonly string[]): boolean {
  const path = normaliseGlob(file);
  return globs.some((glob) => compiled(glob).covers(path));
}

/** Whether some path could be covered by both lists. */
export function overlaps(a: readonly string[], b: readonly string[]): boolean {
  return a.some((one) => b.some((other) => globsMeet(compiled(one), compiled(other))));
}

/**
 * One spelling for each scope: no `./`, no doubled or trailing `/`, `..` resolved where it can be.
 * What is left of `..` at the front climbs out of the folder the glob is relative to.
 */
export function normaliseGlob(glob: string): string {
  const segments: string[] = [];
  for (const segment of glob.split('/')) {
    if (segment === '' || segment === '.') continue;
    const before = segments.at(-1);
    if (segment !== '..' || before === undefined || before === '..' || before === '**') {
      segments.push(segment);
    } else {
      segments.pop();
    }
  }
  const root = glob.startsWith('/') ? '/' : '';
  if (segments.length === 0) return root === '' ? '**' : root;
  const folderOnly = glob.endsWith('/') && WILDCARD.test(segments.at(-1) ?? '');
  return `${root}${segments.join('/')}${folderOnly ? '/**' : ''}`;
}

/** Whether the entry names one path, with nothing in it that a glob would read otherwise. */
export function isLiteral(glob: string): boolean {
  return !/[*?{}[\]()|\\"]/.test(glob);
}

/** What the braces stand for, one entry each; the glob itself where that cannot be listed. */
export function listBraces(glob: string): readonly string[] {
  return glob.includes('{') && !glob.includes('..') ? (expandBraces(glob) ?? [glob]) : [glob];
}

interface Compiled {
  covers(path: string): boolean;
  /** Lists of segments, one of which every covered path fits; `**` is any number of segments. */
  readonly shapes: readonly Shape[];
}

/** Segments; `**` is any number of them, and `*` and `?` are wildcards inside of one. */
export type Shape = readonly string[];

/** The shapes of all globs of a list. */
export function shapesIn(globs: readonly string[]): readonly Shape[] {
  return globs.flatMap((glob) => compiled(glob).shapes);
}

const WILDCARD = /[*?{}|\\"]/;
const MAX_SHAPES = 256;
const MAX_CACHED = 10_000;
const cache = new Map<string, Compiled>();

function compiled(glob: string): Compiled {
  const known = cache.get(glob);
  if (known !== undefined) return known;
  const normal = normaliseGlob(glob);
  const fresh = { covers: matcher(normal), shapes: shapesOf(normal) };
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(glob, fresh);
  return fresh;
}

function matcher(glob: string): (path: string) => boolean {
  const covered = (path: string) => path === glob || path.startsWith(`${glob}/`);
  if (isLiteral(glob)) return covered;
  const patterns = [glob, glob.replace(/[[\]()]/g, '\\$&')].map(compilePattern);
  return (path) =>
    (!WILDCARD.test(glob) && covered(path)) || patterns.some((matches) => matches(path));
}

function compilePattern(glob: string): (path: string) => boolean {
  try {
    return picomatch(glob, { dot: true, nonegate: true, windows: false });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return () => false; // Longer than the matcher accepts: no real path is.
  }
}

function globsMeet(a: Compiled, b: Compiled): boolean {
  return a === b || a.shapes.some((one) => b.shapes.some((other) => shapesMeet(one, other)));
}

/** Whether a path could fit both. */
export function shapesMeet(a: Shape, b: Shape): boolean {
  const sure = Math.min(literalLength(a), literalLength(b)); // Most pairs differ right here.
  for (let i = 0; i < sure; i += 1) if (a[i] !== b[i]) return false;
  return meet(a, b, '**', segmentsMeet);
}

/** How many segments at the front have no wildcard. */
export function literalLength(shape: Shape): number {
  const first = shape.findIndex((segment) => /[*?]/.test(segment));
  return first === -1 ? shape.length : first;
}

function segmentsMeet(a: string, b: string): boolean {
  if (a === b) return true;
  if (!/[*?]/.test(a) && !/[*?]/.test(b)) return false;
  return meet([...a], [...b], '*', (x, y) => x === y || x === '?' || y === '?');
}

/** Whether two sequences can spell the same thing, where `star` stands for any number of items. */
function meet(a: Shape, b: Shape, star: string, same: (x: string, y: string) => boolean): boolean {
  // after[j]: what is left of `a` behind its item i can meet what is left of `b` from item j.
  let after: boolean[] = b.map((_, j) => b.slice(j).every((item) => item === star));
  after.push(true);
  for (const x of [...a].reverse()) {
    const here: boolean[] = new Array(b.length + 1).fill(false);
    here[b.length] = x === star && after[b.length] === true;
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const y = b[j]!;
      if (x === star) here[j] = after[j]! || here[j + 1]!;
      if (y === star) here[j] ||= here[j + 1]! || after[j]!;
      if (x !== star && y !== star) here[j] = after[j + 1]! && same(x, y);
    }
    after = here;
  }
  return after[0] === true;
}

function shapesOf(glob: string): readonly Shape[] {
  const anything = [['**']];
  if (/[|\\"]/.test(glob)) return anything;
  const plain = expandBraces(glob);
  return plain === null ? anything : plain.map(shapeOf);
}

function shapeOf(glob: string): Shape {
  const shape: string[] = [];
  for (const segment of glob.split('/')) {
    if (isUnsure(segment)) return [...shape, '**'];
    if (segment === '**') shape.push(segment);
    else shape.push(segment.replace(/\[.*/, '*').replace(/\*+/g, '*'));
  }
  if (!/[*?]/.test(glob)) shape.push('**');
  return shape;
}

/** Groups, a class cut by a `/`, and a class whose range contains `/` may span segments. */
function isUnsure(segment: string): boolean {
  if (/[()]/.test(segment)) return true;
  return segment.includes('[') && (!/\[.*\]/.test(segment) || /\[.*[!-.]-/.test(segment));
}

/** Every way to choose from the braces; null when there are too many or it is not plain enough. */
function expandBraces(glob: string): readonly string[] | null {
  const open = glob.indexOf('{');
  if (open === -1) return [glob];
  const found = readBraces(glob, open);
  if (found === null) return null;
  const tails = expandBraces(glob.slice(found.end + 1));
  const choices = chooseFrom(found.parts);
  if (tails === null || choices === null) return null;
  if (tails.length * choices.length > MAX_SHAPES) return null;
  const head = glob.slice(0, open);
  return choices.flatMap((choice) => tails.map((tail) => head + choice + tail));
}

function chooseFrom(parts: readonly string[]): readonly string[] | null {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only.includes('..') ? ['*'] : [`{${only}}`];
  const choices: string[] = [];
  for (const part of parts) {
    const expanded = part.includes('[') ? null : expandBraces(part);
    if (expanded === null) return null;
    choices.push(...expanded);
    if (choices.length > MAX_SHAPES) return null;
  }
  return choices;
}

function readBraces(glob: string, open: number): { parts: string[]; end: number } | null {
  const parts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < glob.length; i += 1) {
    const char = glob[i];
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    if (depth === 0 || (depth === 1 && char === ',')) {
      parts.push(glob.slice(start, i));
      start = i + 1;
    }
    if (depth === 0) return { parts, end: i };
  }
  return null;
}

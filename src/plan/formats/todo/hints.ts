/**
 * What an item says about its task beside the work itself:
 *
 *   - [ ] Add the login page (needs: 1, "Add the users table"; files: src/auth/**) @codex
 *     - after: add-users
 *
 *   H1. In an item's own line hints may stand anywhere; in its details only a line that is nothing
 *       else is one, so that prose stays prose.
 *   H2. What does not read as a hint is left in the text.
 */

export interface Hints {
  /** What is left: the item's line without hints. */
  readonly title: string;
  /** The details without lines of hints. */
  readonly details: readonly string[];
  readonly needs: readonly string[];
  readonly files: readonly string[];
  /** Names behind an `@`. */
  readonly mentions: readonly string[];
}

/** More than anybody writes; beyond, the line is taken as it is. */
const MAX_LINE = 4_000;
const MAX_HINTS = 20;

const KEY = /(^|[\s([;,])(needs|after|files)[ \t]*:[ \t]*/i;
const MENTION = /(?<![^\s([])@([A-Za-z][\w-]*)(?=$|[\s,;.)\]])/g;
const DETAIL = /^\s*(?:[-*+][ \t]+)?(?=(?:needs|after|files)[ \t]*:)/i;
const DETAIL_MENTION = /^\s*(?:[-*+][ \t]+)?@([A-Za-z][\w-]*)\s*$/;

/** Reads the hints of an item. */
export function readHints(text: string, details: readonly string[]): Hints {
  if (text.length > MAX_LINE) return { title: text, details, needs: [], files: [], mentions: [] };
  const own = takeHints(text);
  const needs = [...own.needs];
  const files = [...own.files];
  const mentions = Array.from(own.rest.matchAll(MENTION), ([, name]) => name!);
  const left = details.filter((line) => {
    const mention = DETAIL_MENTION.exec(line);
    if (mention !== null) {
      mentions.push(mention[1]!);
      return false;
    }
    if (line.length > MAX_LINE || !DETAIL.test(line)) return true;
    const found = takeHints(line.replace(DETAIL, ''));
    needs.push(...found.needs);
    files.push(...found.files);
    return found.rest.trim() !== '';
  });
  const title = own.rest.replace(MENTION, '').replace(/\s+/g, ' ').trim();
  return { title: title.replace(/[\s,;:(—–-]+$/, ''), details: left, needs, files, mentions };
}

interface Taken {
  readonly rest: string;
  readonly needs: readonly string[];
  readonly files: readonly string[];
}

function takeHints(line: string): Taken {
  const needs: string[] = [];
  const files: string[] = [];
  let done = '';
  let rest = line;
  for (let count = 0; count < MAX_HINTS; count += 1) {
    const found = KEY.exec(rest);
    if (found === null) break;
    const [whole, before = '', key = ''] = found;
    const closer = before === '(' ? ')' : before === '[' ? ']' : null;
    const start = found.index + whole.length;
    const end = start + valueLength(rest.slice(start), closer);
    const values = splitValues(rest.slice(start, end));
    const isHint = key.toLowerCase() !== 'files' || values.every(isPath);
    if (!isHint) {
      done += rest.slice(0, start);
      rest = rest.slice(start);
      continue;
    }
    (key.toLowerCase() === 'files' ? files : needs).push(...values.map(unquote));
    const goesOn = rest[end] === ';';
    const after = rest.slice(rest[end] === closer || goesOn ? end + 1 : end);
    // What was opened in front of this hint is still open in front of the next.
    rest = `${rest.slice(0, found.index)}${goesOn && closer !== null ? ` ${before}` : ' '}${after.trimStart()}`;
  }
  return { rest: `${done}${rest}`, needs, files };
}

/** Up to the bracket that closes it, a `;`, the next hint, or the end. */
function valueLength(text: string, closer: string | null): number {
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!;
    if (quote !== null) {
      if (character === quote) quote = null;
    } else if (/["'`]/.test(character) && /^$|[\s,]/.test(text[index - 1] ?? '')) quote = character;
    else if (character === ';' || character === closer) return index;
    else if (/\s/.test(character) && NEXT.test(text.slice(index, index + 20))) return index;
  }
  return text.length;
}

const NEXT = /^\s+(?:@[A-Za-z]|(?:needs|after|files)[ \t]*:)/i;

/** Separated by commas that are in no quotes and no braces. */
function splitValues(text: string): readonly string[] {
  const parts = text.match(/(?:"[^"]*"|'[^']*'|`[^`]*`|\{[^}]*\}|[^,])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function isPath(value: string): boolean {
  return /^(["'`]).*\1$/.test(value) || !/\s/.test(value);
}

function unquote(value: string): string {
  return value.replace(/^(["'`])(.*)\1$/, '$2').trim();
}

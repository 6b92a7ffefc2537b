/**
 * The check-box items of a Markdown list, and the hints in them:
 *
 *   - [ ] Add the login page (needs: 1, "Add the users table"; files: src/auth/**) @codex
 *     - after: add-users
 *
 * An item ends before a line that is not indented deeper than its marker, unless that line follows
 * without a blank one. Check boxes inside an item are its details; those in a fence or comment do not
 * count. A line of details is a hint only as a whole, so that prose stays prose.
 */

import { type MarkdownFence, type MarkdownPart, readMarkdown } from '../../../syntax/markdown.ts';

export interface TodoItem {
  readonly line: number;
  /** Counted from 1. */
  readonly position: number;
  /** Its number in a numbered list. */
  readonly number: number | null;
  readonly done: boolean;
  /** Behind the box. */
  readonly text: string;
  /** Headings and plain items around it, outermost first. */
  readonly section: readonly string[];
  readonly details: readonly string[];
}

const BOX = /^([ \t]*)(?:[-*+]|(\d{1,9})[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$/;
const BULLET = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/;

/** Items that are not inside another one. */
export function readItems(text: string): readonly TodoItem[] {
  const reader = new ItemReader();
  for (const part of readMarkdown(text)) reader.take(part);
  return reader.items;
}

interface Outer {
  /** The level of a heading, or the indentation of a plain item. */
  readonly depth: number;
  readonly text: string;
}

class ItemReader {
  readonly items: (TodoItem & { readonly details: string[] })[] = [];
  #headings: readonly Outer[] = [];
  #bullets: readonly Outer[] = [];
  /** The indentation of the open item; null if none is open. */
  #open: number | null = null;
  #afterBlank = false;
  #inComment = false;

  take(part: MarkdownPart): void {
    if (part.kind === 'fence') return this.#fence(part);
    if (part.kind === 'heading') {
      const { level, text } = part;
      this.#headings = [
        ...this.#headings.filter(({ depth }) => depth < level),
        { depth: level, text },
      ];
      this.#bullets = [];
      this.#open = null;
      return;
    }
    const { text, line } = part;
    if (this.#comment(text)) return;
    if (text.trim() === '') {
      this.#detail('');
      this.#afterBlank = true;
      return;
    }
    this.#line(text, line);
    this.#afterBlank = false;
  }

  #line(text: string, line: number): void {
    const indent = widthOf(text);
    if (this.#open !== null && indent > this.#open) return this.#detail(text);
    const box = BOX.exec(text);
    const bullet = BULLET.exec(text);
    if (box !== null) this.#begin(box, indent, line);
    else if (bullet !== null) {
      this.#bullets = [...this.#outside(indent), { depth: indent, text: bullet[2]!.trim() }];
      this.#open = null;
    } else if (this.#open !== null && !this.#afterBlank) this.#detail(text);
    else this.#open = null;
  }

  #begin(box: RegExpExecArray, indent: number, line: number): void {
    const [, , number, mark, text = ''] = box;
    this.#bullets = this.#outside(indent);
    this.#open = indent;
    this.items.push({
      line,
      position: this.items.length + 1,
      number: number === undefined ? null : Number(number),
      done: mark !== ' ',
      text: text.trim(),
      section: [...this.#headings, ...this.#bullets].map((outer) => outer.text),
      details: [],
    });
  }

  #outside(indent: number): readonly Outer[] {
    return this.#bullets.filter(({ depth }) => depth < indent);
  }

  #fence({ column, marks, info, lines, closed }: MarkdownFence): void {
    if (this.#inComment) return;
    this.#afterBlank = true; // Only an indented line continues the item after a fence.
    const indent = ' '.repeat(column - 1);
    if (this.#open === null || indent.length <= this.#open) {
      this.#open = null;
      return;
    }
    this.#detail(`${indent}${marks}${info}`);
    for (const line of lines) this.#detail(line);
    if (closed) this.#detail(`${indent}${marks}`);
  }

  #detail(line: string): void {
    if (this.#open !== null) this.items.at(-1)!.details.push(line);
  }

  /** Whether the line belongs to a comment of several lines. */
  #comment(text: string): boolean {
    const begins = !this.#inComment && /^\s*<!--/.test(text);
    const isInside = this.#inComment || begins;
    if (isInside) this.#inComment = !text.includes('-->');
    return isInside;
  }
}

/** The indentation of a line; a tab goes to the next multiple of four. */
export function widthOf(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += 4 - (width % 4);
    else break;
  }
  return width;
}

export interface Hints {
  /** The item's line without hints. */
  readonly title: string;
  /** The details without lines of hints. */
  readonly details: readonly string[];
  readonly needs: readonly string[];
  readonly files: readonly string[];
  /** Names behind an `@`. */
  readonly mentions: readonly string[];
}

/** A longer line is taken as it is. */
const MAX_LINE = 4_000;
const MAX_HINTS = 20;

const KEY = /(^|[\s([;,])(needs|after|files)[ \t]*:[ \t]*/i;
const MENTION = /(?<![^\s([])@([A-Za-z][\w-]*)(?=$|[\s,;.)\]])/g;
const DETAIL = /^\s*(?:[-*+][ \t]+)?(?=(?:needs|after|files)[ \t]*:)/i;
const DETAIL_MENTION = /^\s*(?:[-*+][ \t]+)?@([A-Za-z][\w-]*)\s*$/;

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
    // A bracket opened before this hint is still open before the next.
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

/** Splits at commas outside of quotes and braces. */
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

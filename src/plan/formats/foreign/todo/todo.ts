/**
 * Todo lists: every open check-box item of a Markdown file is a task. Never detected, because any page
 * may hold a list. Items are independent unless a hint orders them; a need of a done item is met.
 */

import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, quote } from '../../../problem.ts';
import { type MarkdownFence, type MarkdownPart, readMarkdown } from '../../../syntax/markdown.ts';
import { freeId, slugOf } from '../../../task-ids.ts';
import { type ParsedPlan, type PlanFormat, type PlanInput, stemOf } from '../../format.ts';
import { agentOf, lower, SCRIPT_AGENT } from '../../native/lower.ts';
import type { CheckedTask } from '../../native/schema.ts';
import { AGENTS, scope } from '../../native/values.ts';

export const todo: PlanFormat = {
  name: 'todo',
  marker: 'never looked for: use --from-todo',
  detect: () => null,
  parse,
  isWhole: true,
  isTodoList: true,
};

const MAX_ITEMS = 1_000;

interface Entry {
  readonly id: string;
  readonly item: TodoItem;
  readonly hints: Hints;
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const entries = readEntries(input.file.text, log);
  const open = entries.filter(({ item }) => !item.done);
  const tasks = open.map((entry) => readTask(entry, entries, input, log));
  if (open.length === 0) reportNone(entries, log);
  checkTasks(tasks, open, log);
  const prompts = open.map((entry, index) => promptOf(entry, tasks[index]!, input));
  const { config, home } = input;
  const around = { name: stemOf(input.file.path) || 'todo', config, home };
  const land = { trailers: config?.land?.trailers ?? 'off' };
  return {
    plan: log.failed ? null : lower({ landfast: 1, land, tasks }, prompts, around),
    format: todo.name,
    problems: log.sorted(),
  };
}

function readEntries(text: string, log: ProblemLog): readonly Entry[] {
  const items = readItems(text);
  const excess = items[MAX_ITEMS];
  if (excess !== undefined) {
    log.error(placeOf(excess), `more than ${MAX_ITEMS} items`, 'split it into several lists');
    return [];
  }
  const used = new Set<string>();
  return items.flatMap((item) => {
    const hints = readHints(item.text, item.details);
    if (hints.title === '') {
      log.warning(placeOf(item), 'an item without text is left out');
      return [];
    }
    if (item.done && item.details.some((line) => /^\s*(?:[-*+]|\d+[.)])\s+\[ \]/.test(line))) {
      const remedy = 'open the outer item, or move the open ones out of it';
      log.warning(placeOf(item), 'it is done, so the open items inside it are left out', remedy);
    }
    return { id: freeId(slugOf(hints.title), used), item, hints };
  });
}

function placeOf({ line }: TodoItem): Place {
  return { line, column: 1 };
}

function reportNone(entries: readonly Entry[], log: ProblemLog): void {
  const [first] = entries;
  const at = first === undefined ? { line: 1, column: 1 } : placeOf(first.item);
  const message = first === undefined ? 'no check-box item' : 'every item of this list is done';
  if (!log.failed) log.error(at, message, 'write what is to be done as "- [ ] …"');
}

function readTask(
  entry: Entry,
  all: readonly Entry[],
  { options, config }: PlanInput,
  log: ProblemLog,
): CheckedTask {
  const { id, hints, item } = entry;
  // Any other name is a role.
  const agent = hints.mentions.find((name) => AGENTS.includes(name));
  const roles = hints.mentions.filter((name) => name !== agent);
  if (roles.length > 1) {
    const names = roles.slice(1).map((name) => `@${name}`);
    log.warning(placeOf(item), `${names.join(', ')} is ignored`, `@${roles[0]} is its role`);
  }
  const isFree = options.autoApprove ?? config.workflow?.auto_approve ?? false;
  return {
    id,
    title: hints.title,
    ...(agent === undefined ? {} : { agent }),
    ...(roles[0] === undefined ? {} : { role: roles[0] }),
    needs: hints.needs.flatMap((name) => needOf(name, entry, all, log)),
    writes: hints.files.flatMap((path) => fileOf(path, item, log)),
    ...(isFree ? { permissions: 'bypassPermissions' as const } : {}),
  };
}

/** The id of the item that is meant; none if it is done already, or unknown. */
function needOf(
  name: string,
  of: Entry,
  all: readonly Entry[],
  log: ProblemLog,
): readonly string[] {
  const found = byNumber(name, of.item, all) ?? byWords(name, all);
  if (found !== undefined) return found.item.done ? [] : [found.id];
  const ids = all.map(({ id }) => id);
  const otherwise = 'use its number, its title in quotes, or its id';
  const remedy = log.didYouMean(slugOf(name), ids, otherwise);
  const message = `${quote(of.hints.title)} needs ${quote(name)}, which is not an item`;
  log.error(placeOf(of.item), message, remedy);
  return [];
}

/** In a numbered list the item's number in the same section, else its position. */
function byNumber(name: string, from: TodoItem, all: readonly Entry[]): Entry | undefined {
  const digits = /^#?(\d{1,9})$/.exec(name);
  if (digits === null) return undefined;
  const number = Number(digits[1]);
  const section = from.section.join('\n');
  return from.number === null
    ? all.find(({ item }) => item.position === number)
    : all.find(({ item }) => item.number === number && item.section.join('\n') === section);
}

function byWords(name: string, all: readonly Entry[]): Entry | undefined {
  const slug = slugOf(name);
  return all.find(({ hints }) => hints.title === name) ?? all.find(({ id }) => id === slug);
}

function fileOf(path: string, item: TodoItem, log: ProblemLog): readonly string[] {
  const read = scope.safeParse(path);
  if (read.success) return [read.data];
  log.error(placeOf(item), `files: ${quote(path)} is not a path in this repository`);
  return [];
}

function checkTasks(tasks: readonly CheckedTask[], open: readonly Entry[], log: ProblemLog): void {
  validate(
    tasks.map(({ id, needs = [], writes = [] }, index) => ({ index, id, needs, writes })),
    {
      at: (_, { index }) => placeOf(open[index]!.item),
      needsKey: 'needs',
      groups: new Set(),
      groupRemedy: () => '',
    },
    log,
  );
}

/** A script is the item's fence or title; other agents get all of the item. */
function promptOf({ item, hints }: Entry, task: CheckedTask, { config, file }: PlanInput): string {
  const details = dedent(hints.details);
  if (agentOf(task, { plan: {}, config }) === SCRIPT_AGENT) return scriptIn(details) ?? hints.title;
  const where = item.section.map(quote).join(', ');
  const from = `This is an item of the list ${file.path}${where === '' ? '' : `, under ${where}`}.`;
  return [hints.title, ...(details === '' ? [] : [details]), from].join('\n\n');
}

function scriptIn(details: string): string | null {
  return /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n\1$/m.exec(details)?.[2] ?? null;
}

function dedent(lines: readonly string[]): string {
  const widths = lines.filter((line) => /^[ \t]+\S/.test(line)).map(widthOf);
  const least = widths.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return lines
    .map((line) => line.replace(/\t/g, '    ').slice(Math.min(least, widthOf(line))))
    .join('\n')
    .trim();
}

/*
 * The check-box items of a Markdown list, and the hints in them:
 *
 *   - [ ] Add the login page (needs: 1, "Add the users table"; files: src/auth/**) @codex
 *     - after: add-users
 *
 * An item ends before a line that is not indented deeper than its marker, unless that line follows
 * without a blank one. Check boxes inside an item are its details; those in a fence or comment do not
 * count. A line of details is a hint only as a whole, so that prose stays prose.
 */

interface TodoItem {
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
function widthOf(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += 4 - (width % 4);
    else break;
  }
  return width;
}

interface Hints {
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

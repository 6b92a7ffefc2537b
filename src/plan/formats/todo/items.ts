/**
 * The check-box items of a Markdown list.
 *
 *   I1. An item goes on as long as its lines are indented deeper than its own marker, or follow it
 *       without a blank line. Check boxes in there are its details, not items.
 *   I2. What is in a fence or a comment at the left is no item.
 */

import { type MarkdownFence, type MarkdownPart, readMarkdown } from '../../markdown.ts';

export interface TodoItem {
  readonly line: number;
  /** Its place among all items of the file, from 1. */
  readonly position: number;
  /** What stands in front of it in a numbered list. */
  readonly number: number | null;
  readonly done: boolean;
  /** What stands behind the box. */
  readonly text: string;
  /** The headings it is under, and plain items around it, outermost first. */
  readonly section: readonly string[];
  readonly details: readonly string[];
}

const BOX = /^([ \t]*)(?:[-*+]|(\d{1,9})[.)])[ \t]+\[([ xX])\](?:[ \t]+(.*))?$/;
const BULLET = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/;

/** All items that are not inside another one, in order. */
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
  /** How far the item that goes on is indented; null where none does. */
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
    this.#afterBlank = true; // Nothing goes on behind it without being indented.
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

  /** Whether the line belongs to a comment that goes over several lines. */
  #comment(text: string): boolean {
    const begins = !this.#inComment && /^\s*<!--/.test(text);
    const isInside = this.#inComment || begins;
    if (isInside) this.#inComment = !text.includes('-->');
    return isInside;
  }
}

/** How far a line is indented; a tab goes to the next multiple of four. */
export function widthOf(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += 4 - (width % 4);
    else break;
  }
  return width;
}

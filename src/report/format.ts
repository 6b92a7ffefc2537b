/**
 * Numbers, times and names for people. Report is pure and knows no terminal: styling and measuring
 * text are passed in as an Ink.
 */

import { brief } from './sanitize.ts';

export type Style = 'good' | 'bad' | 'warn' | 'accent' | 'bold' | 'dim';

/** Styles a text; without colours it returns the text unchanged. */
export type Paint = (style: Style, text: string) => string;

/** How the output device styles and measures text. */
export interface Ink {
  readonly paint: Paint;
  readonly width: (text: string) => number;
}

/** No styles; every character is one column wide. */
export const PLAIN_INK: Ink = { paint: (_, text) => text, width: (text) => [...text].length };

/** `3.2 s`, `42 s`, `2 m 04 s`, `1 h 02 m`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} m ${twoDigits(whole % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
}

export function seconds(ms: number): number {
  return Number((Math.max(0, ms) / 1000).toFixed(1));
}

/** `$1.23`; a positive amount never shows as zero. */
export function moneyText(usd: number): string {
  return usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`;
}

/** Rounds away floating-point noise. */
export function dollars(usd: number): number {
  return Number(usd.toFixed(6));
}

export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** `1a2b3c4` */
export function shortSha(sha: string): string {
  return brief(sha, 41).slice(0, 7);
}

/** `1 file`, `2 files`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** `a, b, c and 4 more` */
export function nameList(names: readonly string[], max = 3): string {
  const shown = names.slice(0, max).map((name) => brief(name, 60));
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

/** Aligns rows in columns; the last column is not padded. */
export function columns(rows: readonly (readonly Cell[])[], ink: Ink): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach(({ text }, index) => {
      widths[index] = Math.max(widths[index] ?? 0, ink.width(text));
    });
  }
  return rows.map((row) => {
    const cells = row.map((cell, index) => {
      const pad = ' '.repeat(widths[index]! - ink.width(cell.text));
      const text = cell.style ? ink.paint(cell.style, cell.text) : cell.text;
      return cell.right ? pad + text : text + pad;
    });
    return cells
      .filter((_, index) => widths[index]! > 0)
      .join('  ')
      .trimEnd();
  });
}

export interface Cell {
  readonly text: string;
  readonly style?: Style;
  readonly right?: boolean;
}

function twoDigits(n: number): string {
  return String(n).padStart(2, '0');
}

/** A value on one line: booleans as words, lists with commas. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isPlainList ? value.join(',') : JSON.stringify(value);
}

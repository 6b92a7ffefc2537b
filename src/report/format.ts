/**
 * Numbers, times and names as people read them, and the port to whatever shows them.
 *
 * Report is pure and knows no terminal: styling and measuring text are handed in as an Ink.
 */

import { brief } from './clean.ts';

export type Style = 'good' | 'bad' | 'warn' | 'accent' | 'bold' | 'dim';

/** Styles a text; without colours it gives the text back. */
export type Paint = (style: Style, text: string) => string;

/** How a text is styled, and how many columns it takes, where it is shown. */
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

/** Seconds with one decimal, as a number. */
export function seconds(ms: number): number {
  return Number((Math.max(0, ms) / 1000).toFixed(1));
}

/** `$1.23`; what is more than nothing never looks like nothing. */
export function moneyText(usd: number): string {
  return usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`;
}

/** An amount without the dust of adding fractions. */
export function dollars(usd: number): number {
  return Number(usd.toFixed(6));
}

/** ISO 8601 in UTC. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Enough of a commit's id to find it. */
export function shortSha(sha: string): string {
  return brief(sha, 41).slice(0, 7);
}

/** `1 file`, `2 files`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** Names in a row: `a, b, c and 4 more`. */
export function nameList(names: readonly string[], max = 3): string {
  const shown = names.slice(0, max).map((name) => brief(name, 60));
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
}

/** Rows as columns, each as wide as its widest cell; the last one is not padded. */
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

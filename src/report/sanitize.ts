/**
 * Makes texts from outside (agents, gates, plans, file names) safe to show: no terminal control
 * sequences, no C0 or C1 characters, none that change the direction of writing. Linear in the
 * length of the text.
 */

import { shellWord as quotedWord } from '../base/shell-word.ts';

/** A text as one line without control characters. */
export function clean(text: string): string {
  return strip(text.replace(SEQUENCES, '').replace(LINE_BREAKS, ' ')).replaceAll('\t', ' ');
}

/** A text as one clean line of at most `max` characters. */
export function brief(text: string, max: number): string {
  // What is cut away anyway need not be cleaned; escape sequences may fill much of the rest.
  const start = text.slice(0, max * 8);
  const line = clean(start).replace(/ {2,}/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= max && start.length === text.length) return line;
  const kept = characters.slice(0, max - 1).join('');
  return `${kept.trimEnd()}…`;
}

/** The end of a text of many lines, cleaned; a first line `…` says that something was left out. */
export function tail(text: string, maxLines: number, maxChars = 4000): string {
  const end = text.length > maxChars ? text.slice(-maxChars) : text;
  const whole = strip(end.replace(SEQUENCES, '').replace(LINE_BREAKS, '\n')).trimEnd();
  const lines = whole.split('\n');
  const left = lines.length > maxLines || end.length < text.length;
  const kept = lines.slice(-maxLines).join('\n');
  return left ? `…\n${kept}` : kept;
}

/** A text as one word of a shell command that can be copied from the screen. */
export function shellWord(text: string): string {
  return quotedWord(clean(text));
}

/** No body may hold a character that begins a sequence: that keeps the search linear. */
const SEQUENCES = anyOf([
  // Operating-system commands and their like, where they are terminated.
  /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)/g,
  // Control sequences: colours, cursor, erasing, modes.
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g,
  // Two-character escapes.
  /\x1b[ -/]*[0-~]/g,
]);

const LINE_BREAKS = /\r\n?|[\n\v\f\x85\u2028\u2029]/g;

/** All of C0 and C1 but the line end and the tab, and the marks that reorder text on a screen. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Matches what one of the patterns matches, with the flags of the first. */
export function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), patterns[0]?.flags);
}

function strip(text: string): string {
  return text.replace(CONTROLS, '').toWellFormed();
}

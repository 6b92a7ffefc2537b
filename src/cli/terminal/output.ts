/** What commands print on standard output, besides texts of their own. */

import type { Ink } from '../../report/format.ts';
import { jsonText } from '../../report/json.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';

export function printJson(value: unknown): void {
  process.stdout.write(jsonText(value));
}

/** Colours, where standard output shows them. */
export function outputInk(): Ink {
  return inkOf(wantsColor(process.env, process.stdout.isTTY === true));
}

/** Says that nothing has run yet, or prints `empty` as JSON: an answer, not a mistake. */
export function tellNoRun({ json }: { readonly json?: boolean }, empty: unknown = null): number {
  if (json === true) printJson(empty);
  else console.log('No run yet in this repository. Start one: landfast run PLAN');
  return EXIT.ok;
}

/** A moment on the user's clock. */
export function clock(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** A day and a moment on the user's clock. */
export function dayAndTime(at: number): string {
  const date = new Date(at);
  const day = [date.getMonth() + 1, date.getDate()].map(twoDigits);
  const time = [date.getHours(), date.getMinutes()].map(twoDigits).join(':');
  return `${[date.getFullYear(), ...day].join('-')} ${time}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}

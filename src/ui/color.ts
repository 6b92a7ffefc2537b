/** The terminal's Ink: styles where the caller wants colours, and true column widths. */

import { styleText } from 'node:util';
import type { Ink, Paint, Style } from '../report/format.ts';
import { widthOf } from './width.ts';

/** An Ink that styles, or only measures. */
export function inkOf(color: boolean): Ink {
  return { paint: color ? colored : plain, width: widthOf };
}

/** Whether to colour: FORCE_COLOR decides, then NO_COLOR, then what the stream is. */
export function wantsColor(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean {
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env.NO_COLOR ?? '') !== '') return false;
  return isTty && env.TERM !== 'dumb';
}

const FORMATS = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  accent: 'cyan',
  bold: 'bold',
  dim: 'dim',
} as const satisfies Readonly<Record<Style, string>>;

const plain: Paint = (_, text) => text;

// The caller has decided; styleText would look at the process's own streams.
const colored: Paint = (style, text) =>
  text === '' ? '' : styleText(FORMATS[style], text, { validateStream: false });

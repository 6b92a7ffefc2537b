/**
 * Lines that fit: text cut and padded by the columns it takes on a screen.
 *
 *   F1. What `fitLine` gives is never wider than asked, whatever the script: a wide character that
 *       would not fit in whole is left out.
 *   F2. Cutting happens before styling, so a style is always closed.
 */

import type { Paint, Style } from '../report/format.ts';
import { widthOf } from './width.ts';

/** A piece of a line with one style. Its text is clean and of one line. */
export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** The spans as one line of at most `width` columns. */
export function fitLine(spans: readonly Span[], width: number, paint: Paint): string {
  let room = width;
  let line = '';
  for (const { text, style } of spans) {
    const shown = cut(text, room);
    room -= widthOf(shown);
    line += style === undefined || shown === '' ? shown : paint(style, shown);
    if (shown !== text) break;
  }
  return line;
}

/** A text cut to `width` columns; an ellipsis takes the last one. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  // No character takes less than nothing: a text of marks alone is bounded too.
  const bounded = text.length > width * 16 ? text.slice(0, width * 16).toWellFormed() : text;
  if (bounded === text && widthOf(text) <= width) return text;
  let used = 0;
  let kept = '';
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of graphemes.segment(bounded)) {
    const columns = widthOf(segment);
    if (used + columns > width - 1) break;
    used += columns;
    kept += segment;
  }
  return `${kept}…`;
}

/** A text of exactly `width` columns, cut or filled up. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const shown = cut(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return side === 'right' ? shown + blank : blank + shown;
}

/** Made when it is first needed: that takes a third of Node's own start. */
let graphemes: Intl.Segmenter | null = null;

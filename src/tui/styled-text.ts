/**
 * Terminal text: colours, widths in columns, cutting and padding. `fitLine` never exceeds its
 * width; text is cut before it is styled, so that styles are always closed.
 */

import { createRequire } from 'node:module';
import { styleText } from 'node:util';
import type stringWidth from 'string-width';
import type { Ink, Paint, Style } from '../report/format.ts';

/** A piece of a line with one style; its text is sanitized. */
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
  for (const { segment } of graphemes().segment(bounded)) {
    const columns = widthOf(segment);
    if (used + columns > width - 1) break;
    used += columns;
    kept += segment;
  }
  return `${kept}…`;
}

/** A name cut in its middle: names often differ at their end. */
export function cutMiddle(text: string, width: number): string {
  if (width < 5 || widthOf(text) <= width) return cut(text, width);
  const segments = [...graphemes().segment(text)].map(({ segment }) => segment);
  const end = fitting(segments.toReversed(), Math.floor((width - 1) / 2))
    .reverse()
    .join('');
  const start = fitting(segments, width - 1 - widthOf(end)).join('');
  return `${start}…${end}`;
}

function fitting(segments: readonly string[], width: number): string[] {
  let used = 0;
  const over = segments.findIndex((segment) => {
    used += widthOf(segment);
    return used > width;
  });
  return segments.slice(0, over === -1 ? segments.length : over);
}

/** A text cut or padded to exactly `width` columns. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const shown = cut(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return side === 'right' ? shown + blank : blank + shown;
}

/** Created lazily: it takes a third of Node's start-up time. */
const graphemes = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }));

/** An Ink that styles, or only measures. */
export function inkOf(color: boolean): Ink {
  return { paint: color ? colored : plain, width: widthOf };
}

/** FORCE_COLOR decides, then NO_COLOR, then the stream. */
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

/** Characters of the program's own lines: one column each. */
const PLAIN = /^[ -~·×—…✓✗⊘↩↻○●◍█▒░]*$/;

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return exactWidth()(text);
}

/** The tables of `string-width` take as long to load as Node takes to start. */
const exactWidth = lazy(() => (required() as { default: typeof stringWidth }).default);

/** The build resolves the first; the second is for running from source. */
function required(): unknown {
  if (typeof require === 'function') return require('string-width');
  return createRequire(import.meta.url)('string-width');
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

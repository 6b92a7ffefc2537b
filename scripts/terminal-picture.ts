/**
 * A recording of a terminal as one animated SVG.
 *
 * The frames lie side by side like a film, and an animation moves the film one frame at a time. A
 * row that looks the same in several frames is drawn once and used by name.
 */

import headless, { type IBufferCell, type Terminal } from '@xterm/headless';

/** What a program wrote to a terminal, piece by piece. */
export interface Recording {
  readonly columns: number;
  readonly rows: number;
  readonly pieces: readonly Piece[];
}

export interface Piece {
  /** How long after the one before. */
  readonly afterMs: number;
  readonly text: string;
}

/** What the terminal showed, and for how long. */
export interface Frame {
  readonly rows: readonly Row[];
  readonly ms: number;
}

/** The texts of one style in a row, from left to right. */
type Row = readonly Span[];

interface Span {
  readonly column: number;
  readonly text: string;
  readonly style: string;
}

const SHORTEST_MS = 120;
const LONGEST_MS = 1_500;
const LAST_MS = 5_000;

const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const TITLE_HEIGHT = 34;
/** The sixteen colours, then what stands for anything else. */
const PALETTE = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];
const INK = '#e6edf3';

/** Plays a recording and keeps what was to be seen; what flits by is left out. */
export async function framesOf({ columns, rows, pieces }: Recording): Promise<readonly Frame[]> {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  const frames: { rows: readonly Row[]; ms: number }[] = [{ rows: rowsOf(terminal), ms: 0 }];
  for (const { afterMs, text } of pieces) {
    frames.at(-1)!.ms += afterMs;
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const now = rowsOf(terminal);
    const last = frames.at(-1)!;
    if (last.ms < SHORTEST_MS) last.rows = now;
    else if (JSON.stringify(now) !== JSON.stringify(last.rows)) frames.push({ rows: now, ms: 0 });
  }
  terminal.dispose();
  return frames.map(({ rows: shown, ms }, index) => ({
    rows: shown,
    ms: index === frames.length - 1 ? LAST_MS : Math.min(ms, LONGEST_MS),
  }));
}

function rowsOf(terminal: Terminal): readonly Row[] {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, index) => {
    const line = active.getLine(active.viewportY + index);
    const spans: { column: number; text: string; style: string }[] = [];
    for (let column = 0; column < terminal.cols; column += 1) {
      const cell = line?.getCell(column);
      if (cell === undefined || cell.getWidth() === 0) continue;
      const text = cell.getChars() || ' ';
      const style = text === ' ' ? (spans.at(-1)?.style ?? '') : styleOf(cell);
      const before = spans.at(-1);
      if (before?.style === style) before.text += text;
      else spans.push({ column, text, style });
    }
    return spans
      .map((span) => ({ ...span, text: span.text.trimEnd() }))
      .filter(({ text }) => text !== '');
  });
}

function styleOf(cell: IBufferCell): string {
  const color = cell.getFgColor();
  const ink = cell.isFgPalette() ? (PALETTE[color] ?? INK) : cell.isFgRGB() ? hex(color) : INK;
  const weight = cell.isBold() ? ' font-weight="bold"' : '';
  const dim = cell.isDim() ? ' opacity="0.6"' : '';
  return `fill="${ink}"${weight}${dim}`;
}

function hex(color: number): string {
  return `#${color.toString(16).padStart(6, '0')}`;
}

/** Draws the frames. `title` stands in the window's bar and is read out instead of the picture. */
export function svgOf(frames: readonly Frame[], columns: number, title: string): string {
  const rows = frames[0]?.rows.length ?? 0;
  const width = Math.ceil(columns * CELL.width) + 2 * MARGIN;
  const height = rows * CELL.height + TITLE_HEIGHT + MARGIN;
  const names = new Map<string, string>();
  const film = frames.map((frame, index) => frameText(frame, { x: index * width, names }));
  const drawn = [...names].map(([text, name]) => `<g id="${name}">${text}</g>`);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${styleSheet(frames, width)}</style>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, index) => `<circle cx="${22 + 20 * index}" cy="18" r="6" fill="${fill}"/>`,
    ),
    `<text class="bar" x="${width / 2}" y="22" text-anchor="middle">${escaped(title)}</text>`,
    `<defs>${drawn.join('\n')}</defs>`,
    `<g transform="translate(0 ${TITLE_HEIGHT})"><g class="film">`,
    ...film,
    '</g></g>',
    '</svg>',
  ].join('\n')}\n`;
}

function frameText(
  { rows }: Frame,
  { x, names }: { readonly x: number; readonly names: Map<string, string> },
): string {
  const uses = rows.flatMap((row, index) => {
    if (row.length === 0) return [];
    const text = row.map(spanText).join('');
    const name = names.get(text) ?? `r${names.size}`;
    names.set(text, name);
    return [`<use href="#${name}" y="${(index + 1) * CELL.height - 5}"/>`];
  });
  return `<g transform="translate(${x + MARGIN})">${uses.join('')}</g>`;
}

function spanText({ column, text, style }: Span): string {
  const x = Math.round(column * CELL.width * 10) / 10;
  return `<text x="${x}" ${style}>${escaped(text)}</text>`;
}

/** Who wants no motion sees the end. */
function styleSheet(frames: readonly Frame[], width: number): string {
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  const steps = frames.map(({ ms }, index) => {
    const at = ((100 * passed) / total).toFixed(3);
    passed += ms;
    return `${at}%{transform:translateX(${-index * width}px)}`;
  });
  const end = -(frames.length - 1) * width;
  const mono = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace';
  return [
    `text{font:14px ${mono};white-space:pre}.bar{fill:#8b949e;font-size:13px}`,
    `@keyframes play{${steps.join('')}}`,
    `.film{animation:play ${(total / 1_000).toFixed(1)}s steps(1,end) infinite}`,
    `@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(${end}px)}}`,
  ].join('\n');
}

function escaped(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

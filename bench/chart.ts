/**
 * The ratios as a picture: a bar for each, from nothing to what the script takes. Pure: SVG is text.
 *
 *   C1. A bar that is longer than the picture is cut, and says its number all the same.
 *   C2. The small stroke across a bar is what it may be at most.
 */

import type { CaseResult, Check } from './results.ts';
import { ratio } from './table.ts';

const WIDTH = 760;
const LEFT = 350;
const RIGHT = 70;
const TOP = 54;
const BAR = 14;
const GAP = 10;
/** The ratio at the right edge. */
const MOST = 1.25;
const COLORS = { wall: '#2f6db3', CPU: '#8fb4dc' } as const;
const FONT = 'font-family="system-ui, sans-serif" font-size="12"';

/** The picture. */
export function chartSvg(cases: readonly CaseResult[], base = 'script'): string {
  const groups = cases.flatMap(groupsOf).filter(({ over }) => over === base);
  const height = TOP + groups.length * (2 * BAR + GAP) + GAP;
  const lines = groups.flatMap((group, index) => groupLines(group, TOP + index * (2 * BAR + GAP)));
  const title = `What landfast takes, where the ${base} takes 1`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ${FONT}>`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(10, 20, title, 'font-weight="bold"'),
    ...legend(),
    stroke(x(1), TOP - 4, height - GAP, '#888888'),
    text(x(1), TOP - 8, `${base} = 1`, 'text-anchor="middle" fill="#666666"'),
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

interface Group {
  readonly title: string;
  readonly over: string | null;
  readonly bars: readonly Check[];
}

function groupsOf({ title, checks }: CaseResult): readonly Group[] {
  const ratios = checks.filter(({ over, what }) => over !== null && what !== 'memory');
  return [...Map.groupBy(ratios, ({ of }) => of)].map(([of, bars]) => {
    const which = of.replace('landfast, ', '');
    return { title: `${title}: ${which}`, over: bars[0]?.over ?? null, bars };
  });
}

function groupLines({ title, bars }: Group, top: number): readonly string[] {
  const label = text(LEFT - 8, top + BAR + 4, title, 'text-anchor="end"');
  return [label, ...bars.flatMap((check, index) => barLines(check, top + index * BAR))];
}

function barLines({ what, value, most }: Check, top: number): readonly string[] {
  const color = what === 'wall' ? COLORS.wall : COLORS.CPU;
  const end = x(Math.min(value, MOST));
  const size = `width="${(end - LEFT).toFixed(1)}" height="${BAR - 1}"`;
  return [
    `<rect x="${LEFT}" y="${top}" ${size} fill="${color}"/>`,
    stroke(x(most), top, top + BAR - 1, '#222222'),
    text(Math.max(end, x(most)) + 4, top + BAR - 3, ratio(value)),
  ];
}

function legend(): readonly string[] {
  return Object.entries(COLORS).flatMap(([name, color], index) => [
    `<rect x="${10 + index * 100}" y="30" width="12" height="12" fill="${color}"/>`,
    text(27 + index * 100, 40, name === 'wall' ? 'wall time' : 'CPU time'),
  ]);
}

function x(value: number): number {
  return LEFT + (value / MOST) * (WIDTH - LEFT - RIGHT);
}

function stroke(at: number, from: number, to: number, color: string): string {
  const x1 = at.toFixed(1);
  return `<line x1="${x1}" y1="${from}" x2="${x1}" y2="${to}" stroke="${color}"/>`;
}

function text(at: number, y: number, words: string, more = ''): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${at.toFixed(1)}" y="${y}"${more === '' ? '' : ` ${more}`}>${safe}</text>`;
}

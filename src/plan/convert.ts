/**
 * A plan of any format as the text of a native one, with comments about what changed.
 *
 *   V1. The text is read again before anybody gets it: run here, it does what the file would have
 *       done, or a comment says what does not hold.
 */

import type { Plan } from '../model/plan.ts';
import type { PlanInput } from './formats/format.ts';
import { parsePlan } from './parse.ts';
import { withNativeIds } from './print/native-ids.ts';
import { type Printing, printPlan } from './print.ts';
import { type Problem, quote } from './problem.ts';

/** What is converted: the plan, and what was said when it was read. */
export interface Source {
  readonly plan: Plan;
  readonly format: string;
  readonly warnings: readonly Problem[];
}

/** The text, or the problems that a native plan would have. */
export type Converted =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const NATIVE = 'native';

/** `around` is what the plan was read with. */
export function convert(source: Source, around: PlanInput): Converted {
  const { plan, renamed } = withNativeIds(source.plan);
  const notes = [
    `Written by landfast convert from ${around.file.path} (${source.format}).`,
    ...source.warnings.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...renamed.map(({ what, from, to }) => `The ${what} ${quote(from)} is called ${to} here.`),
  ];
  const printing: Printing = { notes, comments: commentsFor(source.format) };
  const read = (text: string) =>
    parsePlan({ ...around, file: { path: 'the native plan', text } }, NATIVE);

  const short = printPlan(plan, printing);
  const first = read(short);
  if (first.plan === null) return { kind: 'problems', problems: first.problems };
  if (isSame(first.plan, plan)) return { kind: 'text', text: short };

  // The configuration would change what the short text leaves out.
  const full = printPlan(plan, { ...printing, isFull: true });
  const second = read(full);
  if (second.plan !== null && isSame(second.plan, plan)) return { kind: 'text', text: full };
  const parts = differences(plan, second.plan ?? first.plan);
  const warning = `Run with your configuration it differs in ${parts.join(', ')}.`;
  return { kind: 'text', text: printPlan(plan, { ...printing, notes: [...notes, warning] }) };
}

function commentsFor(format: string): Readonly<Record<string, string>> {
  if (format === NATIVE) return {};
  return {
    land: `How work of ${format} lands; without this section it lands as Landfast's own.`,
    conventions: `What users of ${format} look for; without this section Landfast's own ways hold.`,
  };
}

/** The sections of two plans that are not the same. */
function differences(a: Plan, b: Plan): readonly string[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as ReadonlySet<keyof Plan>;
  return [...keys].filter((key) => !isSame(a[key], b[key]));
}

/** Whether two plain values are the same; the order of keys means nothing. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, ordered) === JSON.stringify(b, ordered);
}

function ordered(_: string, value: unknown): unknown {
  const isMap = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isMap
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

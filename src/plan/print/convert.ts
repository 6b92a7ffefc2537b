/**
 * A plan of any format as the text of a native one, with comments about what changed. The text is read
 * again before it is returned: run here it does what the file would do, or a comment says what differs.
 */

import type { Plan, TaskSpec } from '../../model/plan.ts';
import type { PlanInput } from '../formats/format.ts';
import { native } from '../formats/native/native.ts';
import { id } from '../formats/native/values.ts';
import { parsePlan } from '../parse.ts';
import { type Problem, quote } from '../problem.ts';
import { freeId } from '../task-ids.ts';
import { type Printing, printPlan } from './print.ts';

export interface Source {
  readonly plan: Plan;
  readonly format: string;
  readonly warnings: readonly Problem[];
}

export type Converted =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** `input` is what the plan was read with. */
export function convert(source: Source, input: PlanInput): Converted {
  const { plan, renamed } = withNativeIds(source.plan);
  const notes = [
    `Written by landfast convert from ${input.file.path} (${source.format}).`,
    ...source.warnings.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    ...renamed.map(({ what, from, to }) => `The ${what} ${quote(from)} is called ${to} here.`),
  ];
  const printing: Printing = { notes, comments: commentsFor(source.format) };
  const read = (text: string) =>
    parsePlan({ ...input, file: { path: 'the native plan', text } }, native.name);

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
  if (format === native.name) return {};
  return {
    land: `How work of ${format} lands; without this section it lands as Landfast's own.`,
    conventions: `What users of ${format} look for; without this section Landfast's own ways hold.`,
  };
}

function differences(a: Plan, b: Plan): readonly string[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as ReadonlySet<keyof Plan>;
  return [...keys].filter((key) => !isSame(a[key], b[key]));
}

/** The order of keys means nothing. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, ordered) === JSON.stringify(b, ordered);
}

function ordered(_: string, value: unknown): unknown {
  const isMap = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isMap
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

interface Renamed {
  readonly what: 'task' | 'group' | 'gate';
  readonly from: string;
  readonly to: string;
}

/** The plan with ids that a native plan can have, and the names that had to change. */
function withNativeIds(plan: Plan): { readonly plan: Plan; readonly renamed: readonly Renamed[] } {
  const names = {
    task: plan.tasks.map(({ id }) => id),
    group: Object.keys(plan.limits.groups),
    gate: plan.gates.map(({ name }) => name),
  };
  const to = {
    task: renaming(names.task),
    group: renaming(names.group),
    gate: renaming(names.gate),
  };
  const rename = (task: TaskSpec): TaskSpec => ({
    ...task,
    id: to.task(task.id),
    needs: task.needs.map(to.task),
    hears: task.hears.map(to.task),
    ...(task.forks === undefined ? {} : { forks: to.task(task.forks) }),
    ...(task.group === undefined ? {} : { group: to.group(task.group) }),
  });
  const groups = Object.entries(plan.limits.groups).map(([name, most]) => [to.group(name), most]);
  const renamed = (['task', 'group', 'gate'] as const).flatMap((what) =>
    names[what].map((from) => ({ what, from, to: to[what](from) })),
  );
  return {
    plan: {
      ...plan,
      tasks: plan.tasks.map(rename),
      gates: plan.gates.map((gate) => ({ ...gate, name: to.gate(gate.name) })),
      limits: { ...plan.limits, groups: Object.fromEntries(groups) },
    },
    renamed: renamed.filter(({ from, to }) => from !== to),
  };
}

const LONGEST = 60;

function renaming(names: readonly string[]): (name: string) => string {
  const isFine = (name: string) => id.safeParse(name).success;
  const taken = new Set(names.filter(isFine));
  const known = new Map<string, string>([...taken].map((name) => [name, name]));
  for (const name of names) {
    if (known.has(name)) continue;
    const bare = name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
    const short = bare.slice(0, LONGEST) || 'x';
    known.set(name, freeId(short, taken));
  }
  return (name) => known.get(name) ?? name;
}

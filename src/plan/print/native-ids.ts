/** Names that other formats allow and a native plan does not, changed as little as possible. */

import type { Plan, TaskSpec } from '../../model/plan.ts';
import { id } from '../formats/native/values.ts';

/** One name that had to be changed. */
export interface Renamed {
  readonly what: 'task' | 'group' | 'gate';
  readonly from: string;
  readonly to: string;
}

/** The plan with ids that a native plan can have, and what they were. */
export function withNativeIds(plan: Plan): {
  readonly plan: Plan;
  readonly renamed: readonly Renamed[];
} {
  const tasks = renaming(plan.tasks.map((task) => task.id));
  const groups = renaming(Object.keys(plan.limits.groups));
  const gates = renaming(plan.gates.map(({ name }) => name));
  const rename = (task: TaskSpec): TaskSpec => ({
    ...task,
    id: tasks(task.id),
    needs: task.needs.map(tasks),
    hears: task.hears.map(tasks),
    ...(task.forks === undefined ? {} : { forks: tasks(task.forks) }),
    ...(task.group === undefined ? {} : { group: groups(task.group) }),
  });
  const limits = Object.entries(plan.limits.groups).map(([name, most]) => [groups(name), most]);
  return {
    plan: {
      ...plan,
      tasks: plan.tasks.map(rename),
      gates: plan.gates.map((gate) => ({ ...gate, name: gates(gate.name) })),
      limits: { ...plan.limits, groups: Object.fromEntries(limits) },
    },
    renamed: [
      ...changes(
        'task',
        plan.tasks.map((task) => task.id),
        tasks,
      ),
      ...changes('group', Object.keys(plan.limits.groups), groups),
      ...changes(
        'gate',
        plan.gates.map(({ name }) => name),
        gates,
      ),
    ],
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
    let fresh = short;
    for (let n = 2; taken.has(fresh); n += 1) fresh = `${short}-${n}`;
    taken.add(fresh);
    known.set(name, fresh);
  }
  return (name) => known.get(name) ?? name;
}

function changes(
  what: Renamed['what'],
  names: readonly string[],
  rename: (name: string) => string,
): readonly Renamed[] {
  const all = names.map((from) => ({ what, from, to: rename(from) }));
  return all.filter(({ from, to }) => from !== to);
}

/** What `landfast land --dry-run` prints: the branches, in the order of landing, and what awaits them. */

import type { Plan } from '../model/plan.ts';
import { clean } from './clean.ts';
import { count, nameList } from './format.ts';

export interface LandForecast {
  readonly name: string;
  readonly commits: number;
  /** How many files it changes on what is ahead of it. */
  readonly files: number;
  /** Files in which it conflicts with the target or with what is ahead of it. */
  readonly conflicts: readonly string[];
}

/** The forecast as text. */
export function landForecast(plan: Plan, branches: readonly LandForecast[]): string {
  const width = Math.max(...branches.map(({ name }) => clean(name).length));
  const lines = branches.map(({ name, commits, files, conflicts }) => {
    const what =
      conflicts.length > 0
        ? `conflicts in ${nameList(conflicts.map(clean))}`
        : `${count(commits, 'commit')}, ${count(files, 'file')}`;
    return `  ${clean(name).padEnd(width)}  ${what}`;
  });
  const gates = plan.gates.map(({ name }) => clean(name));
  const { strategy, verify, onConflict } = plan.landing;
  const isVerified = gates.length > 0 && verify !== 'off';
  return [
    `Would land ${count(branches.length, 'branch', 'branches')} on ${clean(plan.target ?? '')} (${strategy}):`,
    ...lines,
    isVerified ? `Verified (${verify}) by ${nameList(gates)}.` : 'Nothing is verified.',
    onConflict === 'agent' ? 'An agent resolves conflicts.' : 'What conflicts does not land.',
    '',
  ].join('\n');
}

/**
 * Branches become a Plan: what `landfast land` runs. Each is a task whose work is there already.
 *
 *   L1. What is configured, or a plan that is named, says how work lands; its tasks are not run.
 *   L2. An agent is asked only for conflicts, and only where somebody wants that: what a gate finds
 *       is for whoever made the branch.
 *   L3. What lands is published, and merged somehow: that is what was asked for.
 */

import { type GateSpec, NATIVE_CONVENTIONS, type Plan, type Sha } from '../model/plan.ts';
import type { Config } from './config/schema.ts';
import { SCRIPT_AGENT } from './formats/native/configured.ts';
import { lower } from './formats/native/lower.ts';
import { freeId, slugOf } from './slug.ts';

export interface Landing {
  readonly branches: readonly BranchToLand[];
  /** The branch that they are to land on. */
  readonly target: string;
  /** Beside those of the plan or the configuration; one of the same name takes their place. */
  readonly gates: readonly GateSpec[];
  readonly verify?: Plan['landing']['verify'] | undefined;
  readonly strategy?: 'merge' | 'squash' | 'rebase' | undefined;
  /** Who resolves conflicts; null where nobody does. */
  readonly agent: string | null;
  /** A plan whose way of landing is used; null for that of the configuration. */
  readonly like: Plan | null;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
}

export interface BranchToLand {
  /** As the user knows it: `feature/login`, `origin/feature/login`. */
  readonly name: string;
  readonly work: Sha;
  /** The first lines of its commits' messages. */
  readonly subjects: readonly string[];
}

const REWORKS = 2;

/** The plan that lands these branches. */
export function landPlan(landing: Landing): Plan {
  const { branches, target, agent, verify, strategy, config, home } = landing;
  const used = new Set<string>();
  const tasks = branches.map(({ name }) => ({
    id: freeId(slugOf(name), used),
    title: name,
    // Nobody is ever asked; what is named must only be on every machine.
    agent: agent ?? SCRIPT_AGENT,
  }));
  const prompts = branches.map((branch) => promptFor(branch, target));
  const plain = lower({ landfast: 1, tasks }, prompts, { name: 'land', config, home });
  // The target's own commit is what work lands on, whatever another run would begin with.
  const { base: _, ...usual } = landing.like ?? plain;
  const ways = usual.landing.strategy === 'none' ? 'merge' : usual.landing.strategy;
  return {
    ...usual,
    name: 'land',
    target,
    tasks: plain.tasks.map((task, at) => ({ ...task, work: branches[at]!.work })),
    gates: withGates(usual.gates, landing.gates),
    landing: {
      ...usual.landing,
      strategy: strategy ?? ways,
      verify: verify ?? usual.landing.verify,
      onConflict: agent === null ? 'fail' : 'agent',
      onGateFailure: 'fail',
      reworks: agent === null ? 0 : Math.max(usual.landing.reworks, REWORKS),
      publish: 'end',
    },
    conventions: {
      ...NATIVE_CONVENTIONS,
      commitMessage: 'Land {title}',
      mergeMessage: 'Land {title}',
    },
  };
}

function withGates(usual: readonly GateSpec[], more: readonly GateSpec[]): readonly GateSpec[] {
  const named = new Set(more.map(({ name }) => name));
  return [...usual.filter(({ name }) => !named.has(name)), ...more];
}

const MOST_SUBJECTS = 20;

function promptFor({ name, subjects }: BranchToLand, target: string): string {
  const shown = subjects.slice(0, MOST_SUBJECTS).map((subject) => `- ${subject}`);
  const left = subjects.length - shown.length;
  return [
    `The branch \`${name}\` holds finished work that is to land on \`${target}\`:`,
    '',
    ...shown,
    ...(left > 0 ? [`- and ${left} more`] : []),
    '',
    'Bring it there: keep what both sides intend, and change nothing else.',
  ].join('\n');
}

const GATE_TIMEOUT_MS = 10 * 60_000;

/** A gate of the command line, `name=command`; null where it is not written so. */
export function gateOf(text: string): GateSpec | null {
  const [, name, run] = /^([A-Za-z][\w.-]*)=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || run === undefined) return null;
  return { name, run: run.trim(), timeoutMs: GATE_TIMEOUT_MS };
}

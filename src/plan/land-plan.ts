/**
 * Branches become a Plan for `landfast land`; each is a task whose work already exists. An agent
 * resolves conflicts on request, never red gates. What lands is always merged and published.
 */

import { type GateSpec, NATIVE_CONVENTIONS, type Plan, type Sha } from '../model/plan.ts';
import type { Config } from './config/schema.ts';
import { lower, SCRIPT_AGENT } from './formats/native/lower.ts';
import { freeId, slugOf } from './task-ids.ts';

export interface Landing {
  readonly branches: readonly BranchToLand[];
  readonly target: string;
  /** Besides those of the plan or the configuration; the same name replaces one. */
  readonly gates: readonly GateSpec[];
  readonly verify?: Plan['landing']['verify'] | undefined;
  readonly strategy?: 'merge' | 'squash' | 'rebase' | undefined;
  /** Resolves conflicts; null if a conflict fails. */
  readonly agent: string | null;
  /** A plan whose gates and landing apply; null for those of the configuration. */
  readonly like: Plan | null;
  readonly config: Config;
  /** What `~` stands for. */
  readonly home: string;
}

export interface BranchToLand {
  /** `feature/login`, `origin/feature/login`. */
  readonly name: string;
  readonly work: Sha;
  /** The first lines of its commits' messages. */
  readonly subjects: readonly string[];
}

const REWORKS = 2;

export function landPlan(landing: Landing): Plan {
  const { branches, target, agent, verify, strategy, config, home } = landing;
  const used = new Set<string>();
  const tasks = branches.map(({ name }) => ({
    id: freeId(slugOf(name), used),
    title: name,
    // Never started, but must be available on every machine.
    agent: agent ?? SCRIPT_AGENT,
  }));
  const prompts = branches.map((branch) => promptFor(branch, target));
  const plain = lower({ landfast: 1, tasks }, prompts, { name: 'land', config, home });
  // Work lands on the target's own commit, whatever base another run would start from.
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
      onSemantic: 'warn',
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

/** A gate of the command line, `name=command`; null if malformed. */
export function gateOf(text: string): GateSpec | null {
  const [, name, run] = /^([A-Za-z][\w.-]*)=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || run === undefined) return null;
  return { name, run: run.trim(), timeoutMs: GATE_TIMEOUT_MS };
}

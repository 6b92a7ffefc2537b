/** What everything done for one run needs: its repository, plan, pool, and memory. */

import { randomUUID } from 'node:crypto';
import { assert } from '../base/assert.ts';
import { UserError } from '../base/errors.ts';
import type { Suspension } from '../base/suspension.ts';
import { readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { runBranch, taskBranch } from '../model/names.ts';
import type { Plan, Sha, TaskId, TaskSpec } from '../model/plan.ts';
import type { Pool } from './pool/pool.ts';
import type { Seeds } from './seeds/seeds.ts';
import { CheckoutLooks } from './user-checkout.ts';

/** What the program that starts or resumes a run provides. */
export interface RunParts {
  readonly repository: Repository;
  readonly run: string;
  readonly plan: Plan;
  /** The environment of set-up commands, checks and gates. */
  readonly env: Readonly<Record<string, string>>;
  readonly pool: Pool;
  /** Absent where the plan keeps no results of set-up. */
  readonly seeds?: Seeds;
  /** Halts what runs for an attempt, but not gates. */
  readonly suspension?: Suspension;
  readonly verdicts: VerdictMemory;
  /** A person is at the terminal and can answer questions. */
  readonly attended?: boolean;
  readonly resolutions: ResolutionMemory;
  /** Absent where gate output is not kept (`--no-log`). */
  readonly gateLogs?: GateLogs;
  /** The functions behind the plan's in-process gates, by the gate's name. */
  readonly gateFunctions?: ReadonlyMap<string, GateFunction>;
  /**
   * Throws where another engine has taken over the run. Called right before anything that would
   * interfere with it: a ref that moves, a commit in a workspace, a workspace that is removed.
   */
  readonly assertHeld: () => void;
}

export interface RunContext extends RunParts {
  readonly session: RunSession;
}

/** State of a run that lives as long as this process drives it. */
export interface RunSession {
  readonly id: string;
  readonly checkout: CheckoutLooks;
  readonly gateSlots: GateSlots;
  /** How long red gates took, by name: the verdict memory times only green ones. */
  readonly redGateMs: Map<string, number>;
  /** The output of the plan's fingerprint commands, once asked. */
  toolVersions: Promise<string> | null;
}

/** Makes the context of a run; refuses one whose gates include functions that are not provided. */
export function runContext(parts: RunParts): RunContext {
  requireGateFunctions(parts);
  return {
    ...parts,
    session: {
      id: randomUUID(),
      checkout: new CheckoutLooks(parts.repository.dir),
      gateSlots: new GateSlots(parts.run),
      redGateMs: new Map(),
      toolVersions: null,
    },
  };
}

/** A gate that runs in this process instead of as a command. */
export interface GateFunction {
  check(candidate: GateCandidate): Promise<GateAnswer>;
  /**
   * Everything the verdict depends on besides the tree and the plan, such as a version. With a key
   * green verdicts are remembered across runs; without one only while this process drives the run.
   */
  readonly key?: string;
}

/** What a gate function judges: a commit, checked out in a workspace of its own. */
export interface GateCandidate {
  readonly dir: string;
  readonly tree: Sha;
  readonly commit: Sha;
  /** Aborted at the gate's time limit, and when the verdict is no longer needed. */
  readonly signal: AbortSignal;
  /** Writes a line to the gate's log. The agent of a red candidate is shown these lines. */
  log(line: string): void;
}

export type GateAnswer = 'green' | { readonly red: string };

function requireGateFunctions({ plan, gateFunctions }: RunParts): void {
  const missing = plan.gates.find(
    ({ name, inProcess }) => inProcess === true && gateFunctions?.has(name) !== true,
  );
  if (missing === undefined) return;
  throw new UserError(
    `Gate ${missing.name} is a function of the program that started the run, and is not provided here.`,
    `Resume the run with that program, or provide a gate function named ${missing.name}.`,
  );
}

/** Numbers the gate workspaces of a run, so that no two gates use one at the same time. */
export class GateSlots {
  readonly #run: string;
  readonly #used = new Set<number>();

  constructor(run: string) {
    this.#run = run;
  }

  get used(): readonly number[] {
    return [...this.#used];
  }

  take(): GateSlot {
    let number = this.#reserve();
    const run = this.#run;
    return {
      get number() {
        return number;
      },
      get mark() {
        return `${run}/gate.${number}`;
      },
      abandon: (end) => {
        const left = number;
        const free = (): void => void this.#used.delete(left);
        void end.then(free, free);
        number = this.#reserve();
      },
      [Symbol.dispose]: () => void this.#used.delete(number),
    };
  }

  #reserve(): number {
    let number = 0;
    while (this.#used.has(number)) number += 1;
    this.#used.add(number);
    return number;
  }
}

export interface GateSlot extends Disposable {
  readonly number: number;
  /** Found in the environment of every process that is started there. */
  readonly mark: string;
  /** A function ignores its signal: it keeps the workspace until it returns; another one is taken. */
  abandon(end: Promise<unknown>): void;
}

/** Verdicts of earlier gates, in any run (journal/memory.ts). */
export interface VerdictMemory {
  recall(key: string): string | null;
  learn(
    green: {
      readonly key: string;
      readonly gate: string;
      readonly tree: string;
      readonly ms: number;
      readonly run: string;
    },
    at: number,
  ): void;
  cost(gate: string): number | null;
}

/** Stores the output of gates (journal/gate-log.ts). */
export interface GateLogs {
  open(of: { readonly tree: string; readonly gate: string }): GateLog;
}

export interface GateLog {
  write(line: string): void;
  /** Resolves once everything is written. */
  close(): Promise<void>;
}

/** How conflicts were resolved before (journal/memory.ts, as far as landing needs it). */
export interface ResolutionMemory {
  recall(key: string): KnownResolution | null;
  learn(key: string, resolution: KnownResolution, at: number): void;
}

/** The resolved file and the run that resolved it; without an object the file was deleted. */
export interface KnownResolution {
  readonly mode: string;
  readonly object: string | null;
  readonly run: string;
}

export function runRef({ run }: RunContext): string {
  return `refs/heads/${runBranch(run)}`;
}

/** The branch of a task's workspace, without `refs/heads/`. */
export function branchOf(context: RunContext, task: TaskId): string {
  return taskBranch(context.plan.conventions, context.run, specOf(context, task));
}

export function branchTip(
  context: RunContext,
  task: TaskId,
  signal: AbortSignal,
): Promise<Sha | null> {
  return readRef(context.repository.commonDir, `refs/heads/${branchOf(context, task)}`, signal);
}

export function specOf({ plan }: Pick<RunContext, 'plan'>, task: TaskId): TaskSpec {
  const spec = plan.tasks.find(({ id }) => id === task);
  assert(spec !== undefined, `the plan has a task ${task}`);
  return spec;
}

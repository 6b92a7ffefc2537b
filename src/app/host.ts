/** The program that calls a use case, as far as a use case depends on it. */

import type { FunctionAgent } from '../agents/function-agent.ts';
import type { GateFunction } from '../workspace/run-context.ts';

export interface Host {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The user's home directory. */
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Relative paths that the user gives start here. */
  readonly cwd: string;
  /** Whether a person is watching and can answer. */
  readonly attended: boolean;
  /** Agents and gates that are functions of this program. */
  readonly agents: readonly FunctionAgent[];
  readonly gates: ReadonlyMap<string, GateFunction>;
  /** Shows the user a warning or a hint: one sentence, or a few lines. */
  warn(text: string): void;
  /** Shows a problem of a plan or a configuration that can be used all the same. */
  problem(text: string): void;
}

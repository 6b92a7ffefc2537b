/** A plan or a configuration that cannot be used, with every problem and its place. */

import { UserError } from '../base/errors.ts';
import { formatProblem, type Problem } from '../plan/problem.ts';

export class ProblemsError extends UserError {
  override readonly name = 'ProblemsError';
  readonly problems: readonly Problem[];
  /** What the users of the plan's format expect: 2, but 1 in some. */
  readonly exitCode: 1 | 2;

  /** How the format was found, one sentence a line. */
  readonly why: readonly string[];

  constructor(
    problems: readonly Problem[],
    { exitCode = 2, why = [] }: Partial<Pick<ProblemsError, 'exitCode' | 'why'>> = {},
  ) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
    this.exitCode = exitCode;
    this.why = why;
  }
}

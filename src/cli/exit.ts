/** Exit codes, and how an error is shown. */

import { CommanderError } from 'commander';
import { ProblemsError } from '../app/problems.ts';
import { OperationalError, UserError } from '../base/errors.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, world: 3, bug: 70 } as const;

export function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ProblemsError) {
    console.error(error.message);
    return error.exitCode;
  }
  if (error instanceof UserError || error instanceof OperationalError) {
    showError(error);
    return error instanceof UserError ? EXIT.usage : EXIT.world;
  }
  console.error('landfast: this is a bug in Landfast; please report it with the lines below.');
  console.error(error instanceof Error ? error.stack : String(error));
  return EXIT.bug;
}

/** One line, and a way out. */
export function showError({ message, remedy }: UserError | OperationalError): void {
  console.error(`landfast: ${message}`);
  if (remedy !== undefined) console.error(`  ${remedy}`);
}

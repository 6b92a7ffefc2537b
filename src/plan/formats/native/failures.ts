/** `failures` of a plan and of a configuration: words, and the kind of failure they stand for. */

import * as z from 'zod';
import type { FailurePattern } from '../../../model/plan.ts';
import { inQuotes, value } from './value.ts';
import { choice, text } from './values.ts';

/** A regular expression of JavaScript that finds something only where there is something. */
const pattern = value({ type: 'string', pattern: '\\S' }, (given, refuse) => {
  if (typeof given !== 'string' || given.trim() === '') {
    return refuse({ expected: 'a regular expression', ...inQuotes(given) });
  }
  const wrong = problemOf(given);
  return wrong === null ? given : refuse({ message: `not a regular expression: ${wrong}` });
});

/** One pattern. */
export const failureSchema = z.strictObject({
  match: pattern,
  kind: choice(['transient', 'rate-limited', 'permanent', 'auth', 'billing']),
  agent: text.optional(),
});

type Given = readonly z.output<typeof failureSchema>[];

/** Those of the plan come first; none are none. */
export function lowerFailures(
  own: Given = [],
  configured: Given = [],
): { readonly failures?: readonly FailurePattern[] } {
  const failures = [...own, ...configured].map(({ match, kind, agent }) =>
    agent === undefined ? { match, kind } : { match, kind, agent },
  );
  return failures.length === 0 ? {} : { failures };
}

function problemOf(source: string): string | null {
  try {
    return new RegExp(source, 'i').test('') ? 'it matches everything' : null;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return said.replace(/^Invalid regular expression: /, '');
  }
}

/** What status and summary say of a publication that needs a person. */

import type { Publish, RunState } from '../model/state.ts';
import { relevantLines } from './failed-command.ts';
import { type Paint, shortSha } from './format.ts';
import { approveCommand } from './remedy.ts';
import { brief, clean } from './sanitize.ts';

/** The reason, the output of a gate that follows it, and what to do. */
export function blockedLines(
  title: string,
  { why, remedy }: Publish & { kind: 'blocked' },
  paint: Paint,
): string[] {
  const [first = '', ...output] = why.split('\n');
  return [
    `${paint('warn', title)} ${brief(first, 300)}`,
    ...relevantLines(output.join('\n')).map((line) => `    | ${line}`),
    `    ${paint('accent', clean(remedy))}`,
  ];
}

/** A person's approval: missing, given or refused. */
export function approvalLines({ publish, target }: RunState, run: string, paint: Paint): string[] {
  const to = brief(target ?? 'the target', 80);
  if (publish.kind === 'declined') {
    return [`Publishing to ${to} was declined: what landed stays on the run's branch.`];
  }
  if (publish.kind !== 'awaiting') return [];
  const approve = approveCommand(run);
  return [
    paint('warn', `Publishing ${shortSha(publish.head)} to ${to} waits for your approval.`),
    `    ${paint('accent', approve)}, or without publishing: ${paint('accent', `${approve} --decline`)}`,
  ];
}

/** The last line some agents end with: a JSON object that says how it went. */

import type { StatusLine } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';

/** Reads the last non-blank line; anything but an object with a status is no status line. */
export function statusLineOf(text: string): StatusLine | null {
  const last = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (!last.startsWith('{')) return null;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(last) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof value.status !== 'string') return null;
  const cycles = Number.parseInt(String(value.cycles ?? ''), 10);
  return {
    status: value.status,
    ...(Number.isNaN(cycles) ? {} : { cycles }),
    ...(typeof value.reason === 'string' ? { reason: value.reason } : {}),
    ...(typeof value.report === 'string' ? { report: value.report } : {}),
  };
}

/** An agent that says it failed has failed, whatever its exit code. */
export function failedByStatus(line: StatusLine): Failure | null {
  if (line.status !== 'FAILED') return null;
  return { kind: 'transient', message: `The agent reported FAILED: ${line.reason ?? 'no reason'}` };
}

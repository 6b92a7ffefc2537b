/**
 * payload: a notice as JSON, the same for webhooks and commands. Pure.
 *
 *   L1. The keys up to `duration_sec` are parallel-orchestra's, with its words for `event`; what is
 *       ours comes beside them. `text` is where chat services look for what to show.
 *   L2. Every string has gone through the mask.
 */

import type { Occasion } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { seconds } from '../report/format.ts';
import { countResults } from '../report/outcome.ts';
import type { Notice } from './notice.ts';

const EVENTS: Readonly<Record<Occasion, string>> = {
  finished: 'complete',
  failed: 'failure',
  person: 'person',
  limit: 'limit',
};

/** The JSON text of a notice. */
export function payloadText(
  notice: Notice,
  state: RunState,
  { run, mask }: { readonly run: string; readonly mask: (text: string) => string },
): string {
  const { succeeded, failed, skipped, cancelled, unfinished } = countResults(state);
  const payload = {
    event: EVENTS[notice.on],
    manifest: state.plan.name,
    total: state.tasks.size,
    ...{ succeeded, failed, skipped },
    duration_sec: seconds((state.finishedAt ?? state.at) - state.startedAt),
    ...{ cancelled, unfinished },
    run,
    target: state.target,
    text: notice.text,
    detail: notice.detail,
  };
  return JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'string' ? mask(value) : value,
  );
}

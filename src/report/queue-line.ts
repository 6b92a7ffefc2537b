/**
 * The landing queue in one line, for the live view and for status: who is in which gate and since
 * when, who is green and waits for those ahead, who waits for a turn.
 */

import type { Candidate, RunState } from '../model/state.ts';
import { brief } from './clean.ts';
import { durationText, nameList } from './format.ts';
import { conditionOf, gateText } from './queue-text.ts';

const MOST = 5;

/** The line; null where the queue is empty. */
export function queueLine(state: RunState, now: number): string | null {
  const parts = [
    ...state.queue.map((candidate) => {
      const { task, passes } = candidate;
      const past = passes === undefined ? '' : `, past ${nameList(passes)}`;
      return `${short(task)} ${saying(state, candidate, now)}${past}`;
    }),
    ...waitingParts(state),
  ];
  if (parts.length === 0) return null;
  const rest = parts.length - MOST;
  return [...parts.slice(0, MOST), ...(rest > 0 ? [`${rest} more`] : [])].join(' · ');
}

/** Where a candidate is, as a verb and its object: `in gate tests for 8.0 s`, `is green`. */
export function saying({ landing, plan }: RunState, candidate: Candidate, now: number): string {
  const { gate = null, since = now } = candidate;
  if (gate !== null) return `in ${gateText(gate, now)}`;
  const condition = conditionOf(candidate, landing);
  switch (condition) {
    case 'being built':
      return plan.landing.strategy === 'none' ? 'is being delivered' : 'is being built';
    case 'verifying':
      return `is verified for ${durationText(Math.max(0, now - since))}`;
    case 'built':
      return 'waits for its gates';
    default:
      return condition === 'landing' ? 'lands' : `is ${condition}`;
  }
}

function waitingParts({ tasks }: RunState): readonly string[] {
  return [...tasks.values()].flatMap(({ spec, status }) => {
    if (status.kind !== 'committed') return [];
    const { avoids } = status;
    return [
      `${short(spec.id)} waits ${avoids === undefined ? 'for its turn' : `behind ${short(avoids)}`}`,
    ];
  });
}

function short(text: string): string {
  return brief(text, 60);
}

/** Why the queue did what it did, in the order of the journal: one sentence for each look. */

import type { Entry, Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { brief } from './clean.ts';
import { durationText, nameList, shortSha } from './format.ts';

/** What gates, looks, landings and ejections have told, one line each. */
export function queueStory(entries: Iterable<Entry>): readonly string[] {
  const chain: TaskId[] = [];
  const lines: string[] = [];
  for (const { event } of entries) {
    const text = sentence(event, chain);
    if (text !== null && 'task' in event)
      lines.push(`${brief(event.task ?? '(publish)', 60)} ${text}`);
    follow(event, chain);
  }
  return lines;
}

/** Who is ahead of whom, as far as the journal has been read. */
function follow(event: Event, chain: TaskId[]): void {
  if (event.type === 'merge.started') chain.push(event.task);
  if (!('task' in event) || event.task === null) return;
  const leaves = /^(?:merge\.(?:landed|rejected|withdrawn)|work\.delivered)$/.test(event.type);
  const at = chain.indexOf(event.task);
  if (leaves && at >= 0) chain.splice(at, 1);
}

function sentence(event: Event, chain: readonly TaskId[]): string | null {
  switch (event.type) {
    case 'gate.finished':
      return gateSentence(event);
    case 'candidate.verified': {
      const ahead = chain.slice(0, Math.max(0, chain.indexOf(event.task)));
      const with_ = ahead.length === 0 ? 'on the head' : `with ${nameList(ahead, 8)} ahead of it`;
      return `was ${event.failure === null ? 'green' : 'red'}, ${with_}.`;
    }
    case 'merge.withdrawn':
      return `left the queue for now: ${brief(event.why, 200)}`;
    case 'merge.landed':
      return `landed as ${shortSha(event.commit)}.`;
    case 'merge.rejected':
      return event.failure.kind === 'gate-failed'
        ? `was ejected: red twice, while ${shortSha(event.onto)} without it is green.`
        : `did not land: ${brief(event.failure.message, 200)}`;
    default:
      return null;
  }
}

function gateSentence({
  gate,
  ok,
  ms,
  spared,
  by,
  quarantined,
}: Event & { type: 'gate.finished' }) {
  const name = `gate ${brief(gate, 60)}`;
  if (spared === 'paths') return `needed no ${name}: nothing of its paths is touched.`;
  if (spared === 'memory') return `needed no ${name}: green on the same files in run ${by}.`;
  const verdict = ok ? 'green' : 'red';
  const counts = quarantined === true ? ', which does not count (quarantine)' : '';
  return `had ${name} ${verdict} after ${durationText(ms)}${counts}.`;
}

/** Why the queue did what it did, in the order of the journal: one sentence for each look. */

import type { Entry, Event } from '../model/event.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import { brief } from './clean.ts';
import { durationText, nameList, shortSha } from './format.ts';

/** What gates, looks, landings and ejections have told, one line each. */
export function queueStory(entries: Iterable<Entry>): readonly string[] {
  const known: Known = { chain: [], built: new Map() };
  const lines: string[] = [];
  for (const { event } of entries) {
    const text = sentence(event, known);
    if (text !== null && 'task' in event)
      lines.push(`${brief(event.task ?? '(publish)', 60)} ${text}`);
    follow(event, known);
  }
  return lines;
}

/** Who is ahead of whom, and what each has built, as far as the journal has been read. */
interface Known {
  readonly chain: TaskId[];
  readonly built: Map<TaskId, Sha>;
}

function follow(event: Event, { chain, built }: Known): void {
  if (event.type === 'merge.started' && event.passes === undefined) chain.push(event.task);
  if (event.type === 'candidate.built') built.set(event.task, event.commit);
  if (!('task' in event) || event.task === null) return;
  const leaves = /^(?:merge\.(?:landed|rejected|withdrawn)|work\.delivered)$/.test(event.type);
  const at = chain.indexOf(event.task);
  if (leaves && at >= 0) chain.splice(at, 1);
  if (leaves) built.delete(event.task);
}

function sentence(event: Event, known: Known): string | null {
  switch (event.type) {
    case 'merge.started':
      return wayOf(event);
    case 'gate.finished':
      return gateSentence(event);
    case 'candidate.built':
      return event.spared === true ? 'was green, on the head: no gate is due.' : null;
    case 'candidate.verified':
      return verdictOf(event, known);
    case 'merge.withdrawn':
      return `left the queue for now: ${brief(event.why, 200)}${lingersText(event)}`;
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

/** Only independent work has a way of its own. */
function wayOf({ passes, stays }: Event & { type: 'merge.started' }): string | null {
  if (passes !== undefined) {
    return `passes ${nameList(passes, 8)}: it is independent, and they change other paths.`;
  }
  return stays === undefined ? null : `is independent, but takes its turn: ${brief(stays, 200)}.`;
}

function verdictOf(
  { task, commit, failure }: Event & { type: 'candidate.verified' },
  { chain, built }: Known,
): string {
  const colour = failure === null ? 'green' : 'red';
  if (built.get(task) !== commit) return `was ${colour}, as it was before it left the queue.`;
  const ahead = chain.slice(0, Math.max(0, chain.indexOf(task)));
  const with_ = ahead.length === 0 ? 'on the head' : `with ${nameList(ahead, 8)} ahead of it`;
  return `was ${colour}, ${with_}.`;
}

function lingersText({ lingers }: Event & { type: 'merge.withdrawn' }): string {
  return lingers === true ? ' Its gates go on: what they tell is remembered.' : '';
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

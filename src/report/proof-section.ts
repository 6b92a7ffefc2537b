/** The part of the Markdown report that shows where all that landed is. */

import type { ProvedWork } from '../model/event.ts';
import type { RunState } from '../model/state.ts';
import { count, shortSha } from './format.ts';
import { code, escaped, table } from './markup.ts';

/** What was shown of everything that landed, and where each piece of it is. */
export function proofSection({ publish, landed, tasks }: RunState): string[] {
  if (publish.kind !== 'finished' || publish.proved === undefined) return [];
  const { works, by } = publish.proved;
  const how =
    by === 'history' ? 'every commit is in its history' : 'its changes are in the commit named';
  const target = code(publish.target);
  const sentence = `Shown for ${count(works, 'piece')} of work in ${target}: ${how}.`;
  const rows = landed.map(({ task, commit }) => {
    const { work = null, proved = null } = tasks.get(task) ?? {};
    return [
      escaped(task, 80),
      work === null ? '' : shortSha(work),
      shortSha(commit),
      proved === null ? '' : ownText(proved),
      proved === null ? '' : SHOWN[proved.by],
    ];
  });
  const head = ['Task', 'Work', 'Landed as', 'Its commits there', 'Shown by'];
  return ['## Proof', sentence, table(head, rows)];
}

function ownText({ commits, more = 0 }: ProvedWork): string {
  if (commits.length === 0) return '—';
  const rest = more === 0 ? '' : ` and ${more} more`;
  return `${commits.map(shortSha).join(', ')}${rest}`;
}

const SHOWN: Readonly<Record<ProvedWork['by'], string>> = {
  history: 'every commit in the history',
  files: 'the same files',
};

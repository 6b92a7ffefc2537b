/** `landfast queue`: the landing queue of a run, once or until the run ends. Reads the journal. */

import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { readEntries } from '../../journal/log.ts';
import { fold } from '../../model/fold.ts';
import { jsonText } from '../../report/json.ts';
import { queueStory } from '../../report/queue-story.ts';
import { queueText, queueView } from '../../report/queue-text.ts';
import { Painter } from '../../ui/paint.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { Following } from '../live.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';

export interface QueueFlags {
  readonly projectDir: string;
  readonly watch?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** Shows the queue. */
export async function queue(given: string | undefined, flags: QueueFlags): Promise<number> {
  const signal = new AbortController().signal;
  const { stateDir } = await findPlace(flags.projectDir, signal);
  using db = openForReading(stateDir);
  if (db === null) throw noRun(given);
  const run = runNamed(db, given);
  if (flags.watch === true && isLive(db, run)) await watch(stateDir, run, flags);
  else process.stdout.write(textOf(stateDir, run, flags));
  return EXIT.ok;
}

/** How often the times on a terminal go on. */
const TICK_MS = 1_000;

/**
 * On a terminal the text is drawn anew with every fact, and with the time; elsewhere it follows the
 * one before.
 */
async function watch(stateDir: string, run: string, flags: QueueFlags): Promise<void> {
  using following = new Following(stateDir, run);
  using painter = process.stdout.isTTY === true ? new Painter(process.stdout) : null;
  let last = '';
  const show = (): void => {
    const text = textOf(stateDir, run, flags);
    if (text === last) return;
    if (painter === null) process.stdout.write(last === '' ? text : `\n${text}`);
    else painter.draw(text.trimEnd().split('\n'));
    last = text;
  };
  const timer = painter === null ? undefined : setInterval(show, TICK_MS);
  try {
    for await (const _ of follow(stateDir, run, 0, following.signal)) show();
  } finally {
    clearInterval(timer);
  }
  painter?.close();
  if (painter !== null) process.stdout.write(last);
}

function textOf(stateDir: string, run: string, { explain, json }: QueueFlags): string {
  using db = openForReading(stateDir);
  if (db === null) throw noRun(run);
  const entries = [...readEntries(db, run, 0)];
  const state = fold(entries);
  const story = explain === true ? queueStory(entries) : null;
  if (json === true) {
    return jsonText({ run, ...queueView(state), ...(story === null ? {} : { story }) });
  }
  const text = queueText(state, { run, now: state.finishedAt ?? Date.now() });
  return story === null
    ? text
    : `${text}\nWhat happened:\n${story.map((line) => `  ${line}\n`).join('')}`;
}

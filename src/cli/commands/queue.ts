/** `landfast queue`: the landing queue of a run, once or until the run ends. Reads the journal. */

import { isLive, noSuchRun, runNamed } from '../../app/find-run.ts';
import { readState } from '../../app/watch-run.ts';
import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { readEntries } from '../../journal/journal.ts';
import { jsonText } from '../../report/json.ts';
import { queueStory, queueText, queueView } from '../../report/queue.ts';
import { Painter } from '../../tui/painter.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { Following } from '../terminal/following.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('queue')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('the landing queue: what is verified, what waits, what landed, what was ejected')
    .option('-w, --watch', 'keep showing it until the run ends')
    .option('--explain', 'explain every gate result and decision')
    .option('--json', 'print JSON')
    .action(wrap((run, _, command: Program) => queue(run, command.optsWithGlobals())));
}

export interface QueueFlags {
  readonly projectDir: string;
  readonly watch?: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
}

/** Shows the queue. */
export async function queue(given: string | undefined, flags: QueueFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await placeAt(flags.projectDir, signal);
  const { stateDir } = place;
  using db = openForReading(stateDir);
  const run = runNamed(db, given, place);
  if (db === null || run === null) return tellNoRun(flags);
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
  if (db === null) throw noSuchRun(run);
  const state = readState(db, run);
  const story = explain === true ? queueStory(readEntries(db, run, 0)) : null;
  if (json === true) {
    return jsonText({ run, ...queueView(state), ...(story === null ? {} : { story }) });
  }
  const text = queueText(state, { run, now: state.finishedAt ?? Date.now() });
  return story === null
    ? text
    : `${text}\nWhat happened:\n${story.map((line) => `  ${line}\n`).join('')}`;
}

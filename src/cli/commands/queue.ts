/** `landfast queue`: the landing queue of a run, once or until the run ends. Reads the journal. */

import { entriesOf, type RunView, viewRun } from '../../app/runs.ts';
import { jsonText } from '../../report/json.ts';
import { queueStory, queueText, queueView } from '../../report/queue.ts';
import { Painter } from '../../tui/painter.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { followHere, tellAbandoned } from '../terminal/following.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/output.ts';

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

interface QueueFlags extends CommonFlags {
  readonly watch?: boolean;
  readonly explain?: boolean;
}

async function queue(given: string | undefined, flags: QueueFlags): Promise<number> {
  const view = viewRun(await placeAt(flags.projectDir, NEVER), given);
  if (view === null) return tellNoRun(flags);
  if (flags.watch === true && view.live) await watch(view, flags);
  else process.stdout.write(textOf(view, flags));
  return EXIT.ok;
}

/** How often the times on a terminal are updated. */
const TICK_MS = 1_000;

/**
 * On a terminal the text is redrawn with every fact, and with the time; elsewhere it follows the
 * one before.
 */
async function watch({ place, run }: RunView, flags: QueueFlags): Promise<void> {
  using painter = process.stdout.isTTY === true ? new Painter(process.stdout) : null;
  let last = '';
  const show = (): void => {
    const text = textOf(viewRun(place, run)!, flags);
    if (text === last) return;
    if (painter === null) process.stdout.write(last === '' ? text : `\n${text}`);
    else painter.draw(text.trimEnd().split('\n'));
    last = text;
  };
  const timer = painter === null ? undefined : setInterval(show, TICK_MS);
  const followed = await followHere(place, run, show).finally(() => clearInterval(timer));
  painter?.close();
  if (painter !== null) process.stdout.write(last);
  tellAbandoned(followed, run);
}

function textOf({ place, run, state }: RunView, { explain, json }: QueueFlags): string {
  const story = explain === true ? queueStory(entriesOf(place, run)) : null;
  if (json === true) {
    return jsonText({ run, ...queueView(state), ...(story === null ? {} : { story }) });
  }
  const text = queueText(state, { run, now: state.finishedAt ?? Date.now() });
  return story === null
    ? text
    : `${text}\nWhat happened:\n${story.map((line) => `  ${line}\n`).join('')}`;
}

/**
 * `landfast demo`: run a sample plan in a throwaway repository; no account, no network.
 *
 *   D1. The plan is loaded and run by the code behind `landfast run`, so the demo cannot differ.
 *   D2. The folder is removed however the demo ends, Ctrl-C included, unless `--keep` was given.
 *   D3. Exit 0 means that all went as designed: with scripted agents the retry, the overlap and the
 *       catch too; with a real agent that everything landed.
 */

import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { agentNamed } from '../../app/agents.ts';
import { fillRepository, historyOf, makeFolder } from '../../app/demo/repository.ts';
import { deviations, type Story, storyOf } from '../../app/demo/story.ts';
import { openingText, resultText, type Telling } from '../../app/demo/tell.ts';
import { loadPlan } from '../../app/load-plan.ts';
import { entriesOf, viewRun } from '../../app/runs.ts';
import { assert } from '../../base/assert.ts';
import { reportMarkdown } from '../../report/markdown.ts';
import { shellWord } from '../../report/sanitize.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { startRun } from '../terminal/drive.ts';
import { placeAt, terminalHost } from '../terminal/host.ts';
import { notIgnored } from '../terminal/signals.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('demo')
    .description('run a sample plan in a throwaway repository; no account, no network')
    .option('--keep', 'keep the folder afterwards')
    .option('--agent <name>', 'use a real agent instead of the scripted ones')
    .action(wrap((options) => demo(options)));
}

export interface DemoFlags {
  readonly keep?: boolean;
  readonly agent?: string;
}

/** Runs the demo. */
export async function demo({ keep = false, agent = 'shell' }: DemoFlags): Promise<number> {
  const { prose } = agentNamed(agent, terminalHost()).can;
  const color = wantsColor(process.env, process.stdout.isTTY === true);
  using stop = new StopSignals();
  const folder = await makeFolder();
  const telling: Telling = { folder, keep, agent: prose ? agent : null, ink: inkOf(color) };
  try {
    process.stdout.write(openingText(telling));
    await fillRepository(folder, { agent, prose, tests: testCommand() }, stop.signal);
    return await runAndTell(telling, stop.signal);
  } catch (error) {
    if (stop.exitCode === null) throw error;
    console.error(
      `landfast: the demo was interrupted; its folder is ${keep ? 'kept' : 'removed'}.`,
    );
    return stop.exitCode;
  } finally {
    if (!keep) await folder.remove();
  }
}

/** The project's tests with the Node that runs us; another one on PATH may be too old. */
function testCommand(): string {
  // One process for all test files is several times faster; Node 22 has the option's old name.
  const major = Number.parseInt(process.versions.node, 10);
  const isolation = `--${major < 24 ? 'experimental-' : ''}test-isolation=none`;
  return `${shellWord(process.execPath)} --test ${isolation} --test-reporter=spec`;
}

async function runAndTell(telling: Telling, signal: AbortSignal): Promise<number> {
  const { folder, agent } = telling;
  const place = await placeAt(folder.repository, signal);
  const loaded = loadPlan(folder.plan, { root: place.dir, host: place.host, format: null });
  assert(loaded !== null, 'the demo is not one of its own agents');
  const how = { projectDir: folder.repository, log: true };
  const code = await startRun(loaded, place, how, signal);
  signal.throwIfAborted();
  const run = viewRun(place, undefined)?.run;
  assert(run !== undefined, 'a run that ended has a journal');
  const story = storyOf(entriesOf(place, run));
  const history = await historyOf(folder, signal);
  const report = reportMarkdown(story.state, { run });
  if (telling.keep) await writeFile(folder.report, report);
  process.stdout.write(resultText({ ...telling, story, history, report }));
  if (agent !== null) return code;
  return judge(story, telling);
}

function judge(story: Story, { keep }: Telling): number {
  const problems = deviations(story);
  if (problems.length === 0) return EXIT.ok;
  console.error(`\nlandfast: the demo did not go as designed: ${problems.join('; ')}.`);
  if (!keep) console.error('  To look closer: landfast demo --keep');
  return EXIT.failed;
}

/** Signals that end the demo; while the run goes on, it answers them in its own way as well. */
class StopSignals implements Disposable {
  #caught: StopName | null = null;
  readonly #stop = new AbortController();
  readonly #listener = (name: StopName): void => {
    this.#caught ??= name;
    this.#stop.abort(name);
  };

  constructor() {
    for (const name of notIgnored(...STOP_NAMES)) process.on(name, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get exitCode(): number | null {
    return this.#caught === null ? null : 128 + constants.signals[this.#caught];
  }

  [Symbol.dispose](): void {
    for (const name of STOP_NAMES) process.off(name, this.#listener);
  }
}

const STOP_NAMES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopName = (typeof STOP_NAMES)[number];

/**
 * `landfast demo`: run a sample plan in a throwaway repository; no account, no network.
 *
 *   D1. The plan is loaded and run by the code behind `landfast run`, so the demo cannot differ.
 *   D2. The folder is removed however the demo ends, Ctrl-C included, unless `--keep` was given.
 *   D3. Exit 0 means that all went as designed: with scripted agents the retry, the overlap and the
 *       catch too; with a real agent that everything landed.
 */

import { writeFile } from 'node:fs/promises';
import { agentNamed } from '../../app/agents.ts';
import { fillRepository, historyOf, makeFolder } from '../../app/demo/repository.ts';
import { deviations, type Story, storyOf } from '../../app/demo/story.ts';
import { openingText, resultText, type Telling } from '../../app/demo/tell.ts';
import { loadPlan } from '../../app/load-plan.ts';
import { entriesOf, viewRun } from '../../app/runs.ts';
import { assert } from '../../base/assert.ts';
import { reportMarkdown } from '../../report/markdown.ts';
import { shellWord } from '../../report/sanitize.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { startRun } from '../terminal/drive.ts';
import { placeAt, terminalHost } from '../terminal/host.ts';
import { outputInk } from '../terminal/output.ts';
import { signalExitCode, untilSignalled } from '../terminal/signals.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('demo')
    .description('run a sample plan in a throwaway repository; no account, no network')
    .option('--keep', 'keep the folder afterwards')
    .option('--agent <name>', 'use a real agent instead of the scripted ones')
    .action(wrap((options) => demo(options)));
}

interface DemoFlags {
  readonly keep?: boolean;
  readonly agent?: string;
}

async function demo({ keep = false, agent = 'shell' }: DemoFlags): Promise<number> {
  const { prose } = agentNamed(agent, terminalHost()).can;
  return await untilSignalled(['SIGINT', 'SIGTERM', 'SIGHUP'], 'on', async (signal) => {
    const folder = await makeFolder();
    const telling: Telling = { folder, keep, agent: prose ? agent : null, ink: outputInk() };
    try {
      process.stdout.write(openingText(telling));
      await fillRepository(folder, { agent, prose, tests: testCommand() }, signal);
      return await runAndTell(telling, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const state = keep ? 'kept' : 'removed';
      console.error(`landfast: the demo was interrupted; its folder is ${state}.`);
      return signalExitCode(signal.reason);
    } finally {
      if (!keep) await folder.remove();
    }
  });
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

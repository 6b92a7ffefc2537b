/**
 * A run in this process as its user sees it: the screen, the signals, the summary, the exit code.
 * Or in the background, where the user asks for that.
 */

import { executable } from '../../app/agents.ts';
import { type Execution, execute, type RunOptions } from '../../app/execute.ts';
import type { Place } from '../../app/place.ts';
import { type NewPlan, newRun } from '../../app/start-run.ts';
import { exitCodeOf } from '../../report/summary.ts';
import { whileExecuting } from '../boot/executing.ts';
import { type LimitFlags, limitsFrom } from '../options.ts';
import { checkDetach, detach } from './detach.ts';
import { checkProfile, checkReport, openProfile } from './run-files.ts';
import { openScreen } from './screen.ts';
import { Signals } from './signals.ts';
import { tell } from './tell.ts';

/** How a run is executed and shown: the flags of `howToRun` (cli/options.ts). */
export interface HowToRun extends LimitFlags {
  readonly projectDir: string;
  readonly claudeExe?: string;
  readonly keepWorktrees?: boolean;
  readonly report?: string;
  readonly profile?: string;
  readonly dashboard?: boolean;
  readonly events?: boolean;
  readonly quiet?: boolean;
  readonly logDir?: string;
  readonly detach?: boolean;
  /** False for `--no-log`. */
  readonly log: boolean;
}

/** The flags that the engine heeds; paths no longer depend on the folder they were given in. */
export function optionsOf(how: HowToRun): RunOptions {
  const { claudeExe, logDir } = how;
  const claude = executable(claudeExe);
  return {
    limits: limitsFrom(how),
    programs: claude === null ? {} : { claude },
    keepWorkspaces: how.keepWorktrees === true,
    log: how.log,
    ...(logDir === undefined ? {} : { logDir }),
  };
}

/** Refuses flags that could not be followed later. */
export function checkHow(how: HowToRun): void {
  checkDetach(how);
  checkReport(how.report);
  checkProfile(how.profile);
}

/** Starts a new run of a plan; the answer is its exit code. */
export async function startRun(
  plan: NewPlan,
  place: Place,
  how: HowToRun,
  signal: AbortSignal,
): Promise<number> {
  checkHow(how);
  const host = how.quiet === true ? { ...place.host, warn: () => undefined } : place.host;
  const execution = await newRun(plan, { ...place, host }, optionsOf(how), signal);
  return await driveRun({ ...execution, place }, how);
}

/** Executes a run here, or leaves it to the background; the answer is the exit code. */
export async function driveRun(execution: Execution, how: HowToRun): Promise<number> {
  if (how.detach === true) return detach(execution, how);
  return whileExecuting(() => driveHere(execution, how));
}

async function driveHere(execution: Execution, how: HowToRun): Promise<number> {
  const { run, before, place } = execution;
  const { events = false, quiet = false } = how;
  const dashboard = how.dashboard ?? (process.stderr.isTTY === true && !quiet);
  const screen = openScreen({ run, before, dashboard, events, quiet });
  using signals = new Signals((text) => screen.say(text));
  const profile = openProfile(how.profile);
  let isOpen = true;
  const closeScreen = (): void => {
    if (isOpen) screen.close();
    isOpen = false;
  };
  const attended = place.host.attended && !quiet;
  const host = { ...place.host, attended, warn: (text: string) => screen.say(`landfast: ${text}`) };
  try {
    const state = await execute(
      { ...execution, place: { ...place, host } },
      {
        recorded: screen.recorded,
        heard: screen.heard,
        say: screen.say,
        commands: () => signals.take(),
        force: signals.force,
        bell: process.stderr.isTTY === true ? () => void process.stderr.write('\x07') : null,
        onSpan: profile.onSpan,
        ended: async (state, kept) => {
          closeScreen();
          await tell({ place, run, how }, state, profile.close(run));
          if (kept.length > 0) console.error('Workspaces are kept:');
          for (const { task, path: at } of kept) console.error(`  ${task}: ${at}`);
        },
      },
    );
    const isCutOff = state.outcome === 'interrupted' || state.outcome === null;
    return signals.exitCode !== null && isCutOff ? signals.exitCode : exitCodeOf(state);
  } finally {
    closeScreen();
  }
}

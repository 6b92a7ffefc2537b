/**
 * Gates that cannot be trusted: a broken one is blamed itself, not the work; flaky and quarantined
 * ones are named in summary and report.
 *
 *     Gate tests cannot run, not even on the base: the gate is broken, not the work.
 *         $ npmm test  (exit code 127)
 *         | sh: 1: npmm: not found
 *         Full output: landfast logs basket --gate tests
 */

import { type BrokenGate, couldNotRun } from '../model/gate.ts';
import type { Sha } from '../model/plan.ts';
import type { GateRun, RunState } from '../model/state.ts';
import { failedCommand, failedCommandLines, SHOWN_LINES } from './failed-command.ts';
import { type Ink, nameList, PLAIN_INK, shortSha } from './format.ts';
import { resumeCommand } from './remedy.ts';
import { brief } from './sanitize.ts';

const GO_ON =
  'The work is kept and no attempt is used up. Fix what the gate needs, or the base, and resume:';
const OTHER_PLAN =
  'Or fix the plan (end a paused run first); `base: red` on a gate expects red on the base:';

export function brokenText({ gate, why }: Pick<BrokenGate, 'gate' | 'why'>): string {
  const name = `Gate ${brief(gate, 60)}`;
  return why === 'red'
    ? `${name} is red on the base too, and has been green on nothing: the gate is broken, not the work.`
    : `${name} cannot run, not even on the base: the gate is broken, not the work.`;
}

/** Empty if no gate is broken. */
export function brokenLines(
  { broken }: RunState,
  info: { readonly run: string; readonly ink?: Ink; readonly most?: number },
): string[] {
  const { run, ink = PLAIN_INK, most = SHOWN_LINES } = info;
  if (broken === null) return [];
  const failure = { ...broken, kind: 'gate-failed', message: '', landedSince: [] } as const;
  const what = failedCommand(failure, broken.task);
  const again = resumeCommand(run);
  const below = [
    ...failedCommandLines(what, most),
    GO_ON,
    ink.paint('accent', again),
    OTHER_PLAN,
    ink.paint('accent', `${again} --plan FILE`),
  ];
  return [ink.paint('bad', brokenText(broken)), ...below.map((line) => `    ${line}`)];
}

export function brokenJson({ broken }: RunState) {
  if (broken === null) return null;
  const { gate, why, command, exitCode, output } = broken;
  return { gate, why, message: brokenText(broken), command, exit_code: exitCode, output };
}

/** Gates that were red and green on the same trees (`flaky`), or red in quarantine, and how often. */
export function unreliableGates(state: RunState) {
  const runs = [...state.tasks.values()]
    .flatMap((task) => task.gates)
    .filter(({ spared }) => spared === undefined);
  const names = [...new Set(runs.map(({ gate }) => gate))];
  return names
    .map((gate) => {
      const own = runs.filter((run) => run.gate === gate);
      const command = state.plan.gates.find(({ name }) => name === gate)?.run;
      const quarantined = own.filter((run) => run.quarantined === true).length;
      return { gate, flaky: flakyTrees(own, command), quarantined };
    })
    .filter(({ flaky, quarantined }) => flaky.length > 0 || quarantined > 0);
}

export function unreliableText(state: RunState): readonly string[] {
  return unreliableGates(state).flatMap(({ gate, flaky, quarantined }) => {
    const name = `Gate ${brief(gate, 60)}`;
    const trees = nameList(flaky.map(shortSha));
    const times = quarantined === 1 ? 'once' : `${quarantined} times`;
    const red = `it was red ${times}, which did not count`;
    return [
      ...(flaky.length > 0 ? [`${name} is flaky: red and green on ${trees}.`] : []),
      ...(quarantined > 0 ? [`${name} is in quarantine: ${red}.`] : []),
    ];
  });
}

/** Red from another command (an edited plan) or a command that could not run does not count. */
function flakyTrees(runs: readonly GateRun[], command: string | undefined): readonly Sha[] {
  const green = new Set(runs.filter(({ ok }) => ok).map(({ tree }) => tree));
  const red = runs.filter((run) => {
    const isSame = run.command === undefined || run.command === command;
    return !run.ok && isSame && !couldNotRun(run.exitCode);
  });
  return [...new Set(red.map(({ tree }) => tree).filter((tree) => green.has(tree)))];
}

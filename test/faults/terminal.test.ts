/** Ctrl-C on a real terminal: what happens to agents, to the terminal, and what the user is told. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { CTRL_C, hasScript, onTerminal } from '../support/terminal.ts';
import { expectResumed, make, runOf, untilMade, WAITS } from './scene.ts';

/** Runs the plan on a terminal, with the live view; afterwards the terminal tells its settings. */
function runOnTerminal(repo: TempRepo) {
  const plan = nativePlan({ tasks: { one: `echo 1 > one.txt; ${WAITS}` } });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  return onTerminal(repo, ['run', '../plan.yaml'], 'stty -a');
}

/** The cursor is visible, lines wrap, and input is echoed and edited by lines. */
function expectSane(text: string): void {
  const switched = [...text.matchAll(/\x1b\[\?(25|7)([hl])/g)];
  const last = new Map(switched.map(([, mode, to]) => [mode, to]));
  expect([...last].filter(([, to]) => to !== 'h')).toEqual([]);
  expect(text).toMatch(/[^-]icanon/);
  expect(text).toMatch(/[^-]echo\b/);
}

test.runIf(hasScript)(
  'the second Ctrl-C ends agents and keeps their work; the terminal is as it was, and a line says how to go on',
  async () => {
    await using repo = await tempRepo();
    const { shown, type } = runOnTerminal(repo);
    await untilMade(repo, 'up');
    type(CTRL_C);
    await shown.until(({ stdout }) => stdout.includes('Press Ctrl-C again to end them'));
    type(CTRL_C);
    const { stdout } = await shown.ended;
    expect(stdout).toContain('code=130');
    expect(stdout).toContain('\x1b[?25l'); // The live view was there.
    expectSane(stdout);
    const run = runOf(repo);
    expect(stdout).toContain(`landfast resume ${run}`);
    expect(marked(`${run}/`)).toEqual([]);
    make(repo, 'go');
    await expectResumed(repo, ['one.txt']);
  },
);

test.runIf(hasScript)('the first Ctrl-C lets them finish; the terminal is as it was', async () => {
  await using repo = await tempRepo();
  const { shown, type } = runOnTerminal(repo);
  await untilMade(repo, 'up');
  type(CTRL_C);
  await shown.until(({ stdout }) => stdout.includes('Press Ctrl-C again to end them'));
  make(repo, 'go');
  const { stdout } = await shown.ended;
  expect(stdout).toContain('code=130');
  expectSane(stdout);
  expect(stdout).toContain(`landfast resume ${runOf(repo)}`);
  await expectResumed(repo, ['one.txt']);
});

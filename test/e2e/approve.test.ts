/** `land.publish: ask`: what has landed reaches the target when a person approves it. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { liveRun } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';
import { hasScript, onTerminal } from '../support/terminal.ts';

const ASK = { land: { publish: 'ask' } } as const;

test('without a person at the terminal the run ends, and approve takes it up', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  const ended = await engine.ended;
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('to main waits for your approval.');
  expect(ended.stderr).toContain(`landfast approve ${run}, or without publishing:`);
  expect(await repo.git('ls-files')).toBe('README.md');
  expect((await cli('status')).stdout).toContain(`landfast approve ${run}`);
  expect((await cli('resume')).code).toBe(1);
  expect(existsSync(join(repo.dir, 'a.txt'))).toBe(false);
  expect((await cli('approve')).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
  const again = await cli('approve');
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toContain('Nothing waits for approval.');
});

test('declined work stays on the branch of the run, and can be approved later', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  await engine.ended;
  expect((await cli('approve', '--decline')).code).toBe(0);
  expect(await repo.git('ls-tree', '--name-only', `landfast/${run}`)).toBe('README.md\na.txt');
  expect(await repo.git('ls-files')).toBe('README.md');
  expect((await cli('status')).stdout).toContain('Publishing to main was declined');
  expect((await cli('approve', run)).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
});

test('an approval that something blocks holds when the run is resumed', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await liveRun(repo, { a: 'echo 1 > a.txt' }, ASK);
  await engine.ended;
  writeFileSync(join(repo.dir, 'a.txt'), 'mine\n');
  expect((await cli('approve')).code).toBe(1);
  await repo.git('stash', '--include-untracked', '--quiet');
  expect((await cli('resume')).code).toBe(0);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
});

describe.runIf(hasScript)('at a terminal the run waits', () => {
  test.each([
    { view: 'dashboard', answer: 'approve', files: 'README.md\na.txt' },
    { view: 'dashboard', answer: 'approve --decline', files: 'README.md' },
    { view: 'no-dashboard', answer: 'approve', files: 'README.md\na.txt' },
    { view: 'no-dashboard', answer: 'approve --decline', files: 'README.md' },
  ])('($view), and ends once it is answered: $answer', async ({ view, answer, files }) => {
    const flags = view === 'dashboard' ? [] : ['--no-dashboard'];
    await using repo = await tempRepo();
    const plan = nativePlan({ ...ASK, tasks: { a: 'echo 1 > a.txt' } });
    writeFileSync(join(repo.outside, 'plan.yaml'), plan);
    const { shown } = onTerminal(repo, ['run', '../plan.yaml', ...flags]);
    await shown.until(({ stdout }) => stdout.includes('waits for your approval: landfast approve'));
    const cli = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
    expect((await cli('status')).stdout).toContain('waits for your approval');
    expect(await repo.git('ls-files')).toBe('README.md');
    expect(shown.stdout).not.toContain('code=');
    expect(await cli(...answer.split(' '))).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await shown.ended;
    expect(stdout).toContain('code=0');
    expect(stdout.includes('declined')).toBe(answer.includes('decline'));
    expect(await repo.git('ls-files')).toBe(files);
    expect((await cli('status', '--json')).stdout).toContain('"outcome": "succeeded"');
  });
});

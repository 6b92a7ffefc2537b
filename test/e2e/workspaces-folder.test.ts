/** A folder that cannot hold workspaces: refused before anything begins. */

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const TASKS = { tasks: { one: 'echo 1 > a.txt' } };

test.each([
  ['/proc/x', 'ENOENT'],
  ['/proc/x/y/z', 'ENOENT'],
  ['../file', 'ENOTDIR'],
  ['../file/below', 'ENOTDIR'],
  ['.git/trees', 'it is in the git directory'],
])('workspace.dir: %s', async (dir, why) => {
  await using repo = await tempRepo();
  writeFileSync(join(repo.outside, 'file'), '');
  const run = await runPlan(repo, { ...TASKS, more: { workspace: { dir } } });
  expect(run).toMatchObject({ code: 3, facts: [] });
  expect(run.stderr).toContain(`(workspace.dir: ${dir}): `);
  expect(run.stderr).toContain(why);
  expect(run.stderr).toContain('Set workspace.dir to a folder that you may write to');
});

test('a folder that is not there yet is fine, and trying it leaves nothing behind', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { ...TASKS, more: { workspace: { dir: '../some/where' } } });
  expect(run).toMatchObject({ code: 0 });
  expect(readdirSync(repo.outside).filter((name) => name.startsWith('.landfast'))).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a report, logs and state in /proc are refused, and nothing spins',
  async () => {
    await using repo = await tempRepo();
    const report = await runPlan(repo, TASKS, { args: ['--report', '/proc/x/report.md'] });
    expect(report).toMatchObject({ code: 2, stderr: expect.stringContaining('/proc/x/report.md') });
    const chatty = { tasks: { one: 'echo hello; echo 1 > a.txt' } };
    const logs = await runPlan(repo, chatty, { args: ['--log-dir', '/proc/x/logs'] });
    expect(logs).toMatchObject({ code: 0, stderr: expect.stringContaining('/proc/x/logs') });
    const look = { tasks: { look: { read_only: true, prompt: 'true' } } };
    writeFileSync(join(repo.outside, 'look.yaml'), nativePlan(look));
    const env = { XDG_STATE_HOME: '/proc/x' };
    const state = await landfast(['run', 'look.yaml'], { cwd: repo.outside, env });
    expect(state).toMatchObject({ code: 3, stderr: expect.stringContaining('/proc/x') });
  },
);

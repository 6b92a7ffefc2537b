/** Looking at spawned agents and collecting what they did, as users of claude-orchestra want to. */

import { expect, test } from 'vitest';
import { start } from '../support/landfast.ts';
import { orchestraProject, waitFor } from './orchestra-project.ts';

const SLOW = `${waitFor()}; echo 1 > slow.txt; echo "slow is done"`;

// Fix: another process than the one that had spawned found nothing to collect, whatever happened.
test('R32: what is over is collected from another process, again and again', async () => {
  const scripts = {
    slow: SLOW,
    'add quick': 'echo 1 > quick.txt; echo "quick is done"',
    bad: 'exit 3',
  };
  await using project = await orchestraProject({ scripts });
  await project.spawn('slow work', 'add quick', 'bad luck', '--detach');
  const waiting = start(['collect', '--wait', '--json'], { cwd: project.dir });
  await waiting.until(({ stderr }) => /add-quick.*landed|landed.*add-quick/i.test(stderr));
  const early = JSON.parse((await project.cli('collect', '--json')).stdout);
  const quick = {
    task: 'add-quick',
    status: 'succeeded',
    landed: true,
    branch: null,
    failure: null,
    text: 'quick is done',
  };
  expect(early).toMatchObject({ outcome: null, live: true, total: 3 });
  expect(early.tasks.find(({ task }: { task: string }) => task === 'add-quick')).toMatchObject(
    quick,
  );
  expect((await project.cli('collect')).stdout).toContain('not over yet');
  await project.cli('cancel', 'bad-luck');
  project.release();
  const ended = await waiting.ended;
  expect(ended.code).toBe(1);
  const results = JSON.parse(ended.stdout);
  expect(results).toMatchObject({ outcome: 'failed', live: false, total: 3 });
  expect(results.tasks).toMatchObject([
    { task: 'slow-work', status: 'succeeded', landed: true, text: 'slow is done' },
    quick,
    { task: 'bad-luck', landed: false },
  ]);
  expect(results.tasks.map((one: { duration_sec: number }) => one.duration_sec >= 0)).toEqual([
    true,
    true,
    true,
  ]);
  expect(JSON.parse((await project.cli('collect', '--json')).stdout)).toEqual(results);
  expect((await project.cli('collect')).code).toBe(0);
});

test('collect without any run says so, and Ctrl-C while waiting leaves the run alone', async () => {
  await using project = await orchestraProject({ scripts: { slow: SLOW } });
  expect(await project.cli('collect')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^No run yet/),
  });
  await project.spawn('slow work', '--detach');
  const waiting = start(['collect', '-w'], { cwd: project.dir });
  await waiting.until(({ stderr }) => stderr.includes('slow-work'));
  waiting.child.kill('SIGINT');
  expect(await waiting.ended).toMatchObject({ code: 130, stdout: '' });
  expect(JSON.parse((await project.cli('status', '--json')).stdout)).toMatchObject({ live: true });
});

// Fix: it showed a frozen picture, because state was read once.
test('status --watch shows what happens while it watches', async () => {
  await using project = await orchestraProject({ scripts: { slow: SLOW } });
  await project.spawn('slow work', 'add quick', '--detach');
  const watching = start(['status', '--watch'], { cwd: project.dir });
  await watching.until(({ stdout }) => /add-quick.*landed|landed.*add-quick/i.test(stdout));
  expect(watching.stdout).not.toMatch(/slow-work.*landed as/);
  project.release();
  const ended = await watching.ended;
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/slow-work.*landed|landed.*slow-work/i);
});

// Keep for an agent that is silent; fix: every agent became stale, whatever it did.
test('R31: an agent that is silent for too long is stale, one that works is running', async () => {
  const works =
    'n=0; until [ -e "$OUT/go" ]; do n=$((n + 1)); echo $n; sleep 0.1; done; echo 1 > w.txt';
  const scripts = { works, silent: `${waitFor()}; echo 1 > s.txt` };
  const config = { branch_prefix: 'orchestra', stale_threshold: 4 };
  await using project = await orchestraProject({ scripts, config });
  await project.spawn('works hard', 'silent one', '--detach');
  const states = async () => {
    const { tasks } = JSON.parse((await project.cli('status', '--json')).stdout);
    return tasks.map(({ state }: { state: string }) => state);
  };
  let now = await states();
  while (now[1] !== 'stale') now = await states();
  expect(now).toEqual(['running', 'stale']);
  expect((await project.cli('status')).stdout).toMatch(/silent-one +stale .*silent for \d/);
  project.release();
  expect((await project.cli('attach')).code).toBe(0);
});

// Fix: it was a new start in the same folder, which failed because the folder was there.
test('R40: after a pause the same agent goes on in the same worktree', async () => {
  const scripts = { slow: `echo begun > "$OUT/begun"; ${SLOW}` };
  const config = { branch_prefix: 'orchestra' };
  await using project = await orchestraProject({ scripts, config });
  await project.spawn('slow work', '--detach');
  while ((await project.read('begun')) === '') await project.cli('status');
  const worktrees = async () => JSON.parse((await project.cli('worktrees', '--json')).stdout);
  const [before] = await worktrees();
  expect((await project.cli('pause', '--suspend')).code).toBe(0);
  expect((await project.cli('status')).stdout).toMatch(/slow-work +suspended/);
  expect((await project.cli('resume')).code).toBe(0);
  expect(await worktrees()).toMatchObject([{ path: before.path, state: 'live' }]);
  project.release();
  expect((await project.cli('attach')).code).toBe(0);
  expect(await project.read('prompts')).toBe('slow work');
  expect(JSON.parse((await project.cli('collect', '--json')).stdout).tasks).toMatchObject([
    { status: 'succeeded', attempts: 1, branch: 'orchestra/slow-work' },
  ]);
});

test('R41: resuming what is not there is refused', async () => {
  await using project = await orchestraProject({ scripts: {} });
  expect((await project.spawn('do it')).code).toBe(0);
  const refused = await project.cli('resume', 'nope');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('There is no run nope.');
});

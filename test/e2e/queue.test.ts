/** `landfast queue`: the landing queue of a run, seen from another process. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, type Running, start } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { CTRL_C, hasScript, onTerminal } from '../support/terminal.ts';

/** Two branches, of which the first is in a gate until the file `go` is there. */
async function landing(repo: TempRepo): Promise<Running> {
  await repo.commit('one', { 'one.txt': '1\n' });
  await repo.commit('two', { 'two.txt': '2\n' });
  const slow = `slow=while test ! -e ${repo.outside}/go; do sleep 0.05; done`;
  const engine = start(['land', 'one', 'two', '--gate', slow, '--events'], { cwd: repo.dir });
  await engine.untilFact('gate.started', 'one');
  return engine;
}

const go = (repo: TempRepo) => writeFileSync(join(repo.outside, 'go'), '');

test('queue --watch tells who is in which gate, follows each landing, and ends with the run', async () => {
  await using repo = await tempRepo();
  const engine = await landing(repo);
  const watcher = start(['queue', '--watch'], { cwd: repo.dir });
  await watcher.until(({ stdout }) => /one +verifying .*, gate slow for /.test(stdout));
  expect(watcher.stdout).not.toContain('Landed:');
  go(repo);
  expect(await engine.ended).toMatchObject({ code: 0 });
  const { code, stdout, stderr } = await watcher.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const last = stdout.slice(stdout.lastIndexOf('Landed:'));
  expect(last).toMatch(/^Landed:\n {2}one {2}as \w{7}\n {2}two {2}as \w{7}\n$/);
});

test('a watcher ends with a way out when the engine is dead', async () => {
  await using repo = await tempRepo();
  const engine = await landing(repo);
  const watcher = start(['queue', '--watch'], { cwd: repo.dir });
  await watcher.until(({ stdout }) => stdout.includes('gate slow'));
  engine.child.kill('SIGKILL');
  const { code, stderr } = await watcher.ended;
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(
      /^No engine is driving this run\. Continue: landfast resume \S+\n$/,
    ),
  });
  go(repo);
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
});

test('once, as JSON, and for a run that is over', async () => {
  await using repo = await tempRepo();
  const engine = await landing(repo);
  const json = await landfast(['queue', '--json'], { cwd: repo.dir });
  expect(JSON.parse(json.stdout)).toMatchObject({
    verify: 'each',
    chain: [{ task: 'one', onto: null, state: 'verifying', gate: 'slow' }],
    waiting: [{ task: 'two', behind: null }],
    landed: [],
  });
  const status = await landfast(['status'], { cwd: repo.dir });
  expect(status.stdout).toMatch(
    /Landing queue: one in gate slow for .* · two waits for its turn\n/,
  );
  go(repo);
  await engine.ended;
  const over = await landfast(['queue', '--watch', '--explain'], { cwd: repo.dir });
  expect(over).toMatchObject({ code: 0 });
  expect(over.stdout).toMatch(/What happened:\n {2}one had gate slow green after /);
});

test.runIf(hasScript)(
  'on a terminal the times go on, and Ctrl-C stops watching, not the run',
  async () => {
    await using repo = await tempRepo();
    const engine = await landing(repo);
    const { shown, type } = onTerminal(repo, ['queue', '--watch']);
    const times = () => new Set(shown.stdout.match(/gate slow for [\d.]+ s/g));
    await shown.until(() => times().size > 1);
    type(CTRL_C);
    expect((await shown.ended).stdout).toContain('code=0');
    go(repo);
    expect(await engine.ended).toMatchObject({ code: 0 });
  },
);

/**
 * The user prunes the repository during a run. Whatever may still land has a ref, so git keeps all
 * of it, and no branch ever moves to a missing object.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Ended, start } from '../support/landfast.ts';
import { type LiveRun, liveRun } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { standIns } from '../support/stand-ins.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** Removes every object that no ref, index or HEAD reaches. */
const PRUNE = [
  ['reflog', 'expire', '--expire=now', '--all'],
  ['gc', '--quiet', '--prune=now'],
  ['worktree', 'prune', '--expire=now'],
] as const;

async function prune(repo: TempRepo): Promise<void> {
  for (const command of PRUNE) await repo.git(...command);
}

const waitFor = ({ outside }: TempRepo, file: string): string =>
  `until test -e ${outside}/${file}; do sleep 0.02; done`;

const go = ({ outside }: TempRepo): void => writeFileSync(join(outside, 'go'), '');

/** Everything has landed, and no object is missing. */
async function expectWhole(repo: TempRepo, { code, stderr }: Ended): Promise<void> {
  expect(code, stderr).toBe(0);
  await repo.git('fsck', '--connectivity-only');
  const files = ['README.md', 'one.txt', 'two.txt'];
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe(files.join('\n'));
  expect(await repo.git('status', '--porcelain')).toBe('');
}

/** The candidate of `one` is in the gate until the file `go` exists; that of `two` waits. */
async function waiting(repo: TempRepo): Promise<LiveRun> {
  const gate = `touch ${repo.outside}/busy; ${waitFor(repo, 'go')}`;
  const tasks = { one: 'echo 1 > one.txt', two: `${waitFor(repo, 'busy')}; echo 2 > two.txt` };
  const how = { gates: [{ name: 'slow', run: gate }], land: { verify: 'batch' } };
  const run = await liveRun(repo, tasks, how);
  await run.engine.untilFact('candidate.built', 'two');
  return run;
}

test('a candidate that waits for its gate survives', async () => {
  await using repo = await tempRepo();
  const { engine } = await waiting(repo);
  await prune(repo);
  go(repo);
  await expectWhole(repo, await engine.ended);
});

test('so does one whose engine was killed', async () => {
  await using repo = await tempRepo();
  const { engine, cli } = await waiting(repo);
  engine.child.kill('SIGKILL');
  await engine.ended;
  await prune(repo);
  go(repo);
  await expectWhole(repo, await cli('resume'));
});

test.each([
  ['a candidate', false],
  ['the merge with a target that moved', true],
])('%s survives a gate that checks out another commit', async (_, moves) => {
  await using repo = await tempRepo();
  const pruning = PRUNE.map((command) => `git -C ${repo.dir} ${command.join(' ')}`).join(' && ');
  const gate = `test ! -e two.txt || { git checkout -q HEAD^ && ${pruning}; }`;
  const one = `${waitFor(repo, 'go')}; echo 1 > one.txt${moves ? '' : '; echo 2 > two.txt'}`;
  const { engine } = await liveRun(repo, { one }, { gates: [{ name: 'compares', run: gate }] });
  if (moves) await repo.commit('main', { 'two.txt': '2\n' });
  go(repo);
  await expectWhole(repo, await engine.ended);
});

test('the workspace of a running agent and what it staged survive', async () => {
  await using repo = await tempRepo();
  const claude = `echo 1 > one.txt; git add one.txt; hello; ${waitFor(repo, 'go')}
    git commit -qm One && echo 2 > two.txt && result '"is_error":false'`;
  const plan = nativePlan({ tasks: { one: { agent: 'claude', prompt: 'Do it.' } } });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const env = standIns(repo, { claude });
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir, env });
  await engine.untilFact('attempt.session', 'one');
  await prune(repo);
  go(repo);
  await expectWhole(repo, await engine.ended);
});

/** `landfast logs`: what agents, gates, checks and set-up said, and the screens that tell of it. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** Green on the base. */
const TESTS =
  'test -e one.txt || exit 0; echo "> shop@1.0.0 test"; seq -f "ok %g" 1 50; ' +
  'echo "AssertionError: 3 == 4"; seq -f "later %g" 1 50; echo 1 failing; exit 3';

const RED = {
  gates: [{ name: 'tests', run: TESTS }],
  land: { on_gate_failure: 'fail' },
  tasks: { one: 'echo 1 > one.txt' },
};

/** Writes its file once the other task has begun, too: neither starts from the other's work. */
const together = ({ outside }: TempRepo, own: string, other: string): string =>
  `touch ${outside}/${own}; until test -e ${outside}/${other}; do sleep 0.05; done; ` +
  `echo 1 > ${own}.txt`;

const cli = (repo: TempRepo, ...args: readonly string[]) => landfast(args, { cwd: repo.dir });

test('the output of a red gate is on every screen, with its command and exit code', async () => {
  await using repo = await tempRepo();
  const plan = join(repo.outside, 'plan.yaml');
  writeFileSync(plan, nativePlan(RED));
  const report = join(repo.outside, 'report.md');
  const run = await cli(repo, 'run', plan, '--report', report);
  expect(run.code).toBe(1);
  const queue = await cli(repo, 'queue');
  const collect = await cli(repo, 'collect');
  const status = await cli(repo, 'status');
  const screens = {
    ...{ plain: run.stderr, summary: run.stdout, report: readFileSync(report, 'utf8') },
    ...{ queue: queue.stdout, collect: collect.stdout, status: status.stdout },
  };
  for (const [name, text] of Object.entries(screens)) {
    expect(text, name).toMatch(/\$ test -e one\.txt .*\(exit code 3\)/);
    expect(text, name).toMatch(/\| ok 49\n *\| ok 50\n *\| AssertionError: 3 == 4\n *\| later 1\n/);
    expect(text, name).toMatch(/\| …\n *\| later 49\n *\| later 50\n *\| 1 failing\n/);
    expect(text, name).toContain('landfast logs one --gate tests');
    expect(text, name).not.toMatch(/\| > shop/);
  }
  expect(run.stderr.match(/AssertionError: 3 == 4\n/g)).toHaveLength(1); // It was red twice.
  const failed = { exit_code: 3, command: TESTS, logs: 'landfast logs one --gate tests' };
  const [task] = JSON.parse((await cli(repo, 'status', '--json')).stdout).tasks;
  expect(task.failed).toMatchObject(failed);
  expect(task.failed.lines).toHaveLength(15);
  const [result] = JSON.parse((await cli(repo, 'collect', '--json')).stdout).tasks;
  expect(result.failed).toMatchObject(failed);
});

test('so is what a failed check and a failed set-up printed', async () => {
  await using repo = await tempRepo();
  const checked = { prompt: 'echo 1 > one.txt', checks: ['echo looks bad; exit 4'] };
  await runPlan(repo, { tasks: { one: checked } });
  expect((await cli(repo, 'status')).stdout).toMatch(
    /\$ echo looks bad; exit 4 {2}\(exit code 4\)\n *\| looks bad\n *Full output: landfast logs one --checks/,
  );
  const setup = ['echo no network >&2; exit 7'];
  await runPlan(repo, { more: { workspace: { setup } }, tasks: { one: 'echo 2 > one.txt' } });
  expect((await cli(repo, 'collect')).stdout).toMatch(
    /\$ echo no network >&2; exit 7 {2}\(exit code 7\)\n *\| no network\n *Full output: landfast logs one --setup/,
  );
  expect((await cli(repo, 'logs', 'one', '--setup')).stdout).toMatch(
    /^\$ echo no network >&2; exit 7\nno network\n\(exit code 7, [\d.]+ s\)\n$/,
  );
});

test('logs --gate shows all of it: of the task, of one gate, of a candidate', async () => {
  await using repo = await tempRepo();
  const gates = [{ name: 'lint', run: 'echo clean' }, ...RED.gates];
  const run = await runPlan(repo, { ...RED, gates });
  const [built] = run.of('candidate.built', 'one');
  const all = (await cli(repo, 'logs', 'one', '--gate')).stdout;
  expect(all).toMatch(
    /^── gate lint on one, tree \w{7}, [\d:]+, green after .* ──\n\$ echo clean\nclean\n/,
  );
  expect(all).toMatch(/── gate tests on one, .*, red after .* ──\n\$ test -e one\.txt/);
  const one = (await cli(repo, 'logs', 'one', '--gate', 'tests')).stdout;
  expect(one).not.toContain('clean');
  expect(one).toMatch(
    /ok 1\n(?:ok \d+\n){49}AssertionError: 3 == 4\n(?:later \d+\n){50}1 failing\n/,
  );
  const candidate = ['--candidate', built!.commit.slice(0, 10)];
  expect((await cli(repo, 'logs', '--gate', 'tests', ...candidate)).stdout).toBe(one);
  expect(await cli(repo, 'logs', 'one', '--gate', 'typo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It has: setup, lint, tests.'),
  });
  expect(await cli(repo, 'logs')).toMatchObject({ code: 2 });
  expect(await cli(repo, 'logs', 'one', '--gate', '--json')).toMatchObject({ code: 2 });
});

test('logs TASK --gate shows the combination that was red, not the look at the work alone', async () => {
  await using repo = await tempRepo();
  const both =
    'test -e a.txt && test -e b.txt && { echo both are here; exit 1; }; echo one is here';
  const run = await runPlan(repo, {
    gates: [{ name: 'tests', run: both }],
    land: { on_gate_failure: 'fail' },
    tasks: { a: together(repo, 'a', 'b'), b: together(repo, 'b', 'a') },
  });
  const red = ['a', 'b'].find((task) => run.failure(task) !== undefined) ?? '';
  const alone = run.of('gate.finished', red).find(({ on }) => on === 'alone');
  const { stdout } = await cli(repo, 'logs', red, '--gate', 'tests');
  expect(stdout).toContain('\nboth are here\n');
  expect(stdout).not.toContain('\none is here\n');
  const other = await cli(repo, 'logs', '--gate', '--candidate', alone?.tree ?? 'none');
  expect(other.stdout).toContain('\none is here\n');
});

test('logs --gate -f shows what a gate prints while it runs', async () => {
  await using repo = await tempRepo();
  const go = join(repo.outside, 'go');
  const gate = `echo begun; while ! test -e ${go}; do sleep 0.05; done; echo at last`;
  const plan = join(repo.outside, 'plan.yaml');
  const gates = [{ name: 'tests', run: gate }];
  writeFileSync(plan, nativePlan({ gates, tasks: { one: 'echo 1 > one.txt' } }));
  const running = start(['run', plan, '--events'], { cwd: repo.dir });
  await running.untilFact('gate.started');
  const following = start(['logs', 'one', '--gate', 'tests', '-f'], { cwd: repo.dir });
  await following.until(({ stdout }) => stdout.includes('begun\n'));
  expect(existsSync(go)).toBe(false);
  writeFileSync(go, '');
  const { code, stdout } = await following.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/begun\nat last\n\(exit code 0, [\d.]+ s\)\n$/);
  expect(await running.ended).toMatchObject({ code: 0 });
});

test('logs --setup -f shows what set-up prints while it runs', async () => {
  await using repo = await tempRepo();
  const go = join(repo.outside, 'go');
  const setup = [`echo fetching; while ! test -e ${go}; do sleep 0.05; done; echo fetched`];
  const plan = join(repo.outside, 'plan.yaml');
  const more = { workspace: { setup } };
  writeFileSync(plan, nativePlan({ more, tasks: { one: 'echo 1 > one.txt' } }));
  const running = start(['run', plan, '--events'], { cwd: repo.dir });
  await running.untilFact('attempt.started');
  const following = start(['logs', 'one', '--setup', '-f'], { cwd: repo.dir });
  await following.until(({ stdout }) => stdout.includes('fetching\n'));
  writeFileSync(go, '');
  expect((await following.ended).stdout).toMatch(/fetching\nfetched\n\(exit code 0, [\d.]+ s\)\n$/);
  expect(await running.ended).toMatchObject({ code: 0 });
});

test('an attempt has a header, its output and its end; --prompt shows what it was told', async () => {
  await using repo = await tempRepo();
  const script = 'echo working\necho 1 > one.txt';
  await runPlan(repo, { tasks: { one: script } });
  expect((await cli(repo, 'logs', 'one')).stdout).toMatch(
    /^── one, attempt 1: shell, [\d:]+ ──\nworking\n── [\d:]+, after .*: finished, 1 file ──\n$/,
  );
  expect((await cli(repo, 'logs', 'one', '--raw')).stdout).toBe('working\n');
  expect((await cli(repo, 'logs', 'one', '--prompt')).stdout).toBe(`${script}\n`);
});

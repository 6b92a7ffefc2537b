/** A run that is told to end, with plain commands as agents: what becomes of them and their work. */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { marked } from '../../src/process/process-tree.ts';
import { BIN, bareEnv, Running } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const TASKS = {
  script: waiting('script'),
  program: { agent: 'command', command: ['sh', '-c', waiting('program')], prompt: 'x' },
  next: 'echo next > next.txt',
};
const FILES = ['next.txt', 'program.txt', 'script.txt'];

/** Waits for the work of the two tasks that run; the third has no slot. */
async function untilBusy(repo: TempRepo, run: string): Promise<readonly string[]> {
  const files = ['script', 'program'].map((task) =>
    join(repo.outside, 'repo.worktrees', run, task, `${task}.txt`),
  );
  while (!files.every(existsSync)) await new Promise((wake) => setTimeout(wake, 20));
  return files;
}

const tasksBegun = ({ entries }: Running): readonly string[] =>
  entries.flatMap(({ event }) => (event.type === 'attempt.started' ? event.task : []));

/** Everything lands, each once, and nothing is left of the run. */
async function expectResumed(repo: TempRepo, cli: LiveCli, run: string): Promise<void> {
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await cli('resume', run)).toMatchObject({ code: 0 });
  const names = (await repo.git('ls-tree', '--name-only', 'main')).split('\n');
  expect(names).toEqual(['README.md', ...FILES]);
  const subjects = (await repo.git('log', '--first-parent', '--format=%s', 'main')).split('\n');
  expect(subjects.sort()).toEqual(['Change', 'Land next', 'Land program', 'Land script']);
  expect(marked(`${run}/`)).toEqual([]);
}

type LiveCli = Awaited<ReturnType<typeof liveRun>>['cli'];

test('SIGTERM ends agents at once, keeps their work, and says how to go on: exit 143', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, TASKS);
  const files = await untilBusy(repo, run);
  engine.child.kill('SIGTERM');
  const ended = await engine.ended;
  expect(ended).toMatchObject({ code: 143, signal: null });
  expect(ended.stderr).toContain('SIGTERM: Ending agents, keeping their work.');
  expect(ended.stderr).toContain(`landfast resume ${run}`);
  expect(marked(`${run}/`)).toEqual([]); // Their daemons, too.
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['script\n', 'program\n']);
  expect([...tasksBegun(engine)].sort()).toEqual(['program', 'script']);
  const failures = engine.entries.flatMap(({ event }) =>
    event.type === 'attempt.failed' ? event.failure.kind : [],
  );
  expect(failures).toEqual(['interrupted', 'interrupted']);
  await expectResumed(repo, cli, run);
});

test('after the first Ctrl-C nothing new begins; the second ends what runs, with its work kept', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, TASKS);
  const files = await untilBusy(repo, run);
  engine.child.kill('SIGINT');
  await engine.untilFact('run.stopping');
  expect(marked(`${run}/`).length).toBeGreaterThanOrEqual(2); // They may finish.
  engine.child.kill('SIGINT');
  const ended = await engine.ended;
  expect(ended).toMatchObject({ code: 130, signal: null });
  expect(ended.stderr).toContain(`landfast resume ${run}`);
  expect(marked(`${run}/`)).toEqual([]);
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['script\n', 'program\n']);
  expect([...tasksBegun(engine)].sort()).toEqual(['program', 'script']);
  await expectResumed(repo, cli, run);
});

test('the third Ctrl-C leaves at once, also an agent that hears no signal; the run goes on later', async () => {
  await using repo = await tempRepo();
  const deaf = `trap '' INT TERM\n${waiting('script')}`;
  const { engine, cli, run } = await liveRun(repo, { ...TASKS, script: deaf });
  await untilBusy(repo, run);
  engine.child.kill('SIGINT');
  await engine.until(({ stderr }) => stderr.includes('Press Ctrl-C again to end them.'));
  engine.child.kill('SIGINT');
  await engine.until(({ stderr }) => stderr.includes('Press Ctrl-C again to exit at once.'));
  engine.child.kill('SIGINT');
  expect(await engine.ended).toMatchObject({ code: 130, signal: null });
  // They were killed, but the system may not have removed them yet.
  while (marked(`${run}/`).length > 0) await new Promise((wake) => setTimeout(wake, 20));
  await expectResumed(repo, cli, run);
});

/** Starts a run as a shell starts an installed program, after what `first` says. */
function startedBy(repo: TempRepo, first: string): Running {
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { one: waiting('one') } }));
  const env = bareEnv(repo.outside);
  const PATH = `${dirname(process.execPath)}${delimiter}${env.PATH}`;
  const child = spawn('sh', ['-c', `${first} "$@"`, 'sh', BIN, 'run', '../plan.yaml', '--events'], {
    cwd: repo.dir,
    env: { ...env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Running(child);
}

test('`nohup landfast run` outlives the hang-up, and still hears SIGTERM', async () => {
  await using repo = await tempRepo();
  const engine = startedBy(repo, 'exec nohup');
  await engine.untilFact('attempt.started');
  engine.child.kill('SIGHUP');
  engine.child.kill('SIGTERM');
  const ended = await engine.ended;
  expect(ended).toMatchObject({ code: 143, signal: null });
  expect(ended.stderr).not.toContain('SIGHUP');
});

test('signals that were ignored at the start change nothing; the run comes to its end', async () => {
  await using repo = await tempRepo();
  const engine = startedBy(repo, "trap '' HUP INT TERM; exec");
  await engine.untilFact('attempt.started');
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) engine.child.kill(name);
  writeFileSync(join(repo.outside, 'go'), '');
  expect(await engine.ended).toMatchObject({ code: 0 });
  expect(engine.entries.some(({ event }) => event.type === 'run.stopping')).toBe(false);
});

test('a shell that ignores nothing starts a run that a hang-up ends: exit 129', async () => {
  await using repo = await tempRepo();
  const engine = startedBy(repo, 'exec');
  await engine.untilFact('attempt.started');
  engine.child.kill('SIGHUP');
  expect(await engine.ended).toMatchObject({ code: 129, signal: null });
});

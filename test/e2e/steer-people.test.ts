/** What a person says to single tasks of a run: stand still, take this note, answer this review. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, type Running } from '../support/landfast.ts';
import { liveRun, waiting } from '../support/live-run.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { TOO_SHORT, withLimit } from '../support/time-limit.ts';

const touch = (repo: TempRepo, name: string): void => writeFileSync(join(repo.outside, name), '');

/** An agent that keeps what it was told as `told.<task>.<attempt>`, and then runs a script. */
const agent = (script: string) => ({
  agent: 'command',
  command: ['sh', '-c', `cat > ../../../told.$LANDFAST_TASK.$LANDFAST_ATTEMPT\n${script}`],
});

const told = (repo: TempRepo, what: string): string =>
  readFileSync(join(repo.outside, `told.${what}`), 'utf8');

const UNTIL_GO = 'while test ! -e ../../../go; do sleep 0.05; done';

async function tooShort({ child, ended }: Running): Promise<typeof TOO_SHORT> {
  child.kill('SIGTERM');
  await ended;
  return TOO_SHORT;
}

const hasFailed = ({ entries }: Running): boolean =>
  entries.some(({ event }) => event.type === 'attempt.failed');

test('a paused task stands still, past its time limit, and the run waits for it', () =>
  withLimit(5_000, async (limitMs) => {
    await using repo = await tempRepo();
    const { engine, cli, run } = await liveRun(repo, {
      slow: { prompt: waiting('slow'), timeout: `${limitMs / 1_000}s` },
      other: 'echo 1 > other.txt',
      after: { prompt: 'echo 1 > after.txt', needs: ['slow'] },
    });
    while (!(await cli('logs', 'slow')).stdout.includes('working'));
    const paused = await cli('pause', 'slow', 'after', '--json');
    if (hasFailed(engine)) return tooShort(engine);
    expect(JSON.parse(paused.stdout)).toEqual({ run, tasks: ['slow', 'after'], paused: true });
    await engine.untilFact('merge.landed', 'other');
    await new Promise((resolve) => setTimeout(resolve, limitMs + 500));
    const status = await cli('status');
    expect(status.stdout).toMatch(/slow +paused .* halted/);
    expect(status.stdout).toContain(
      'Paused: slow, after. The run waits for that. Continue: landfast continue slow after',
    );
    touch(repo, 'go');
    expect((await cli('continue', 'slow')).stdout).toBe('slow: no longer paused.\n');
    await Promise.race([
      engine.untilFact('merge.landed', 'slow'),
      engine.untilFact('attempt.failed', 'slow'),
    ]);
    if (hasFailed(engine)) return tooShort(engine);
    expect((await cli('status')).stdout).toMatch(/after +waiting +paused/);
    await cli('continue', 'after');
    expect((await engine.ended).code).toBe(0);
    const attempts = engine.entries.filter(({ event }) => event.type === 'attempt.started');
    expect(attempts).toHaveLength(3);
    return null;
  }));

test('the pause of a task outlives its engine, and a task that is cancelled is not paused', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { one: waiting('one'), two: waiting('two') });
  while (!(await cli('logs', 'one')).stdout.includes('working'));
  await cli('pause', 'one', 'two');
  engine.child.kill('SIGKILL');
  await engine.ended;
  expect((await cli('status')).stdout).toContain('Continue: landfast continue one two');
  const resumed = landfast(['resume', run], { cwd: repo.dir });
  while ((await cli('cancel', 'two')).code !== 0);
  touch(repo, 'go');
  const status = await cli('status');
  expect(status.stdout).toContain('Continue: landfast continue one');
  expect(existsSync(join(repo.dir, 'one.txt'))).toBe(false);
  await cli('continue', 'one');
  expect((await resumed).code).toBe(1);
  expect(existsSync(join(repo.dir, 'one.txt'))).toBe(true);
});

test('names that are no task are guessed, and what is over cannot be paused', async () => {
  await using repo = await tempRepo();
  const { engine, cli, run } = await liveRun(repo, { slow: waiting('slow'), quick: 'echo 1 > q' });
  await engine.untilFact('merge.landed', 'quick');
  const unknown = await cli('pause', 'slwo');
  expect(unknown.stderr).toBe(`landfast: Run ${run} has no task slwo.\n  Did you mean slow?\n`);
  expect((await cli('pause', 'quick')).stderr).toContain('Task quick is over already: landed.');
  expect((await cli('pause', run)).stdout).toContain(`run ${run} is paused`);
  await cli('resume');
  touch(repo, 'go');
  expect((await engine.ended).code).toBe(0);
});

test('limits of a live run are set, and say what was wrong', async () => {
  await using repo = await tempRepo();
  const tasks = { one: waiting('one'), two: waiting('two'), three: waiting('three') };
  const { engine, cli, run } = await liveRun(repo, tasks, { workers: 1 });
  await engine.untilFact('attempt.started', 'one');
  const set = await cli('limit', '--max-workers', '3', '--gates', '4', '--json');
  expect(JSON.parse(set.stdout)).toEqual({ run, limits: { workers: 3, gates: 4 } });
  await engine.untilFact('attempt.started', 'three');
  expect((await cli('limit')).stderr).toContain('No limit is given.');
  expect((await cli('limit', '--gates', '0')).code).toBe(2);
  touch(repo, 'go');
  expect((await engine.ended).code).toBe(0);
  const limited = engine.entries.filter(({ event }) => event.type === 'run.limited');
  expect(limited.map(({ event }) => event)).toEqual([
    { type: 'run.limited', workers: 3, gates: 4 },
  ]);
});

test('a note reaches the agent, the journal, status and the report, without secrets', async () => {
  await using repo = await tempRepo();
  const script = 'test $LANDFAST_ATTEMPT = 1 && exit 1\necho 1 > a.txt';
  const env = { SERVICE_TOKEN: 'tok-1234567890abcdef' };
  const task = { ...agent(script), prompt: 'Do it.', retries: 0, env };
  const tasks = { a: task, shell: 'exit 1', slow: waiting('slow') };
  const { engine, cli } = await liveRun(repo, tasks, { workers: 3 });
  await engine.untilFact('task.failed', 'a');
  await engine.untilFact('task.failed', 'shell');
  const deaf = await cli('retry', 'shell', '--note', 'Please.');
  expect(deaf.stderr).toContain('Task shell is a plain command');
  const note = 'Use port 8080, and not tok-1234567890abcdef.';
  expect((await cli('retry', 'a', '--note', note)).code).toBe(0);
  await engine.untilFact('merge.landed', 'a');
  expect(told(repo, 'a.2')).toContain('# What a person asks of you\n\nUse port 8080, and not ');
  const status = await cli('status', '--json');
  const shown = JSON.parse(status.stdout) as {
    readonly tasks: readonly { readonly id: string; readonly instructions: readonly unknown[] }[];
  };
  const [instruction] = shown.tasks.find(({ id }) => id === 'a')?.instructions ?? [];
  expect(instruction).toMatchObject({ comments: [], answered_by: 2 });
  touch(repo, 'go');
  expect((await engine.ended).code).toBe(1);
  const journal = JSON.stringify(engine.entries);
  expect(journal).toContain('"note":"Use port 8080, and not ');
  for (const text of [journal, status.stdout, told(repo, 'a.2')]) {
    expect(text).not.toContain('tok-1234567890abcdef');
  }
});

test('a review takes finished work out of the queue and back to its agent', async () => {
  await using repo = await tempRepo();
  const script = `echo $LANDFAST_ATTEMPT >> a.txt`;
  const gates = [{ name: 'slow', run: 'while test ! -e ../../../go; do sleep 0.05; done' }];
  const tasks = { a: { ...agent(script), prompt: 'Do it.' } };
  const { engine, cli, run } = await liveRun(repo, tasks, { gates });
  await engine.untilFact('candidate.verifying', 'a');
  const sent = await cli(
    'comment',
    'a',
    'a.txt:1',
    'Why this?',
    'a.txt:1-2',
    'And\nthat?',
    '--json',
  );
  expect(JSON.parse(sent.stdout)).toEqual({ run, task: 'a', comments: 2 });
  await engine.untilFact('merge.withdrawn', 'a');
  touch(repo, 'go');
  expect((await engine.ended).code).toBe(0);
  expect(told(repo, 'a.2')).toContain(
    'Make the changes, or say why not:\n\n- `a.txt:1`: Why this?\n- `a.txt:1-2`: And\n  that?\n',
  );
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('1\n2\n');
  const late = await cli('comment', 'a', 'Too late.');
  expect(late).toMatchObject({ code: 2 });
  expect(late.stderr).toContain('has landed. Changes to it need a task of their own');
});

test('a review waits for the end of a running attempt, and may come from a file', async () => {
  await using repo = await tempRepo();
  const script = `echo $LANDFAST_ATTEMPT >> a.txt\n${UNTIL_GO}`;
  const { engine, cli } = await liveRun(repo, { a: { ...agent(script), prompt: 'Do it.' } });
  await engine.untilFact('attempt.started', 'a');
  const comments = [{ path: 'a.txt', line: 1, text: 'Shorter.', author: 'Ada' }];
  writeFileSync(join(repo.outside, 'review.json'), JSON.stringify(comments));
  const sent = await cli('comment', 'a', '--from', '../review.json');
  expect(sent.stdout).toBe('a: its agent gets 1 review comment when its attempt ends.\n');
  expect((await cli('status')).stdout).toContain('For a: review: a.txt:1: Shorter.');
  touch(repo, 'go');
  expect((await engine.ended).code).toBe(0);
  expect(told(repo, 'a.2')).toContain('- `a.txt:1`: Shorter. (Ada)');
  expect(readFileSync(join(repo.dir, 'a.txt'), 'utf8')).toBe('1\n2\n');
});

test('a review of a failed task takes up a run that is over', async () => {
  await using repo = await tempRepo();
  const script = 'echo $LANDFAST_ATTEMPT >> a.txt\ntest $LANDFAST_ATTEMPT = 2';
  const task = { ...agent(script), prompt: 'Do it.', retries: 0 };
  const { engine, cli } = await liveRun(repo, { a: task });
  expect((await engine.ended).code).toBe(1);
  writeFileSync(join(repo.outside, 'bad.json'), '[{"line": 1}]');
  expect((await cli('comment', 'a', '--from', '../bad.json')).stderr).toContain(
    'comment 1 is wrong',
  );
  expect(await cli('comment', 'a', 'Try harder.')).toMatchObject({ code: 0 });
  expect(told(repo, 'a.2')).toContain('- Try harder.');
});

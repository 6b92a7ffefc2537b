/** Secret values in what people and programs read: in names of files, and in other spellings. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const SECRET = 'hunter2-hunter2';
const env = { DB_PASSWORD: SECRET };

test('a secret in the name of a file is masked in events, report, collect and status', async () => {
  await using repo = await tempRepo();
  const edit = (word: string) => `mkdir -p d; echo ${word} > "d/$DB_PASSWORD.txt"`;
  const report = join(repo.outside, 'report.json');
  const plan = {
    retries: 0,
    land: { on_conflict: 'fail' },
    tasks: {
      left: { prompt: edit('left'), env },
      // It begins before the other has landed, and ends after that.
      right: { prompt: `${edit('right')}; ${untilLanded('left')}`, env },
      stray: { prompt: edit('stray'), env, writes: ['other.txt'] },
      reader: { prompt: edit('reader'), env, read_only: true },
    },
  };
  const run = await runPlan(repo, plan, { args: ['--report', report] });

  expect(run.code).toBe(1);
  expect(run.of('attempt.finished', 'left')).toMatchObject([{ files: ['d/[MASKED].txt'] }]);
  expect(run.of('attempt.finished', 'reader')).toMatchObject([{ outside: ['d/[MASKED].txt'] }]);
  expect(run.failure('stray')).toMatchObject({ files: ['d/[MASKED].txt'] });
  expect(run.failure('right')).toMatchObject({
    kind: 'conflict',
    files: ['d/[MASKED].txt'],
    conflicts: [{ path: 'd/[MASKED].txt' }],
  });
  const at = { cwd: repo.dir };
  const told = [
    { stdout: readFileSync(report, 'utf8'), stderr: '' },
    run,
    await landfast(['collect', '--json'], at),
    await landfast(['collect'], at),
    await landfast(['status', '--json'], at),
    await landfast(['status'], at),
  ];
  expect(told.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(SECRET))).toEqual([]);
  expect(await repo.git('show', `main:d/${SECRET}.txt`)).toBe('left');
});

test('a secret that was encoded is masked in all that is written down', async () => {
  await using repo = await tempRepo();
  const script = [
    'printf %s "$DB_PASSWORD" | base64',
    'printf "user:%s" "$DB_PASSWORD" | base64',
    'printf %s "$DB_PASSWORD" | od -An -v -tx1 | tr -d " \\n"; echo',
    'echo "http://host/?key=$(printf %s "$DB_PASSWORD" | sed "s/ /%20/g; s/&/%26/g")"',
  ].join('\n');
  const secret = 'open sesame & more';
  const tasks = { a: { prompt: script, env: { DB_PASSWORD: secret }, read_only: true } };
  const run = await runPlan(repo, { tasks });

  expect(run.code).toBe(0);
  const raw = await landfast(['logs', 'a'], { cwd: repo.dir });
  const all = `${run.stdout}${run.stderr}${raw.stdout}`;
  const bytes = Buffer.from(secret);
  for (const form of [bytes.toString('base64'), bytes.toString('hex'), 'open%20sesame']) {
    expect(all).not.toContain(form);
  }
  expect(raw.stdout).toContain('http://host/?key=[MASKED]');
});

/** A script that waits until the branch of the run holds the work of a task. */
function untilLanded(task: string): string {
  const landed = `git log --oneline "landfast/$LANDFAST_RUN" | grep -q "Land ${task}"`;
  return `until ${landed}; do sleep 0.05; done`;
}

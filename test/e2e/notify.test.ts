/** Notifications of the built program: who gets them, and that nothing else depends on them. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const told = (repo: TempRepo): readonly Record<string, unknown>[] => {
  const file = join(repo.outside, 'told');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

const to = (repo: TempRepo, on?: readonly string[]) => ({
  command: `cat >> '${join(repo.outside, 'told')}'`,
  ...(on === undefined ? {} : { on }),
});

test('a command is notified of the end, and of the failure after it', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: { good: 'echo 1 > 1.txt', bad: 'exit 1' },
    more: { notify: [to(repo, ['finished', 'failed'])] },
  });
  expect(run.code).toBe(1);
  expect(told(repo)).toEqual([
    expect.objectContaining({ event: 'complete', succeeded: 1, failed: 1, run: run.run }),
    expect.objectContaining({ event: 'failure', succeeded: 1, failed: 1, run: run.run }),
  ]);
});

test('kept work asks for a person; a failing command changes nothing', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    tasks: { half: 'echo 1 > 1.txt; exit 1' },
    more: { notify: [{ command: 'exit 7' }, to(repo)] },
  });
  expect(run.code).toBe(1);
  expect(told(repo).map(({ event }) => event)).toEqual(['person', 'complete']);
  expect(run.stderr).toContain('the notification by command could not be sent: it exited with 7');
});

test('the address of a webhook is not in the journal; a resumed run says that it is missing', async () => {
  await using repo = await tempRepo();
  const url = 'https://hooks.example.com/services/very-secret';
  const plan = nativePlan({
    tasks: { a: `test -e '${repo.outside}/go' && echo 1 > 1.txt` },
    more: { notify: [{ on: ['limit'], webhook: url }] },
  });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const first = await landfast(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  expect(first.stdout).toContain('"kind":"webhook","url":"[MASKED]"');
  expect(first.stdout + first.stderr).not.toContain('very-secret');
  const alone = await landfast(['resume'], { cwd: repo.dir });
  expect(alone.stderr).toContain('No webhook is sent: its address is only in the plan file');
  writeFileSync(join(repo.outside, 'go'), '');
  const again = await landfast(['run', '../plan.yaml', '--resume'], { cwd: repo.dir });
  expect(again.code).toBe(0);
  expect(again.stderr).not.toContain('webhook');
});

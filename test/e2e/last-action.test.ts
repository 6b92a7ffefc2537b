/** What a running task did last, as a second process sees it. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast, start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { hasScript, onTerminal } from '../support/terminal.ts';

/** Prints, and waits for a file; gives up after some minutes. */
const waiting = (repo: TempRepo, said: string, name: string): string =>
  `echo ${said}; n=0; until test -e ${join(repo.outside, name)}; do ` +
  'n=$((n + 1)); test $n -lt 4000 || exit 9; sleep 0.05; done';

/** Each look is a process of its own: there is nothing to wait for between them. */
async function untilDetail(repo: TempRepo, detail: string): Promise<void> {
  for (;;) {
    const { stdout } = await landfast(['status', '--json'], { cwd: repo.dir });
    const status = JSON.parse(stdout) as { outcome: string | null; tasks: { detail: string }[] };
    if (status.tasks[0]?.detail === detail) return;
    expect(status.outcome).toBeNull();
  }
}

test('status shows what set-up, a script and its checks print, while they do', async () => {
  await using repo = await tempRepo();
  const plan = join(repo.outside, 'plan.yaml');
  const one = {
    prompt: `${waiting(repo, 'step 2 of 3', 'scripted')}; echo 1 > one.txt`,
    checks: [waiting(repo, 'looks fine', 'checked')],
  };
  const setup = [waiting(repo, 'added 3 packages', 'set')];
  writeFileSync(plan, nativePlan({ more: { workspace: { setup } }, tasks: { one } }));
  const running = start(['run', plan, '--events'], { cwd: repo.dir });
  await running.untilFact('attempt.started');
  await untilDetail(repo, 'added 3 packages');
  writeFileSync(join(repo.outside, 'set'), '');
  await untilDetail(repo, 'step 2 of 3');
  writeFileSync(join(repo.outside, 'scripted'), '');
  await untilDetail(repo, 'looks fine');
  writeFileSync(join(repo.outside, 'checked'), '');
  expect(await running.ended).toMatchObject({ code: 0 });
});

test.runIf(hasScript)('attach on a terminal shows it, too', async () => {
  await using repo = await tempRepo();
  const plan = join(repo.outside, 'plan.yaml');
  const one = `${waiting(repo, 'step 2 of 3', 'go')}; echo 1 > one.txt`;
  writeFileSync(plan, nativePlan({ tasks: { one } }));
  const running = start(['run', plan, '--events'], { cwd: repo.dir });
  await running.untilFact('attempt.started');
  const { shown } = onTerminal(repo, ['attach']);
  await shown.until(({ stdout }) => stdout.includes('step 2 of 3'));
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await shown.ended).stdout).toContain('code=0');
  expect(await running.ended).toMatchObject({ code: 0 });
});

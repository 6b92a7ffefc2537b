/** With `publish: each` the user's branch follows the run while it goes on. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const UNTIL_GO = 'while test ! -e ../../../go; do sleep 0.05; done';

/** One task that lands at once, and one that waits for the file `go`. */
function begin(repo: TempRepo) {
  const tasks = { quick: 'echo new > a.txt', slow: `${UNTIL_GO}; echo b > b.txt` };
  const plan = nativePlan({ land: { publish: 'each' }, tasks });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  return start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
}

type Engine = ReturnType<typeof begin>;

function publications({ entries }: Engine) {
  return entries.flatMap(({ event }) => {
    if (event.type === 'publish.started') return [event.early === true ? 'early' : 'last'];
    return event.type.startsWith('publish.') ? [event.type] : [];
  });
}

test('the target has what landed while another task still runs', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo);
  await engine.untilFact('publish.finished');
  expect(await repo.git('ls-files')).toBe('README.md\na.txt');
  const landed = engine.entries.flatMap(({ event }) =>
    event.type === 'merge.landed' ? [event.task] : [],
  );
  expect(landed).toEqual(['quick']);
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  expect(publications(engine)).toEqual(['early', 'publish.finished', 'last', 'publish.finished']);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt\nb.txt');
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('changes in the way stop nothing, and are gone when it is tried again', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'a.txt': 'mine\n' });
  const engine = begin(repo);
  await engine.untilFact('publish.blocked');
  await repo.git('stash', '--include-untracked', '--quiet');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  expect(publications(engine)).toEqual(['early', 'publish.blocked', 'last', 'publish.finished']);
  expect(await repo.git('show', 'main:a.txt')).toBe('new');
});

/** Many agents at once on one repository: git's own locks must not cost any work. */

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const COUNT = 200;
const NAMES = Array.from({ length: COUNT }, (_, n) => `t${n}`);

/** Each says that it is up, waits for all the others, and commits at the same moment as they do. */
const script = (name: string): string =>
  `echo ${name} > ${name}.txt; git add ${name}.txt; echo >> ../../../up
  while test ! -e ../../../go; do sleep 0.5; done; git commit -qm ${name}`;

test(`${COUNT} agents that commit in the same second all succeed, and all of it lands`, async () => {
  await using repo = await tempRepo();
  const tasks = Object.fromEntries(NAMES.map((name) => [name, script(name)]));
  writeFileSync(join(repo.outside, 'up'), '');
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks, workers: COUNT }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await allUp(join(repo.outside, 'up'));
  writeFileSync(join(repo.outside, 'go'), '');
  const ended = await engine.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const failed = engine.entries.filter(({ event }) => event.type.endsWith('.failed'));
  expect(failed).toEqual([]);
  const files = (await repo.git('ls-tree', '--name-only', 'main')).split('\n');
  expect(files).toEqual(['README.md', ...NAMES.map((name) => `${name}.txt`)].sort());
  const subjects = (await repo.git('log', '--format=%s', 'main')).split('\n');
  expect(NAMES.filter((name) => !subjects.includes(name))).toEqual([]);
});

async function allUp(file: string): Promise<void> {
  while (statSync(file).size < COUNT) await new Promise((go) => setTimeout(go, 50));
}

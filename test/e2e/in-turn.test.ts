/** Tasks that write the same file, in no order: they run in turn, and both land. */

import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('two tasks that write the same file run one after the other, with a note', async () => {
  await using repo = await tempRepo();
  const task = (name: string) => ({
    prompt: `echo ${name} >> CHANGELOG.md`,
    writes: ['CHANGELOG.md'],
  });
  const run = await runPlan(repo, { tasks: { one: task('one'), two: task('two') } });
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toMatch(
    /plan\.yaml:\d+:\d+: warning: tasks "one" and "two" write "CHANGELOG\.md": they take turns/,
  );
  const order = run.facts.flatMap((fact) =>
    fact.type === 'attempt.started' || fact.type === 'merge.landed'
      ? `${fact.type} ${fact.task}`
      : [],
  );
  expect(order).toEqual([
    'attempt.started one',
    'merge.landed one',
    'attempt.started two',
    'merge.landed two',
  ]);
  expect(await repo.git('show', 'main:CHANGELOG.md')).toBe('one\ntwo');
});

/** What git takes out of files as it stages them is not found by the next task. */

import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = {
  '.gitattributes': '*.nb filter=strip\n*.txt text\n*.crlf text eol=crlf\n',
  'n.nb': 'code\n',
  't.txt': 'text\n',
  'w.crlf': 'text\n',
};
const LOOK = 'git rev-parse --absolute-git-dir; cat n.nb t.txt w.crlf | tr "\\r" "^"';

async function filteredRepo(): Promise<TempRepo> {
  const repo = await tempRepo({ files: FILES });
  await repo.git('config', 'filter.strip.clean', "sed '/SECRET/d'");
  await repo.git('config', 'filter.strip.smudge', 'cat');
  return repo;
}

/** Whether the task of a second run worked where that of the first did, and what it found. */
async function afterOne(repo: TempRepo, script: string) {
  const more = { workspace: { pool: 1 } };
  const look = async (task: string, prompt: string): Promise<readonly string[]> => {
    const run = await runPlan(repo, { workers: 1, tasks: { [task]: prompt }, more });
    expect(run).toMatchObject({ code: 0 });
    return run.of('attempt.finished', task)[0]?.text.split('\n') ?? [];
  };
  const [before] = await look('one', `git rev-parse --absolute-git-dir; ${script}; echo 1 > one`);
  const [after, ...found] = await look('two', `${LOOK}; echo 2 > two`);
  return { isUsedAgain: before === after, found };
}

test.each([
  ['by a filter', 'printf "code\\nSECRET\\n" > n.nb', ['code', 'text', 'text^']],
  ['with other changes', 'printf "more\\nSECRET\\n" > n.nb', ['more', 'text', 'text^']],
  ['as ends of lines', 'printf "text\\r\\n" > t.txt', ['code', 'text', 'text^']],
  ['as ends of lines that belong there', 'printf "text\\n" > w.crlf', ['code', 'text', 'text^']],
])('what is taken out %s', async (_, script, files) => {
  await using repo = await filteredRepo();
  expect(await afterOne(repo, script)).toEqual({ isUsedAgain: true, found: files });
});

test('where a task changes attributes, the next one gets a new workspace', async () => {
  await using repo = await filteredRepo();
  const script = "printf '*.nb filter=strip\\n' > .gitattributes";
  expect(await afterOne(repo, script)).toMatchObject({ isUsedAgain: false });
});

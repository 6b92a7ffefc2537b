/** Files that are kept out of commits without a tracked file saying so. */

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles } from '../../src/git/diff.ts';
import { addExcludes, literalPattern } from '../../src/git/exclude.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('excluded paths are ignored in every worktree, and only those', async () => {
  await using repo = await tempRepo();
  const base = await repo.git('rev-parse', 'HEAD');
  const names = ['.env', 'sp ace ', '[x]*', '!bang', '#hash', 'two\nlines', 'ü/deep'];
  await addExcludes(repo.commonDir, names.map(literalPattern), repo.signal);
  const contents = Object.fromEntries(names.map((name) => [name, 'secret']));
  await repo.write({ ...contents, 'sub/.env': '', x: '' });
  expect(await changedFiles(repo.dir, base, repo.signal)).toEqual(['sub/.env', 'x']);
});

test('the user’s own lines stay, and a missing file is made', async () => {
  await using repo = await tempRepo();
  const file = join(repo.commonDir, 'info/exclude');
  await repo.write({ '.git/info/exclude': '# mine\n*.bak' });
  await addExcludes(repo.commonDir, ['/a'], repo.signal);
  await addExcludes(repo.commonDir, ['/a'], repo.signal);
  expect(await readFile(file, 'utf8')).toBe(
    '# mine\n*.bak\n# landfast: begin (added automatically)\n/a\n# landfast: end\n',
  );
  await rm(join(repo.commonDir, 'info'), { recursive: true });
  await addExcludes(repo.commonDir, ['/b'], repo.signal);
  expect(await readFile(file, 'utf8')).toBe(
    '# landfast: begin (added automatically)\n/b\n# landfast: end\n',
  );
});

test('twenty that add at once lose nothing', async () => {
  await using repo = await tempRepo();
  const patterns = Array.from({ length: 20 }, (_, n) => `/file-${n}`);
  await Promise.all(patterns.map((one) => addExcludes(repo.commonDir, [one], repo.signal)));
  const lines = (await readFile(join(repo.commonDir, 'info/exclude'), 'utf8')).split('\n');
  expect(lines).toEqual(expect.arrayContaining(patterns));
  expect(lines.filter((line) => line.startsWith('# landfast'))).toHaveLength(2);
});

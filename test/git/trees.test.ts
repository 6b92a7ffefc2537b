import { expect, test } from 'vitest';
import { blobChanges, blobTexts } from '../../src/git/trees.ts';
import { tempRepo } from '../support/temp-repo.ts';

test('many blobs are read by one process, whatever they hold; missing ones are left out', async () => {
  const files = { a: 'one\n\ntwo é\n', b: '', c: 'no end of line' };
  await using repo = await tempRepo({ files });
  const ids = await Promise.all(
    Object.keys(files).map((file) => repo.git('rev-parse', `HEAD:${file}`)),
  );
  const texts = await blobTexts(repo.dir, [...ids, '0'.repeat(40)], repo.signal);
  expect(ids.map((id) => texts.get(id))).toEqual(Object.values(files));
});

test('the files that two commits have differently are told with both contents', async () => {
  await using repo = await tempRepo({ files: { a: 'a\n', b: 'b\n', c: 'c\n' } });
  const from = await repo.git('rev-parse', 'HEAD');
  await repo.git('rm', '-q', 'b');
  await repo.write({ a: 'A\n', 'new é': 'n\n' });
  await repo.git('add', '--all');
  await repo.git('commit', '-qm', 'Change them');
  const id = (at: string) => repo.git('rev-parse', at);
  expect(await blobChanges(repo.dir, { from, to: 'HEAD' }, repo.signal)).toEqual([
    { path: 'a', before: await id(`${from}:a`), after: await id('HEAD:a') },
    { path: 'b', before: await id(`${from}:b`), after: null },
    { path: 'new é', before: null, after: await id('HEAD:new é') },
  ]);
});

import { expect, test } from 'vitest';
import { blobTexts } from '../../src/git/blobs.ts';
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

/** What was touched in a folder is removed, and nothing else. */

import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findTouched, nextFileTime, removeFound } from '../../src/workspace/touched-files.ts';
import { tempDir } from '../support/temp-dir.ts';

const sh = (cwd: string, script: string): void => {
  execFileSync('sh', ['-ec', script], { cwd });
};

/** Longer than what the clock of a file system may be behind ours. */
const TICK_MS = 30;

test('files whose content, mode, name or links have changed are removed', async ({ signal }) => {
  await using temp = await tempDir();
  const dir = join(temp.path, 'work');
  const names = ['same', 'edited', 'secret', 'mode', 'named', 'linked', 'deep/same', 'moved/same'];
  await temp.write(Object.fromEntries(names.map((name) => [`work/${name}`, 'text'])));
  sh(dir, 'touch .git; echo there > ../there; mkdir void; ln -s ../there old');
  await sleep(TICK_MS);
  const since = Date.now();
  sh(dir, 'echo x >> edited; touch -r same ../when; echo TEXT > secret; touch -r ../when secret');
  sh(dir, 'chmod +x mode; mv named new; ln linked ../second; mv moved elsewhere; mkdir -p a/b');
  sh(
    dir,
    'mkdir keep; touch keep/x; touch "$(printf "\\377")"; ln -s ../there link; chmod 700 deep',
  );
  sh(dir, 'mkdir -p deep/repo/.git/objects; touch deep/repo/.git/HEAD; chmod 777 .; mkfifo pipe');
  await removeFound(dir, await findTouched({ dir, since, keep: ['keep/'] }, signal));
  expect(readdirSync(dir).toSorted()).toEqual([
    ...['.git', 'deep', 'elsewhere', 'keep', 'old', 'same', 'void'],
  ]);
  expect(readdirSync(join(dir, 'deep'))).toEqual(['same']);
  expect(readdirSync(join(dir, 'elsewhere'))).toEqual(['same']); // Git tells that it is new.
  expect(readdirSync(join(dir, 'keep'))).toEqual(['x']);
  const usual = statSync(join(dir, 'void')).mode;
  expect([dir, join(dir, 'deep')].map((each) => statSync(each).mode)).toEqual([usual, usual]);
  expect(readdirSync(temp.path).toSorted()).toEqual(['second', 'there', 'when', 'work']);
});

test('what is written before a time of the file system is older, and what is written after is not', async ({
  signal,
}) => {
  await using temp = await tempDir();
  await temp.write({ '.git': 'gitdir: elsewhere\n' });
  for (let round = 0; round < 20; round += 1) {
    await temp.write({ before: `${round}` });
    const time = await nextFileTime(temp.path, signal);
    await temp.write({ after: `${round}` });
    expect(lstatSync(join(temp.path, 'before')).ctimeMs).toBeLessThan(time);
    expect(lstatSync(join(temp.path, 'after')).ctimeMs).toBeGreaterThanOrEqual(time);
  }
});

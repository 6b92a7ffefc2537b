/** What is odd in a workspace: `find` and we ourselves see the same. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Found, lookByFind, lookByWalk, modesIn } from '../../src/workspace/odd.ts';
import { DIRT, FILES } from '../support/dirt.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** Without an order, and with paths as bytes. */
function shown({ odd, hasMore, isComplete }: Found) {
  const list = odd.map(({ path, kind }) => `${kind} ${Buffer.from(path).toString('latin1')}`);
  return { odd: list.sort(), hasMore, isComplete };
}

async function bothIn(dir: string, keep: readonly string[], files: number) {
  const look = { dir, keep, files, modes: modesIn(dir) };
  const { signal } = new AbortController();
  const [walked, found] = [await lookByWalk(look, signal), await lookByFind(look, signal)];
  return { walked: shown(walked), found: found === null ? null : shown(found) };
}

describe.each(Object.entries(DIRT))('%s', (_, dirt) => {
  test('is the same to both, or left to the walk', async () => {
    await using repo = await tempRepo({ files: FILES });
    execFileSync('sh', ['-c', `(${dirt}) >/dev/null 2>&1 || true`], { cwd: repo.dir });
    const { walked, found } = await bothIn(repo.dir, [], Object.keys(FILES).length);
    if (found !== null) expect(found).toEqual(walked);
    else expect(dirt).toContain('\\377'); // A name that is no text.
  });
});

test('what is kept is not looked at, whatever its name means to find', async () => {
  await using folder = await tempDir();
  const dir = join(folder.path, 'space');
  for (const name of ['cache/deep', 'a*b', 'axb', 'only/kept', '[c]']) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, 'x'), '', { mode: 0o600 });
  }
  const { walked, found } = await bothIn(dir, ['cache/', 'a*b', 'only/kept', '[c]/'], 1);
  expect(found).toEqual(walked);
  expect(walked).toEqual({ odd: [`file ${dir}/axb/x`], hasMore: false, isComplete: true });
});

/** A TMPDIR that is no good: told before anything begins, with the folder and a way out. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Ended, landfast, SOMEBODY } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** What a run says about a temp folder that cannot be written. */
function expectRefused(ended: Ended, folder: string): void {
  expect(ended.stderr).toContain(`landfast: Temporary files cannot be written to ${folder}: `);
  expect(ended.stderr).toContain('set TMPDIR to a folder that can be written');
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.code).toBe(3);
}

async function begin(repo: TempRepo, command: readonly string[], folder: string): Promise<Ended> {
  return landfast(command, { cwd: repo.dir, env: { TMPDIR: folder } });
}

test.each([
  ['is not there', () => {}],
  ['is a file', (path: string) => writeFileSync(path, '')],
])('a folder that %s: run and demo end with exit 3, and doctor finds it', async (_, make) => {
  await using repo = await tempRepo();
  const folder = join(repo.outside, 'odd-temp');
  make(folder);
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks: { one: 'echo 1 > a.txt' } }));
  expectRefused(await begin(repo, ['run', '../plan.yaml'], folder), folder);
  expectRefused(await begin(repo, ['demo'], folder), folder);
  expect(await begin(repo, ['runs'], folder)).toMatchObject({ code: 0 });
  expect(await begin(repo, ['cleanup', '--dry-run'], folder)).toMatchObject({ code: 0 });
  const doctor = await begin(repo, ['doctor'], folder);
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(folder) });
  const good = await begin(repo, ['doctor'], repo.outside);
  expect(good.stdout).toMatch(new RegExp(`✓ temp folder +${repo.outside}\n`));
});

test('a folder that may not be written to is refused by demo', async () => {
  await using repo = await tempRepo();
  const folder = join(repo.outside, 'odd-temp');
  mkdirSync(folder, { mode: 0o555 });
  const env = { TMPDIR: folder, HOME: '/' };
  expectRefused(await landfast(['demo'], { cwd: '/', env, as: SOMEBODY }), folder);
});

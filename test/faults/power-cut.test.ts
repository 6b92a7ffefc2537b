/**
 * The power fails right after something was recorded: what the journal calls landed is in the
 * repository, with every object. The repository is on a file system in a file. A copy of that file,
 * taken while it is mounted, holds exactly what had been written by then, as a disk would.
 */

import { execFile } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import type { PlanParts } from '../support/native-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { begin, journalOf, make, runOf } from './scene.ts';

const exec = promisify(execFile);

interface RepoOnImage extends TempRepo {
  /** From here on the file system is as it would be had the power failed at this moment. */
  cutPower(): Promise<void>;
}

/** A repository on an ext4 file system of its own; or why there is none. */
async function repoOnImage(): Promise<
  { readonly repo: RepoOnImage; readonly why: '' } | { readonly repo: null; readonly why: string }
> {
  const place = await tempDir();
  const images = await tempDir();
  const image = join(images.path, 'before');
  const mount = (file: string) => exec('mount', ['-o', 'loop,commit=300', file, place.path]); // Nothing is written by the clock.
  try {
    await writeFile(image, '');
    await truncate(image, 64 << 20);
    await exec('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image]);
    await mount(image);
  } catch (error) {
    await Promise.all([place[Symbol.asyncDispose](), images[Symbol.asyncDispose]()]);
    const why = String((error as { stderr?: string }).stderr || error).trim();
    return { repo: null, why: `No ext4 image can be mounted here: ${why}` };
  }
  const before = process.env.TMPDIR;
  process.env.TMPDIR = place.path;
  const repo = await tempRepo();
  await exec('sync', ['-f', repo.dir]);
  const cutPower = async (): Promise<void> => {
    const copy = join(images.path, 'after');
    await exec('cp', ['--sparse=always', image, copy]);
    await exec('umount', ['-l', place.path]);
    await mount(copy);
  };
  const dispose = async (): Promise<void> => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await repo[Symbol.asyncDispose]();
    await exec('umount', ['-l', place.path]);
    await Promise.all([place[Symbol.asyncDispose](), images[Symbol.asyncDispose]()]);
  };
  return { repo: { ...repo, cutPower, [Symbol.asyncDispose]: dispose }, why: '' };
}

/** Asserts that every object of a branch can be read, by sending all of them to another repository. */
async function expectReadable(repo: TempRepo, branch: string): Promise<void> {
  await using elsewhere = await tempDir();
  const git = ['-c', 'transfer.fsckObjects=true', 'clone', '--quiet', '--bare', '--no-local'];
  await repo.git(...git, '--branch', branch, '--single-branch', repo.dir, elsewhere.path);
}

/** The image is small: without that the run would wait for room. */
const COMMON = {
  gates: [{ name: 'has-readme', run: 'test -e README.md' }],
  more: { limits: { workers: 2, disk_free: 0 } },
};
const COMMITS = 'git add one.txt && git commit -qm Mine';
/** A sandbox of an agent may pass no variables on. */
const ALONE = `env -i PATH="$PATH" HOME="$HOME" sh -c '${COMMITS}'`;

test.for<readonly [string, Readonly<Record<string, string>>, string]>([
  ['that we commit', {}, 'echo 1 > one.txt'],
  ['that we squash', { strategy: 'squash' }, 'echo 1 > one.txt'],
  ['that the agent commits', {}, `echo 1 > one.txt; ${COMMITS}`],
  ['that the agent commits in an environment of its own', {}, `echo 1 > one.txt; ${ALONE}`],
])(
  'work %s is whole in the target after a power cut at the end of the run',
  async ([, land, one], { skip }) => {
    const { repo: there, why } = await repoOnImage();
    await using repo = there;
    if (repo === null) return skip(why);
    const plan: PlanParts = { ...COMMON, land, tasks: { one, two: 'mkdir d; echo 2 > d/two' } };
    expect(await begin(repo, plan).ended).toMatchObject({ code: 0 });
    const main = await repo.git('rev-parse', 'main');
    await repo.cutPower();
    expect(journalOf(repo).at(-1)?.event).toMatchObject({ outcome: 'succeeded' });
    expect(await repo.git('rev-parse', 'main')).toBe(main);
    await expectReadable(repo, 'main');
    expect(await repo.git('ls-tree', '-r', '--name-only', 'main')).toBe(
      'README.md\nd/two\none.txt',
    );
  },
);

test('after a power cut in the middle what had landed is there, and the run goes on', async ({
  skip,
}) => {
  const { repo: there, why } = await repoOnImage();
  await using repo = there;
  if (repo === null) return skip(why);
  const waits = 'while test ! -e ../../../go; do sleep 0.05; done';
  const two = { needs: ['one'], prompt: `echo 2 > two.txt; ${waits}` };
  const engine = begin(repo, { ...COMMON, tasks: { one: 'echo 1 > one.txt', two } });
  await engine.untilFact('merge.landed', 'one');
  engine.child.kill('SIGKILL');
  await engine.ended;
  await repo.cutPower();
  const landed = journalOf(repo).flatMap(({ event }) =>
    event.type === 'merge.landed' ? [event.commit] : [],
  );
  expect(landed).toEqual([await repo.git('rev-parse', `landfast/${runOf(repo)}`)]);
  await expectReadable(repo, `landfast/${runOf(repo)}`);
  make(repo, 'go');
  // The first workspace may be damaged: it holds nothing that has not landed, and may be kept.
  expect(await landfast(['resume'], { cwd: repo.dir })).toMatchObject({ code: 0 });
  const files = await repo.git('ls-tree', '--name-only', 'main');
  expect(files).toBe('README.md\none.txt\ntwo.txt');
  const subjects = await repo.git('log', '--first-parent', '--format=%s', 'main');
  expect(subjects.match(/^Land /gm)).toHaveLength(2);
});

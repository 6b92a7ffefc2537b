/** Commands of the user run in folders that no program takes for hidden, or for another project's. */

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { log: '0\n', lock: '0\n', '.gitattributes': 'log merge=log\n' };

/** Writes down where a command runs, as its shell calls the folder and as the system does. */
const logging = (repo: TempRepo, what: string): string =>
  `echo "${what} $PWD $(/bin/pwd -P)" >> ${join(repo.outside, 'seen')}`;

/** A plan with commands of every kind: two tasks that begin at once change the same files. */
function planFor(repo: TempRepo, dir: string | null) {
  const task = (name: string, other: string) => ({
    prompt: [
      `touch ${repo.outside}/${name}`,
      `until test -e ${repo.outside}/${other}; do sleep 0.05; done`,
      `echo ${name} | tee log > lock`,
    ].join('\n'),
    checks: [logging(repo, 'check')],
  });
  const regenerate = [{ paths: ['lock'], run: `${logging(repo, 'regenerate')}; echo 2 > lock` }];
  const place = dir === null ? {} : { dir };
  return {
    more: { workspace: { setup: [logging(repo, 'setup')], ...place } },
    land: { regenerate },
    gates: [{ name: 'tests', run: logging(repo, 'gate') }],
    tasks: { 'gate-0': task('gate-0', 'pool'), pool: task('pool', 'gate-0') },
  };
}

/** Which commands ran where, and what is wrong with that. */
async function commandsOf(repo: TempRepo, dir: string | null) {
  await repo.git('config', 'merge.log.driver', `${logging(repo, 'driver')}; cat %B >> %A`);
  expect(await runPlan(repo, planFor(repo, dir))).toMatchObject({ code: 0 });
  const top = await realpath(tmpdir());
  const lines = readFileSync(join(repo.outside, 'seen'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [what = '', told = '', real = ''] = line.split(' ');
    const flaws = [
      ...(told === real ? [] : [`${told} is ${real}`]),
      ...flawsOf(real, { top, repo: repo.dir }),
    ];
    return { what, real, flaws };
  });
}

function flawsOf(path: string, of: { readonly top: string; readonly repo: string }) {
  const found: string[] = [];
  for (let at = path; at !== of.top; at = dirname(at)) {
    if (basename(at).startsWith('.')) found.push(`${at} is hidden`);
    if (at !== path && existsSync(join(at, '.git'))) found.push(`${at} is a project`);
  }
  return found;
}

const KINDS = ['check', 'driver', 'gate', 'regenerate', 'setup'];

test('no command of the user runs in a hidden folder or in another project', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commands = await commandsOf(repo, null);
  expect([...new Set(commands.map(({ what }) => what))].sort()).toEqual(KINDS);
  expect(commands.filter(({ flaws }) => flaws.length > 0)).toEqual([]);
  const gates = commands.filter(({ what }) => what === 'gate').map(({ real }) => basename(real));
  expect(new Set(gates)).toEqual(new Set(['gate-0']));
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
});

test.each([
  ['a hidden folder of the checkout', '.trees'],
  ['a plain folder of the checkout', 'trees'],
  ['the checkout itself', '.'],
  ['a hidden folder beside it', '../.hidden/trees'],
  ['a folder of another project', '../other/deep/trees'],
  ['a link to a hidden folder', '../link/trees'],
])('gates keep out of it where workspaces are in %s', async (_, dir) => {
  await using repo = await tempRepo({ files: FILES });
  await mkdir(join(repo.outside, '.hidden'));
  await symlink('.hidden', join(repo.outside, 'link'));
  await runGit(repo.outside, ['init', '--quiet', join(repo.outside, 'other')]);
  const commands = await commandsOf(repo, dir);
  const ofTasks = ['check', 'setup']; // In the folder that the user has chosen.
  const others = commands.filter(({ what }) => !ofTasks.includes(what));
  expect([...new Set(others.map(({ what }) => what))].sort()).toEqual([
    ...['driver', 'gate', 'regenerate'],
  ]);
  expect(others.filter(({ flaws }) => flaws.length > 0)).toEqual([]);
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
  expect(await repo.git('status', '--porcelain')).toBe('');
});

test('a plain folder that the user has chosen holds the gates as well', async () => {
  await using repo = await tempRepo({ files: FILES });
  const commands = await commandsOf(repo, '../trees');
  expect(commands.filter(({ flaws }) => flaws.length > 0)).toEqual([]);
  const places = commands.filter(({ what }) => what === 'gate').map(({ real }) => real);
  const folders = places.map((place) => dirname(dirname(place)));
  expect(new Set(folders)).toEqual(new Set([join(repo.outside, 'trees')]));
});

test('a place where no folder for gates can be made is named, with a way out', async () => {
  await using repo = await tempRepo();
  await writeFile(`${repo.dir}.worktrees`, '');
  const run = await runPlan(repo, {
    more: { workspace: { dir: '.trees' } },
    gates: [{ name: 'tests', run: 'true' }],
    tasks: { a: 'echo 1 > a' },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('a')?.message).toContain(`No folder for gates can be made: `);
  expect(run.failure('a')?.message).toContain(`${repo.dir}.worktrees`);
  expect(run.failure('a')?.message).toContain('Name one outside of the checkout: workspace.dir.');
  expect(run.stderr).not.toMatch(/^ +at /m);
});

/** Every command where there is no repository, no folder, or no run yet. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { describeProgram } from '../../src/cli/main.ts';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** What these do needs no repository. */
const ANYWHERE = ['plan', 'convert', 'config', 'agents', 'doctor', 'demo', 'version', 'engine'];
/** Of those, what looks at no folder at all. */
const FOLDERLESS = ['agents', 'demo', 'version', 'engine'];
/** They are about one run, and by default about the newest. */
const OF_A_RUN = [
  ['status'],
  ['status', '--watch'],
  ['queue'],
  ['runs'],
  ['logs', 'task'],
  ['attach'],
  ['collect'],
  ['collect', '--wait'],
  ['cancel'],
  ['pause'],
  ['resume'],
  ['run', '--resume'],
  ['retry', 'task'],
  ['skip', 'task'],
];

const commands = leaves(await describeProgram(() => async () => {}));

/** Every command as it is called, with something for each argument it requires. */
function leaves(command: Command, before: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.flatMap((each) => {
    const name = [...before, each.name()];
    const args = each.registeredArguments.filter(({ required }) => required).map(() => 'plan.yaml');
    const own = before.length === 0 && each.commands.length > 0 && name[0] !== 'kept' ? [] : [name];
    return [...own.map((line) => [...line, ...args]), ...leaves(each, name)];
  });
}

function argsOf([name = '', ...rest]: readonly string[]): readonly string[] {
  return [
    name,
    ...rest,
    ...(['run', 'spawn', 'kept drop'].includes([name, ...rest].join(' ')) ? ['plan.yaml'] : []),
  ];
}

test('the commands are all found', () => {
  const lines = commands.map((line) => line.join(' '));
  expect(lines).toContain('status');
  expect(lines).toContain('kept show plan.yaml');
  expect(lines).toContain('pool warm');
  const known = new Set(commands.map(([name]) => name));
  expect(
    [...ANYWHERE, ...OF_A_RUN.map(([name]) => name)].filter((name) => !known.has(name)),
  ).toEqual([]);
});

test.each(
  commands.filter(([name = '']) => !ANYWHERE.includes(name)).map((line) => [line] as const),
)('outside of a repository: exit 3, the folder and a way out (%j)', async (line) => {
  await using place = await tempDir();
  const cwd = join(place.path, 'plain');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'plan.yaml'), nativePlan({ tasks: { one: 'echo new > a.txt' } }));
  const { code, stdout, stderr } = await landfast(argsOf(line), { cwd });
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(
      /^landfast: \S+plain is not in a git repository\.\n {2}Go to .*-C DIR.*git init\n$/,
    ),
  });
});

test.each(
  commands.filter(([name = '']) => !FOLDERLESS.includes(name)).map((line) => [line] as const),
)('a folder that is not there: exit 3 and its name (%j)', async (line) => {
  await using place = await tempDir();
  writeFileSync(join(place.path, 'plan.yaml'), nativePlan({ tasks: { one: 'echo a' } }));
  const args = [...argsOf(line), '-C', 'not-there'];
  const { code, stdout, stderr } = await landfast(args, { cwd: place.path });
  expect({ code, stdout, stderr }).toEqual({
    code: 3,
    stdout: '',
    stderr:
      'landfast: There is no folder not-there.\n  Name the folder of your repository with -C DIR.\n',
  });
});

test('a file is no folder to work in', async () => {
  await using place = await tempDir();
  writeFileSync(join(place.path, 'file'), '');
  expect(await landfast(['status', '-C', 'file'], { cwd: place.path })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('This is a file, not a folder: file.'),
  });
});

test.each(OF_A_RUN.map((line) => [line] as const))(
  'no run yet: exit 0, the same words, and nothing is made (%j)',
  async (line) => {
    await using repo = await tempRepo();
    expect(await landfast(line, { cwd: repo.dir })).toMatchObject({
      code: 0,
      stdout: 'No run yet in this repository. Start one: landfast run PLAN\n',
      stderr: '',
    });
    expect(existsSync(join(repo.commonDir, 'landfast'))).toBe(false);
  },
);

test('no run yet, as JSON: nothing, or no rows; a run that is named and is not there is wrong', async () => {
  await using repo = await tempRepo();
  const of = (...args: readonly string[]) => landfast(args, { cwd: repo.dir });
  expect(await of('status', '--json')).toMatchObject({ code: 0, stdout: 'null\n' });
  expect(await of('runs', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
  for (const args of [
    ['status', 'r1'],
    ['cleanup', '--run', 'r1'],
    ['logs', 'a', '--run', 'r1'],
  ]) {
    expect(await of(...args)).toMatchObject({
      code: 2,
      stderr: 'landfast: There is no run r1.\n  landfast runs lists them.\n',
    });
  }
});

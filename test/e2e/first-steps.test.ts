/** The first minutes with a project: `init` gives it a gate and a plan, and a run without a gate says so. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const PROJECT = {
  'package.json': JSON.stringify({ scripts: { test: 'node check.js' } }),
  'check.js': 'if (require("node:fs").existsSync("broken")) process.exit(1);\n',
};
const UNGATED = 'landfast: There is no gate: nothing is tested before it lands.\n';

const of = (repo: TempRepo, ...args: readonly string[]) =>
  landfast(args, { cwd: repo.dir, env: { HOME: repo.outside } });
const read = (repo: TempRepo, path: string) => readFileSync(join(repo.dir, path), 'utf8');

test('after init the tests of the project decide what lands', async () => {
  await using repo = await tempRepo({ files: PROJECT });
  expect(await of(repo, 'init')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^made {2}landfast\.yaml\nmade {2}plan\.yaml\n/),
  });
  expect(read(repo, 'landfast.yaml')).toContain('gates:\n  - name: tests\n    run: npm test\n');
  const spawn = ['spawn', '--agent', 'shell'];
  const good = await of(repo, ...spawn, 'echo fine > good');
  expect(good).toMatchObject({ code: 0, stderr: expect.not.stringContaining('no gate') });
  const bad = await of(repo, ...spawn, 'echo bad > broken');
  expect(bad.code).toBe(1);
  expect([existsSync(join(repo.dir, 'good')), existsSync(join(repo.dir, 'broken'))]).toEqual([
    true,
    false,
  ]);
});

test('the first plan is right, also with what is commented out; one that is there is kept', async () => {
  await using repo = await tempRepo({ files: PROJECT });
  await of(repo, 'init');
  expect(await of(repo, 'plan', 'plan.yaml')).toMatchObject({ code: 0, stderr: '' });
  const plan = read(repo, 'plan.yaml');
  const [before = '', after = ''] = plan.split('  # A second task.');
  const second = after
    .split('\n')
    .slice(1)
    .join('\n')
    .replaceAll(/^ {2}# /gm, '  ');
  await repo.write({ 'plan.yaml': `${before}${second}` });
  const both = await of(repo, 'plan', 'plan.yaml', '--json');
  expect(both).toMatchObject({ code: 0, stderr: '' });
  expect(both.stdout).toContain('"contributing"');
  expect((await of(repo, 'init', '--force')).stdout).toContain('kept  plan.yaml\n');
  expect(read(repo, 'plan.yaml')).toBe(`${before}${second}`);
});

test('where no test command is found, the file says how to add a gate', async () => {
  await using repo = await tempRepo();
  expect(await of(repo, 'init')).toMatchObject({ code: 0 });
  expect(read(repo, 'landfast.yaml')).toContain('# No tests were found: without a gate');
  expect(await of(repo, 'config', 'gates')).toMatchObject({ code: 0, stdout: '' });
});

test('run, spawn and land say once that There is no gate, and how to add one', async () => {
  await using repo = await tempRepo({ files: PROJECT });
  await repo.write({ 'p.yaml': nativePlan({ tasks: { one: 'echo 1 > one' } }) });
  await repo.commit('feature', { two: '2\n' });
  const remedy = '  To add one to landfast.yaml: gates: [{ name: tests, run: npm test }]\n';
  for (const args of [
    ['run', 'p.yaml'],
    ['spawn', '--agent', 'shell', 'echo 3 > three'],
    ['land', 'feature'],
  ]) {
    const { code, stderr } = await of(repo, ...args);
    expect([code, stderr.split(UNGATED + remedy).length]).toEqual([0, 2]);
  }
});

test.each([
  ['a gate', { gates: [{ name: 'true', run: 'true' }] }, []],
  ['verify: off', { land: { verify: 'off' } }, []],
  ['strategy: none', { land: { strategy: 'none' } }, []],
  ['--quiet', {}, ['--quiet']],
] as const)('nothing is said of gates with %s', async (_, more, args) => {
  await using repo = await tempRepo();
  await repo.write({ 'p.yaml': nativePlan({ tasks: { one: 'echo 1 > one' }, more }) });
  const { code, stderr } = await of(repo, 'run', 'p.yaml', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('no gate') });
});

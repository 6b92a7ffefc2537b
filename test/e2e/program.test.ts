/** The program as it is published and started. */

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cpuOfChildren } from '../../bench/measure.ts';
import { BIN, bareEnv, landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { installPacked } from '../support/packed.ts';
import { isWhole } from '../support/seeds.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

test('the packed package installs into an empty folder, needs nothing else, and runs', async () => {
  await using place = await tempDir();
  const { app, env } = await installPacked(place.path);
  expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'landfast',
  ]);
  const bin = join(app, 'node_modules', '.bin', 'landfast');
  const help = await exec(bin, ['--help'], { cwd: app, env });
  expect(help.stdout).toContain('Usage: landfast');
  const demo = await exec(bin, ['demo'], { cwd: app, env });
  expect(demo.stdout).toContain('Land ');
});

test('compiled code is kept for the next command, in the user’s cache folder', async () => {
  await using place = await tempDir();
  const { XDG_CACHE_HOME: _, ...env } = bareEnv(place.path);
  const run = (more: Record<string, string>, args = ['run', '--help', '--help']) =>
    exec(process.execPath, [BIN, ...args], { cwd: place.path, env: { ...env, ...more } });
  const kept = (folder: string) => readdirSync(join(place.path, folder, 'landfast', 'compiled'));
  await run({ NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(readdirSync(place.path)).toEqual([]);
  await run({ XDG_CACHE_HOME: 'not/absolute' });
  await run({ HOME: '' });
  await run({}, ['--version']);
  await expect(run({}, ['run', 'no-such-plan'])).rejects.toMatchObject({ code: 2 });
  expect(readdirSync(place.path)).toEqual([]);
  await run({ XDG_CACHE_HOME: join(place.path, 'caches') });
  expect(kept('caches')).toEqual([expect.stringMatching(/^part-v/)]);
  const { stdout } = await run({});
  expect(kept('.cache')).toEqual(kept('caches'));
  expect((await run({})).stdout).toBe(stdout);
  await run({ HOME: '/dev/null' });
});

test('a run caches more, once; a damaged cache is rebuilt, and only a few stay', async () => {
  await using repo = await tempRepo();
  const { XDG_CACHE_HOME: _, ...env } = bareEnv(repo.outside);
  const cache = join(repo.outside, '.cache', 'landfast', 'compiled');
  const plan = join(repo.outside, 'plan.yaml');
  const run = async (name: string, ...nodes: string[]) => {
    writeFileSync(plan, nativePlan({ tasks: { [name]: `echo 1 > ${name}.txt` } }));
    await exec(process.execPath, [...nodes, BIN, 'run', plan], { cwd: repo.dir, env });
    return readdirSync(cache);
  };
  const [name = ''] = await run('a');
  expect(name).toMatch(/^run-v/);
  const path = join(cache, name);
  const first = statSync(path);
  expect(await run('b')).toEqual([name]);
  expect(statSync(path)).toMatchObject({ ino: first.ino, mtimeMs: first.mtimeMs });
  const damaged = readFileSync(path).fill(0, first.size / 2, first.size / 2 + 4_096);
  writeFileSync(path, damaged);
  expect(await run('c')).toEqual([name]);
  expect(readFileSync(path).equals(damaged)).toBe(false);
  for (const old of [1, 2, 3, 4, 5, 6]) {
    writeFileSync(join(cache, `old-${old}`), '');
    utimesSync(join(cache, `old-${old}`), old, old);
  }
  const kept = await run('d', '--stack-size=900');
  expect(kept).toEqual(['old-3', 'old-4', 'old-5', 'old-6', name, expect.any(String)]);
});

test('an old Node is told what to do, with exit code 78', async () => {
  await using place = await tempDir();
  const fake = join(place.path, 'old.cjs');
  writeFileSync(
    fake,
    `Object.defineProperty(process.versions, 'node', { value: '20.19.0' });
     require(${JSON.stringify(join(root, 'bin', 'landfast.cjs'))});`,
  );
  const old = exec(process.execPath, [fake, '--help'], { env: bareEnv(place.path) });
  await expect(old).rejects.toMatchObject({
    code: 78,
    stderr:
      'landfast needs Node 22.13 or newer; this is Node 20.19.0.\n' +
      'Install a newer Node, or set LANDFAST_NODE to the path of one.\n',
  });
  const env = { ...bareEnv(place.path), LANDFAST_NODE: process.execPath };
  expect((await exec(process.execPath, [fake, '--version'], { env })).stdout).toMatch(/^\d+\.\d+/);
});

test.runIf(isWhole).each(['--help', '--version'])(
  '%s takes hardly longer than a Node that does nothing',
  async (flag) => {
    await using place = await tempDir();
    const env = bareEnv(place.path);
    const bin = join(root, 'bin', 'landfast.cjs');
    // A shell's own `times` counts the processor time of its children, in whatever load.
    const repeat = 'for i in 1 2 3 4 5 6 7 8; do "$@" >/dev/null; done; times';
    const cpuMs = async (...args: readonly string[]): Promise<number> => {
      const { stdout } = await exec('sh', ['-c', repeat, 'sh', process.execPath, ...args], { env });
      return cpuOfChildren(stdout);
    };
    const [bare, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round += 1) {
      bare.push(await cpuMs('-e', '0'));
      ours.push(await cpuMs(bin, flag));
    }
    expect(Math.min(...ours)).toBeLessThan(1.6 * Math.min(...bare));
  },
);

test.each([[], ['run'], ['config'], ['pool'], ['engine']])(
  '--help says at once what the whole program says (%s)',
  async (...command) => {
    await using place = await tempDir();
    const [atOnce, whole] = await Promise.all([
      landfast([...command, '--help'], { cwd: place.path }),
      landfast([...command, '--help', '--help'], { cwd: place.path }),
    ]);
    expect(atOnce).toEqual(whole);
    expect(atOnce.stdout).toContain(['Usage: landfast', ...command].join(' '));
  },
);

test('no arguments: help on standard error and exit 2; --help and --version: exit 0', async () => {
  await using place = await tempDir();
  const cwd = join(place.path, 'x');
  mkdirSync(cwd);
  expect(await landfast([], { cwd })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: landfast'),
  });
  expect(await landfast(['--help'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  const version = await landfast(['--version'], { cwd });
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const args of [['-v'], ['version'], ['version', '-C', '.']]) {
    expect(await landfast(args, { cwd })).toEqual(version);
  }
  expect(await landfast(['rum'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run'),
  });
});

test('a reader that goes away does not end a run, and ends whatever only prints', async () => {
  await using repo = await tempRepo();
  const plan = join(repo.outside, 'plan.yaml');
  writeFileSync(
    plan,
    nativePlan({ tasks: { a: 'sleep 0.3; echo 1 > a.txt', b: 'echo 1 > b.txt' } }),
  );
  const bin = `"${process.execPath}" "${join(root, 'bin', 'landfast.cjs')}"`;
  const options = { cwd: repo.dir, env: bareEnv(repo.outside) };
  const piped = `(${bin} run "${plan}" --events; echo "exit $?" >&2) | head -1`;
  expect((await exec('sh', ['-c', piped], options)).stderr).toMatch(/exit 0$/m);
  expect(await repo.git('ls-files')).toBe('README.md\na.txt\nb.txt');
  const looked = await exec('sh', ['-c', `${bin} status --json | head -1`], options);
  expect(looked).toEqual({ stdout: '{\n', stderr: '' });
});

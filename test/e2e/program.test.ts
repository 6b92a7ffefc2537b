/** The program as it is published and started. */

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bareEnv, landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { tempRepo } from '../support/temp-repo.ts';

const exec = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

test('the packed package installs into an empty folder, needs nothing else, and runs', async () => {
  await using place = await tempDir();
  const home = join(place.path, 'home');
  const env = { ...bareEnv(home), npm_config_cache: join(place.path, 'cache') };
  mkdirSync(home);
  const packed = await exec(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', place.path],
    { cwd: root, env },
  );
  const app = join(place.path, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private": true}\n');
  const tarball = join(place.path, packed.stdout.trim().split('\n').at(-1) ?? '');
  await exec('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: app,
    env,
  });
  expect(readdirSync(join(app, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'landfast',
  ]);
  const bin = join(app, 'node_modules', '.bin', 'landfast');
  const help = await exec(bin, ['--help'], { cwd: app, env });
  expect(help.stdout).toContain('Usage: landfast');
  const demo = await exec(bin, ['demo'], { cwd: app, env });
  expect(demo.stdout).toContain('Land ');
}, 60_000);

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

test.each(['--help', '--version'])('%s answers in under 100 ms of CPU time', async (flag) => {
  await using place = await tempDir();
  const file = join(place.path, 'probe.sh');
  const bin = join(root, 'bin', 'landfast.cjs');
  // The shell's own `times` counts the processor time of its children, in whatever load.
  writeFileSync(file, `"${process.execPath}" "${bin}" ${flag} >/dev/null\ntimes\n`);
  const cpuMs: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { stdout } = await exec('sh', [file], { env: bareEnv(place.path) });
    cpuMs.push(childCpuMs(stdout));
  }
  expect(Math.min(...cpuMs)).toBeLessThan(100);
});

/** The second line of `times`: user and system time of the children, `0m0.043s 0m0.012s`. */
function childCpuMs(times: string): number {
  const children = times.trim().split('\n')[1] ?? '';
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => {
    return sum + (Number(minutes) * 60 + Number(seconds)) * 1000;
  }, 0);
}

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
  expect((await landfast(['--version'], { cwd })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
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

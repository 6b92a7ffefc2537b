/**
 * What a seed saves: 200 packages of 100 small files in `node_modules`, brought to a new workspace in
 * every way there is. The set-up is a real `npm ci`, offline, from tarballs on the same disk, so that
 * no network is in its time; the others start from what it made. All take turns.
 *
 *   npm run bench:seeds [-- --dir FOLDER]       FOLDER: the file system, by default one in memory
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultPlace, execute, fileSystemOf, type Ground, git, openGround } from './ground.ts';
import { type Times, timeCommand } from './measure.ts';

const PACKAGES = 200;
const FILES = 100;
const LINES = 40;
const ROUNDS = 5;
const BYTES = 1024 ** 3;
const { signal } = new AbortController();

const { values } = parseArgs({ options: { dir: { type: 'string' } } });
const place = values.dir ?? defaultPlace(tmpdir(), BYTES);
await using ground = await openGround(place);
console.log(`${PACKAGES * FILES} files of ${LINES} lines on ${fileSystemOf(ground.dir)}`);
await measure(ground);

async function measure({ dir, env }: Ground): Promise<void> {
  const repo = join(dir, 'repo');
  await build(repo);
  const once = [process.execPath, join(import.meta.dirname, 'seed-once.ts'), repo];
  const modules = (name: string): string => join(`${repo}.worktrees`, name, 'node_modules');
  const ways: Readonly<Record<string, (to: string) => readonly string[]>> = {
    'npm ci': (to) => ['sh', '-c', `cd '${to}' && npm ci --offline --silent`],
    'cp -r': (to) => ['cp', '-r', modules('first'), join(to, 'node_modules')],
    'seed, auto': (to) => [...once, 'auto', to],
    'seed, link': (to) => [...once, 'link', to],
  };
  await git(ground, repo, ['worktree', 'add', '-q', '--detach', `${repo}.worktrees/first`], signal);
  for (const by of ['auto', 'link']) {
    await execute(once[0]!, [...once.slice(1), by, `${repo}.worktrees/first`, 'store'], { env });
  }
  const all = new Map<string, Times[]>(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, command] of Object.entries(ways)) {
      const to = `${repo}.worktrees/next`;
      await git(ground, repo, ['worktree', 'add', '-q', '--detach', to], signal);
      all.get(name)?.push(await timeCommand({ command: command(to), env, dir }, signal));
      await git(ground, repo, ['worktree', 'remove', '--force', to], signal);
    }
  }
  tell(all);
}

/** A repository whose dependencies are tarballs beside it. */
async function build(repo: string): Promise<void> {
  const tarballs = join(ground.dir, 'tarballs');
  mkdirSync(join(repo, '..', 'home'), { recursive: true });
  const dependencies: Record<string, string> = {};
  for (let at = 0; at < PACKAGES; at += 1) {
    const [name, folder] = [`p${at}`, join(tarballs, `p${at}`, 'package')];
    mkdirSync(join(folder, 'lib'), { recursive: true });
    const manifest = { name, version: '1.0.0', bin: { [name]: 'lib/f0.js' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    for (let file = 1; file < FILES; file += 1) {
      const text = `module.exports.v${file} = ${at};\n`.repeat(LINES);
      writeFileSync(join(folder, 'lib', `f${file - 1}.js`), text);
    }
    const tarball = join(tarballs, `${name}.tgz`);
    await execute('tar', ['-czf', tarball, '-C', join(folder, '..'), 'package']);
    rmSync(join(folder, '..'), { recursive: true });
    dependencies[name] = `file:${tarball}`;
  }
  mkdirSync(repo, { recursive: true });
  writeFileSync(join(repo, 'package.json'), JSON.stringify({ name: 'bench', dependencies }));
  writeFileSync(join(repo, '.gitignore'), 'node_modules/\n');
  const { env } = ground;
  await execute('npm', ['install', '--package-lock-only', '--silent'], { cwd: repo, env });
  await execute('npm', ['ci', '--silent'], { cwd: repo, env }); // Fills npm's cache.
  rmSync(join(repo, 'node_modules'), { recursive: true });
  await git(ground, repo, ['init', '-q'], signal);
  await git(ground, repo, ['add', '-A'], signal);
  await git(ground, repo, ['commit', '-q', '-m', 'Begin'], signal);
}

function tell(all: ReadonlyMap<string, readonly Times[]>): void {
  const median = (name: string, what: keyof Times): number =>
    (all.get(name) ?? []).map((times) => times[what]).sort((a, b) => a - b)[(ROUNDS - 1) / 2] ?? 0;
  for (const name of all.keys()) {
    const figures = (['wallMs', 'cpuMs'] as const).map((what) => {
      const ratio = median(name, what) / median('npm ci', what);
      return `${what.slice(0, -2)} ${(median(name, what) / 1000).toFixed(2)} s (${ratio.toFixed(2)})`;
    });
    console.log(`${name.padEnd(12)} ${figures.join('   ')}`);
  }
}

/** The simulator finds every planted bug (mutants.ts), and none in the sources as they are. */

import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MUTANTS, type Mutant } from './mutants.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
/** Folders that a simulated engine is made of. */
const FOLDERS = ['src/base', 'src/model', 'src/schedule', 'src/journal', 'src/engine', 'test/sim'];
const SEEDS = 300;
/** Many times what a simulation takes. */
const MOST_MB = 1_000;
const FULL = expect.stringContaining('heap out of memory');
/** Far longer than it takes, on a machine that is busy with something else, too. */
const HANGS_MS = 900_000;
/** Each is a process that keeps one core busy; more of them at a time only wait for each other. */
const AT_A_TIME = 2;
vi.setConfig({ testTimeout: HANGS_MS + 20_000, maxConcurrency: AT_A_TIME });

let scratch = '';
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'landfast-mutants-'));
  await symlink(join(PROJECT, 'node_modules'), join(scratch, 'node_modules'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test.concurrent('the sources as they are pass', async () => {
  const copy = await copyOf('none');
  expect(await simulateIn(copy)).toEqual({ code: 0, broken: null });
});

test.concurrent.each(MUTANTS.map((mutant, index) => ({ ...mutant, index })))(
  'caught: $name',
  async (mutant) => {
    const copy = await copyOf(`${mutant.index}`);
    await plant(copy, mutant);
    const { world, isEndless } = mutant;
    const seen = await simulateIn(copy, world === undefined ? undefined : [world, 1]);
    expect(seen).toEqual(
      isEndless
        ? { code: 'SIGABRT', broken: FULL }
        : { code: 1, broken: expect.stringMatching(/^world \d+: /) },
    );
  },
);

async function copyOf(name: string): Promise<string> {
  const copy = join(scratch, name);
  for (const folder of FOLDERS) {
    await cp(join(PROJECT, folder), join(copy, folder), { recursive: true });
  }
  await cp(join(PROJECT, 'package.json'), join(copy, 'package.json'));
  return copy;
}

async function plant(copy: string, { name, file, find, replace }: Mutant): Promise<void> {
  const text = await readFile(join(copy, file), 'utf8');
  const found = text.split(find).length - 1;
  const remedy = 'Bring test/sim/mutants.ts up to date with the code.';
  expect(found, `"${name}": its text occurs ${found} times in ${file}. ${remedy}`).toBe(1);
  await writeFile(
    join(copy, file),
    text.replace(find, () => replace),
  );
}

/** The first rule that breaks, in a process of its own: a planted bug may also loop for ever. */
function simulateIn(
  copy: string,
  worlds: readonly [first: number, count: number] = [0, SEEDS],
): Promise<{ code: unknown; broken: string | null }> {
  const args = [`--max-old-space-size=${MOST_MB}`, 'test/sim/run-seeds.ts', ...worlds.map(String)];
  const options = { cwd: copy, timeout: HANGS_MS, env: { ...process.env, SIM_ENTRIES: '3' } };
  return new Promise((done) => {
    execFile(process.execPath, args, options, (error, _stdout, stderr) => {
      const broken = /^Violation: (.*)$/m.exec(stderr)?.[1] ?? (stderr === '' ? null : stderr);
      done({ code: error === null ? 0 : (error.code ?? error.signal), broken });
    });
  });
}

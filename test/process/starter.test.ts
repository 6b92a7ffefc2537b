/** The starter: its shells are as our own children, and none of them stays. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sweepScratch } from '../../src/process/scratch.ts';
import type { Shell } from '../../src/process/shell.ts';
import { sendSignal } from '../../src/process/spawn.ts';
import { closeStarter, openStarter, startShell, takePipes } from '../../src/process/starter.ts';
import { processTable } from '../../src/process/table.ts';
import { ownTemp } from '../support/own-temp.ts';
import type { TempDir } from '../support/temp-dir.ts';

const ENV = { PATH: process.env.PATH };

let place: TempDir;

beforeEach(async () => {
  place = await ownTemp();
});

afterEach(async () => {
  await closeStarter();
  await place[Symbol.asyncDispose]();
});

/** What a shell says to this, in one line. */
async function answer(shell: Shell, text: string): Promise<string | null> {
  shell.say(`{ ${text}; } 2>&1 | tr '\\n' '|'; echo\n`);
  return shell.line();
}

/** The process that started this shell. */
const parentOf = (shell: Shell): Promise<string | null> => answer(shell, 'echo $PPID');
const ours = `${process.pid}|`;

const folders = (): readonly string[] => readdirSync(join(place.path, 'tmp'));

/** Removes the folders, to which a maker may just be adding pipes. */
function sweep(): void {
  for (const name of folders()) {
    rmSync(join(place.path, 'tmp', name), { recursive: true, force: true, maxRetries: 50 });
  }
}

function parent(pid: number): number | undefined {
  return processTable().find((entry) => entry.pid === pid)?.parent;
}

test('a shell of the starter is as one that we start ourselves', async () => {
  const looks = [
    'env | sort',
    'grep -E "^(Sig(Blk|Ign|Cgt)|Umask|Groups)" /proc/$$/status',
    'pwd',
    'ulimit -a',
    'ps -o tty= -p $$',
  ];
  const env = { ...ENV, ODD: `it's "quoted" $HOME \`x\` \\ and\ntwo lines`, EMPTY: '' };
  const direct = await startShell(env);
  openStarter('r');
  const started = await startShell(env);
  expect(await parentOf(started)).not.toBe(ours);
  for (const look of looks) expect(await answer(started, look)).toBe(await answer(direct, look));
  for (const shell of [started, direct]) shell.say('cd /proc/$$/fd && echo *; cd /\n');
  expect(await started.line()).toBe(await direct.line());
  const leads = 'cut -d " " -f 5,6 /proc/$$/stat'; // Its group and its session.
  expect(await answer(started, leads)).toBe(`${started.pid} ${started.pid}|`);
  await Promise.all([direct.close(), started.close()]);
});

test('as many are started at once as are asked for, each with its own answers', async () => {
  openStarter('r');
  const shells = await Promise.all(Array.from({ length: 30 }, () => startShell(ENV)));
  const parents = await Promise.all(shells.map(parentOf));
  expect(parents).not.toContain(ours);
  expect(new Set(shells.map(({ pid }) => pid)).size).toBe(30);
  const echoes = await Promise.all(shells.map((shell) => answer(shell, `echo ${shell.pid} $$`)));
  expect(echoes).toEqual(shells.map(({ pid }) => `${pid} ${pid}|`));
  await Promise.all(shells.map((shell) => shell.close()));
  await closeStarter();
  expect(folders()).toEqual([]);
});

test('nobody but us holds a pipe of a shell or of one that waits', async () => {
  openStarter('r');
  const shells = await Promise.all([startShell(ENV), startShell(ENV)]);
  const [one, two] = shells.map(({ pid }) => pipesOf(pid)) as [string[], string[]];
  expect([one.length, two.length]).toEqual([2, 2]);
  const holders = processTable().filter(({ pid }) => pid !== process.pid);
  for (const pipe of [...one, ...two]) {
    expect(holders.filter(({ pid }) => pipesOf(pid).includes(pipe))).toHaveLength(1);
  }
  await Promise.all(shells.map((shell) => shell.close()));
});

test('one that is ended leaves no zombie, and says that it is over', async () => {
  openStarter('r');
  const shell = await startShell(ENV);
  sendSignal(-shell.pid, 'SIGKILL');
  expect(await shell.line()).toBe(null);
  await shell.gone;
  expect(shell.isOver).toBe(true);
  await expect.poll(() => existsSync(`/proc/${shell.pid}`)).toBe(false);
});

test('where the starter has been ended, its shells go on and others are started directly', async () => {
  openStarter('r');
  const shell = await startShell(ENV);
  const starter = parent(shell.pid);
  sendSignal(starter ?? 0, 'SIGKILL');
  await expect.poll(() => existsSync(`/proc/${starter}`)).toBe(false);
  const others = await Promise.all(Array.from({ length: 20 }, () => startShell(ENV)));
  expect(await parentOf(others.at(-1)!)).toBe(ours);
  const answers = await Promise.all([shell, ...others].map((each) => answer(each, 'echo on')));
  expect(new Set(answers)).toEqual(new Set(['on|']));
  await Promise.all([shell, ...others].map((each) => each.close()));
});

test('where it cannot make its pipes, shells are started directly', async () => {
  openStarter('r');
  sweep();
  const shell = await startShell(ENV);
  expect(await parentOf(shell)).toBe(ours);
  expect(takePipes()).toBe(null);
  await shell.close();
});

test('where somebody has swept its pipes, shells are started directly', async () => {
  openStarter('r');
  const shells = [await startShell(ENV)];
  sweep();
  for (let n = 0; n < 10; n += 1) shells.push(await startShell(ENV));
  expect(await parentOf(shells.at(-1)!)).toBe(ours);
  const answers = await Promise.all(shells.map((shell) => answer(shell, 'echo on')));
  expect(new Set(answers)).toEqual(new Set(['on|']));
  await Promise.all(shells.map((shell) => shell.close()));
});

test('a shell whose environment could not be handed over is started directly', async () => {
  openStarter('r');
  const shells = await Promise.all([{ 'a.b': '1' }, { IFS: ':' }].map(startShell));
  expect(await Promise.all(shells.map((shell) => answer(shell, 'echo $PPID')))).toEqual([
    ours,
    ours,
  ]);
  await Promise.all(shells.map((shell) => shell.close()));
});

test('it does not wait at its end for a shell that is at work', async () => {
  openStarter('r');
  const shell = await startShell(ENV);
  await closeStarter();
  expect(await answer(shell, 'echo on')).toBe('on|');
  await shell.close();
  await expect.poll(folders).toEqual([]);
});

test.each([0, 1, 5, 12])('none stays where we are killed, %s more being started', async (more) => {
  const starter = join(import.meta.dirname, '../../src/process/starter.ts');
  const file = join(place.path, 'engine.ts');
  writeFileSync(
    file,
    `import { openStarter, startShell } from '${starter}';
     openStarter('r');
     const shell = await startShell({}); // From here on there is somebody who waits.
     shell.say('echo $PPID\\n');
     console.log(await shell.line());
     for (let n = 0; n < ${more}; n += 1) void startShell({});
     setImmediate(() => process.kill(process.pid, 'SIGKILL'));`,
  );
  const engine = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(engine, 'exit');
  const [said] = (await once(engine.stdout, 'data')) as [Buffer];
  await exited;
  expect(engine.signalCode).toBe('SIGKILL');
  await expect.poll(() => leftOf(Number(said)), { timeout: 5_000 }).toEqual([]);
  await sweepScratch('r');
  expect(folders()).toEqual([]);
});

/** The named pipes that a process has open. */
function pipesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      .filter((target) => target.startsWith(place.path));
  } catch {
    return []; // It has ended, or is another user's.
  }
}

/** The starter with those that wait, who are of its session, and whoever has one of its pipes. */
function leftOf(starter: number): readonly number[] {
  return processTable()
    .filter(({ pid, session }) => session === starter || pipesOf(pid).length > 0)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== process.pid);
}

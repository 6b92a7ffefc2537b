/** Launchers: which scripts they start, with what around them, and when one is used again. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Exit } from '../../src/base/exit.ts';
import { closeLaunchers, openLaunchers } from '../../src/process/launcher.ts';
import { marked } from '../../src/process/reap.ts';
import { type Run, run } from '../../src/process/run.ts';
import { sweepScratch } from '../../src/process/scratch.ts';
import { sendSignal } from '../../src/process/spawn.ts';
import { closeStarter, openStarter } from '../../src/process/starter.ts';
import { processTable } from '../../src/process/table.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUN = `launcher-${process.pid}`;
const ENV = { PATH: process.env.PATH };

interface Ended {
  readonly exit: Exit;
  readonly lines: readonly string[];
}

async function script(text: string, more: Partial<Run> = {}): Promise<Ended> {
  const lines: string[] = [];
  const stdin = '';
  const shell = { file: '/bin/sh', args: ['-c', text], cwd: '/', env: ENV, stdin };
  const how = { graceMs: 1_000, mark: `test-${randomUUID()}`, ...more };
  const onLine = (line: string): number => lines.push(line);
  const exit = await run({ ...shell, ...how, onLine }, AbortSignal.timeout(20_000));
  return { exit, lines };
}

/** The process that a script was started from. */
const starter = async (): Promise<string | undefined> => (await script('echo $PPID')).lines[0];

const lives = (pid: number): boolean => processTable().some((entry) => entry.pid === pid);

/** Shells that we start ourselves, and those of the starter: all holds for both. */
describe.each(['directly', 'by the starter'])('started %s', (how) => {
  beforeEach(() => {
    if (how === 'by the starter') openStarter(RUN);
    openLaunchers(RUN);
  });
  afterEach(async () => {
    await closeLaunchers();
    await closeStarter();
  });

  test('one shell starts one script after the other, and more of them as many at a time', async () => {
    const first = await starter();
    expect(first).not.toBe(String(process.pid));
    expect(await starter()).toBe(first);
    const both = await Promise.all([starter(), starter()]);
    expect(new Set(both).size).toBe(2);
  });

  test('a script finds the environment and the folder it was given, and no other files open', async () => {
    await using folder = await tempDir();
    const odd = `it's "quoted" $HOME \`x\` \\ and\ntwo lines`;
    const env = { PATH: ENV.PATH, ODD: odd, EMPTY: '' };
    const dir = join(folder.path, "a folder's name");
    await script(`mkdir "$D"`, { env: { ...env, D: dir } });
    const { lines } = await script('pwd; env -0 | tr "\\0" "\\n" | grep -v ^_=', {
      cwd: dir,
      env,
      mark: null,
    });
    expect(lines[0]).toBe(dir);
    const text = lines.slice(1).join('\n');
    const found = ['PATH', 'ODD', 'EMPTY', 'PWD'].filter((name) => text.includes(`${name}=`));
    expect(found).toEqual(['PATH', 'ODD', 'EMPTY', 'PWD']);
    expect(`${text}\n`).toContain(`ODD=${odd}\n`);
    expect(text.match(/^[A-Za-z]\w*=/gm)?.length).toBe(4);
    const files = await script('ls /proc/self/fd');
    expect(files).toEqual(await script('ls /proc/self/fd', { file: 'sh' }));
  });

  test('a code above 128 is told from a signal', async () => {
    expect((await script('exit 137')).exit).toEqual({ kind: 'exited', code: 137 });
    expect((await script('kill -9 $$')).exit).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect((await script('kill $$')).exit).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
  });

  test('a script that signals its whole group ends as it would elsewhere', async () => {
    const first = await starter();
    const tidy = await script('trap : TERM; sleep 30 & sleep 0.3; kill 0; wait; echo over');
    expect(tidy).toEqual({ exit: { kind: 'exited', code: 0 }, lines: ['over'] });
    expect((await script('kill 0')).exit).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
    expect(await starter()).toBe(first);
    expect((await script('kill -9 0')).exit).toMatchObject({ kind: 'signalled' });
    expect((await script('exit 3')).exit).toEqual({ kind: 'exited', code: 3 });
  });

  test('where somebody who escaped still holds the output, the shell is not used again', async () => {
    const first = await starter();
    // Without a mark, a group or a parent that could tell whose it is.
    const { lines } = await script('setsid env -i sleep 30 & sleep 0.2; exec 2>&-; echo $!', {
      mark: null,
    });
    expect(await starter()).not.toBe(first);
    for (const pid of lines) sendSignal(Number(pid), 'SIGKILL');
  });

  test('a shell that somebody ends takes its script along, and another takes its place', async () => {
    const mark = `test-${randomUUID()}`;
    const { exit } = await script('kill -9 $PPID; sleep 30', { mark });
    expect(exit).toEqual({ kind: 'signalled', signal: 'unknown' });
    expect(marked(mark)).toEqual([]);
    expect((await script('exit 3')).exit).toEqual({ kind: 'exited', code: 3 });
  });

  test('what a shell could not hand over is started directly', async () => {
    const own = String(process.pid);
    expect((await script('echo $PPID', { env: { ...ENV, 'a.b': '1' } })).lines).toEqual([own]);
    expect((await script('echo $PPID', { env: { ...ENV, IFS: ':' } })).lines).toEqual([own]);
    expect((await script('cat; echo $PPID', { stdin: 'in\n' })).lines).toEqual(['in', own]);
    expect((await script('echo $PPID', { file: 'sh' })).lines).toEqual([own]);
  });

  test('no shell and no pipe is left once they are closed', async () => {
    const pid = Number(await starter());
    await closeLaunchers();
    expect(lives(pid)).toBe(false);
    await closeStarter();
    expect(readdirSync(tmpdir()).filter((name) => name.includes(RUN))).toEqual([]);
    expect((await script('echo $PPID')).lines).toEqual([String(process.pid)]);
  });

  test('a shell does not outlive a process that is killed', async () => {
    await using folder = await tempDir();
    const launcher = join(import.meta.dirname, '../../src/process/launcher.ts');
    const runner = join(import.meta.dirname, '../../src/process/run.ts');
    const file = join(folder.path, 'engine.ts');
    const order = `{ file: '/bin/sh', args: ['-c', 'echo $PPID; exec sleep 0.5'], cwd: '/', env: {},
      stdin: '', graceMs: 0, mark: null, onLine: (line) => console.log(line) }`;
    writeFileSync(
      file,
      `import { openLaunchers } from '${launcher}';
       import { run } from '${runner}';
       openLaunchers('${RUN}-killed');
       await run(${order}, new AbortController().signal);`,
    );
    const engine = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [shell] = (await once(engine.stdout, 'data')) as [Buffer];
    engine.kill('SIGKILL');
    await once(engine, 'exit');
    await expect.poll(() => lives(Number(shell)), { timeout: 5_000 }).toBe(false);
    await sweepScratch(`${RUN}-killed`);
  });
});

import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startInBackground } from '../../src/process/spawn.ts';
import { tempDir } from '../support/temp-dir.ts';

async function said(script: string, input: string): Promise<readonly string[]> {
  await using folder = await tempDir();
  const file = join(folder.path, 'log');
  const log = openSync(file, 'a', 0o600);
  const env = { PATH: process.env.PATH ?? '', LANDFAST_MARK: 'run/task.1', KEPT: 'yes' };
  const program = { file: '/bin/sh', args: ['-c', script], cwd: folder.path, env };
  const background = await startInBackground(program, { input, log });
  closeSync(log);
  expect(await background.ended).toEqual({ kind: 'exited', code: 3 });
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

test('a background program reads its input to the end, and its whole output is in the file', async () => {
  expect(await said('cat; echo; echo wrong >&2; exit 3', 'the order')).toEqual([
    'the order',
    'wrong',
  ]);
});

test('a background program has no mark, but the rest of the environment', async () => {
  expect(await said('echo "[$LANDFAST_MARK] [$KEPT]"; exit 3', '')).toEqual(['[] [yes]']);
});

test.skipIf(process.platform !== 'linux')(
  'it leads a session of its own and has no terminal',
  async () => {
    const script = 'ps -o sid=,pid=,tty= -p $$; test -t 0 || echo none; exit 3';
    const [ids = '', terminal] = await said(script, '');
    const [session, pid, tty] = ids.trim().split(/ +/);
    expect([session, tty, terminal]).toEqual([pid, '?', 'none']);
  },
);

test('a background program can be asked to end', async () => {
  await using folder = await tempDir();
  const log = openSync(join(folder.path, 'log'), 'a');
  const program = { file: 'sleep', args: ['600'], cwd: folder.path, env: process.env };
  const background = await startInBackground(program, { input: '', log });
  closeSync(log);
  background.stop();
  expect(await background.ended).toEqual({ kind: 'signalled', signal: 'SIGTERM' });
});

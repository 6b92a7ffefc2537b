/** The shell agent's command line with a real /bin/sh: what arrives, and what it leaves alone. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { shell } from '../../src/agents/shell.ts';
import { jobOf } from '../support/job.ts';

test('a command in the script that reads standard input does not eat the script', async () => {
  expect(await run('cat\nread line || echo "nothing to read"\necho after\n')).toEqual({
    code: 0,
    stdout: 'nothing to read\nafter\n',
  });
});

test('a script may be longer than an argument can be', async () => {
  const script = `${'# a comment to fill the page\n'.repeat(10_000)}echo "at the end"\n`;
  expect(await run(script)).toEqual({ code: 0, stdout: 'at the end\n' });
});

test('the exit code is the script’s own', async () => {
  expect(await run('echo before; exit 7; echo after')).toEqual({ code: 7, stdout: 'before\n' });
  expect(await run('set -e\nfalse\necho after')).toEqual({ code: 1, stdout: '' });
  expect(await run('true && false')).toEqual({ code: 1, stdout: '' });
  expect(await run('no-such-program-here')).toEqual({ code: 127, stdout: '' });
});

test('a script that begins with a dash is a command, not an option', async () => {
  expect(await run('-c "echo wrong"')).toEqual({ code: 127, stdout: '' });
});

test('quotes, dollars, here-documents and functions arrive as they were written', async () => {
  const script = [
    `say() { printf '%s\\n' "$1"; }`,
    `say 'a "b" $HOME \\n c'`,
    'cat <<END\n$((1 + 1))\nEND\n',
  ].join('\n');
  expect(await run(script)).toEqual({ code: 0, stdout: 'a "b" $HOME \\n c\n2\n' });
});

async function run(prompt: string): Promise<{ code: number; stdout: string }> {
  const { file, args, stdin } = shell.command(jobOf({ prompt }));
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  child.stdin.on('error', () => {}); // A script may end before it is read.
  child.stdin.end(stdin);
  const stdout = await text(child.stdout);
  const [code] = await closed;
  return { code, stdout };
}

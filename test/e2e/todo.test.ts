/** Todo lists: shown and asked about, then run as any plan. */

import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Ended, landfast } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { hasScript } from '../support/terminal.ts';

const TODO = `# Shop

- [ ] Add the first file (files: one.txt) @shell
  \`\`\`sh
  echo 1 > one.txt
  \`\`\`
- [x] Something old
- [ ] Add the second file
  - needs: 1
  - it follows the first
`;

/** A repository with a list in it, and a `claude` that writes down how it was called. */
async function project(): Promise<TempRepo & { run(...args: string[]): Promise<Ended> }> {
  const repo = await tempRepo({ files: { 'README.md': 'hello\n', 'todo.md': TODO } });
  const claude = join(repo.outside, 'claude');
  const stub = `#!/bin/sh
cat > '${repo.outside}/prompt'
printf '%s\\n' "$@" > '${repo.outside}/argv'
ls > two.txt
echo done
`;
  await writeFiles(repo.outside, { claude: stub });
  await chmod(claude, 0o755);
  const run = (...args: string[]) =>
    landfast(['run', ...args, '--claude-exe', claude], { cwd: repo.dir });
  return { ...repo, run, [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose]() };
}

test('C23: a list is shown, and nothing starts without a confirmation', async () => {
  await using repo = await project();

  const ended = await repo.run('--from-todo', 'todo.md');

  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain('Plan todo (todo)');
  expect(ended.stdout).toContain('add-the-second-file  claude; needs add-the-first-file');
  expect(ended.stdout).not.toContain('something-old');
  expect(ended.stderr).toContain('Add --execute to run this plan.');
  expect(await repo.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

test.each(['--execute', '-e', '--yolo'])('%s runs the open items in their order', async (flag) => {
  await using repo = await project();

  const ended = await repo.run('--from-todo', 'todo.md', flag);

  expect(ended.code).toBe(0);
  expect(await repo.git('show', 'main:two.txt')).toBe('README.md\none.txt\ntodo.md\ntwo.txt');
  const prompt = execFileSync('cat', [join(repo.outside, 'prompt')], { encoding: 'utf8' });
  expect(prompt).toContain('Add the second file\n\n- it follows the first\n');
  expect(prompt).toContain('This is an item of the list todo.md, under "Shop".');
  const argv = execFileSync('cat', [join(repo.outside, 'argv')], { encoding: 'utf8' });
  expect(argv).not.toContain('--dangerously-skip-permissions');
});

test('C23: workflow.stop_after_generate: false runs a list without a question', async () => {
  await using repo = await project();
  await writeFiles(repo.dir, { 'landfast.yaml': 'workflow: { stop_after_generate: false }\n' });

  const ended = await repo.run('--from-todo', 'todo.md');

  expect(ended.stderr).not.toContain('stop_after_generate');
  expect(await repo.git('show', 'main:two.txt')).toContain('one.txt');
});

test('-y lets agents do anything', async () => {
  await using repo = await project();

  const ended = await repo.run('-t', 'todo.md', '-e', '-y');

  const argv = execFileSync('cat', [join(repo.outside, 'argv')], { encoding: 'utf8' });
  expect(ended.code).toBe(0);
  expect(argv.split('\n')).toContain('--dangerously-skip-permissions');
});

test('a configuration can say that lists are run without asking', async () => {
  await using repo = await project();
  await writeFiles(repo.dir, { 'landfast.yaml': 'workflow: { mode: yolo, auto_approve: true }\n' });

  const ended = await repo.run('--from-todo', 'todo.md');

  const argv = execFileSync('cat', [join(repo.outside, 'argv')], { encoding: 'utf8' });
  expect(ended.code).toBe(0);
  expect(argv.split('\n')).toContain('--dangerously-skip-permissions');
});

test('a list and a plan at once, or what a list cannot be, is wrong usage', async () => {
  await using repo = await project();
  const results = await Promise.all([
    repo.run('--from-todo', 'todo.md', 'plan.yaml'),
    repo.run('--from-todo', 'todo.md', '--split', '1'),
    repo.run('--from-todo', 'todo.md', '--format', 'native'),
    repo.run('--from-todo', 'none.md'),
    repo.run('todo.md'),
  ]);
  expect(results.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    results.map(() => ({ code: 2, stdout: '' })),
  );
});

test.skipIf(!hasScript)('on a terminal the user is asked, and only y is a yes', async () => {
  await using repo = await project();
  const bin = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
  const words = [process.execPath, bin, 'run', '--from-todo', 'todo.md', '--no-dashboard'];
  const command = [...words, '--claude-exe', join(repo.outside, 'claude')].join(' ');
  const answer = (input: string) =>
    execFileSync('script', ['-qec', command, '/dev/null'], {
      cwd: repo.dir,
      input,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: repo.outside, GIT_CONFIG_GLOBAL: '/dev/null' },
    });

  expect(answer('\n')).toMatch(/Run this plan\? \[y\/N\][\s\S]*nothing was started/);
  expect(await repo.git('ls-tree', '--name-only', 'main')).not.toContain('two.txt');
  expect(answer('y\n')).toContain('2 tasks succeeded');
  expect(await repo.git('ls-tree', '--name-only', 'main')).toContain('two.txt');
});

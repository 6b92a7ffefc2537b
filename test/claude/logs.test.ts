/** What the real CLI said and did, as `landfast logs` shows it. */

import { expect, test } from 'vitest';
import { CLAUDE } from '../support/agents/real-agents.ts';
import { agentScene, scriptedTask } from '../support/agents/scene.ts';
import { say } from '../support/agents/scripted-api.ts';

test('logs has times, whole commands, results with their lines, and paths from the workspace', async () => {
  const command = 'echo first &&\n  pwd && ls "$PWD/src/a.txt"';
  await using scene = await agentScene(CLAUDE, {
    one: [CLAUDE.write('src/a.txt', 'x\n'), CLAUDE.shell(command), say('All is\ndone.')],
  });
  const run = await scene.runTasks([scriptedTask('one')]);
  expect((await run.ended).code).toBe(0);
  const { stdout } = await scene.command('logs', 'one');
  const shown = stdout.replace(/\d\d:\d\d:\d\d/g, '12:00:00').split('\n');
  expect(shown[0]).toBe('── one, attempt 1: claude, 12:00:00 ──');
  expect(shown).toContain('12:00:00  Write  src/a.txt');
  const at = shown.indexOf('12:00:00  Bash  echo first &&');
  expect(shown.slice(at + 1, at + 5)).toEqual([
    '            pwd && ls "$PWD/src/a.txt"',
    '          | first',
    '          | .',
    '          | src/a.txt',
  ]);
  const text = shown.indexOf('12:00:00  All is');
  expect(shown[text + 1]).toBe('          done.');
  expect(shown.at(-2)).toMatch(/^── 12:00:00, after .*: finished, 1 file ──$/);
  const prompt = await scene.command('logs', 'one', '--prompt');
  expect(prompt.stdout).toMatch(/Do what one says\n.*# Rules\n/s); // What Landfast adds, too.
});

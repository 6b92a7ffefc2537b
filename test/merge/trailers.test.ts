/** What a landed commit says of its making, as git itself reads it. */

import { expect, test } from 'vitest';
import { buildCandidate } from '../../src/merge/candidate.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';
import { withClaude } from '../support/with-claude.ts';

const TASKS = { one: 'echo new > a.txt' };

const trailersOf = async (repo: TempRepo, commit: string) =>
  (await repo.git('log', '-1', '--format=%(trailers:only)', commit)).trim().split('\n');

test('a merge names its task, its run and its agent, below an unchanged subject', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { tasks: TASKS });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%s', 'main')).toBe('Land one');
  expect(await trailersOf(repo, 'main')).toEqual([
    'Landfast-Task: one',
    `Landfast-Run: ${run.run}`,
    'Landfast-Agent: shell',
  ]);
});

test('trailers: off leaves the message as it is', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, { tasks: TASKS, land: { trailers: 'off' } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%B', 'main')).toBe('Land one');
});

test('a squashed commit names its work and every author but the user', async () => {
  await using repo = await tempRepo();
  const commit = (who: string, file: string): string =>
    `echo x > ${file} && git add . && git commit -qm ${file} --author '${who}'`;
  const script = [
    commit('Grace <grace@example.com>', 'a'),
    commit('Linus <linus@example.com>', 'b'),
    commit('Grace H. <GRACE@example.com>', 'c'),
    'echo mine > d && git add . && git commit -qm d',
  ].join(' && ');
  const run = await runPlan(repo, { tasks: { one: script }, land: { strategy: 'squash' } });
  expect(run).toMatchObject({ code: 0 });
  expect(await repo.git('log', '-1', '--format=%s', 'main')).toBe('Land one');
  const work = run.of('attempt.finished', 'one')[0]?.commit;
  expect(await trailersOf(repo, 'main')).toEqual([
    'Co-authored-by: Grace <grace@example.com>',
    'Co-authored-by: Linus <linus@example.com>',
    'Landfast-Task: one',
    `Landfast-Run: ${run.run}`,
    'Landfast-Agent: shell',
    `Landfast-Work: ${work}`,
  ]);
});

test('trailers that a message ends with stay in one block with ours', async () => {
  await using repo = await tempRepo();
  const work = await repo.commit('work', { 'a.txt': 'a\n' });
  const onto = await repo.commit('main', { 'b.txt': 'b\n' });
  const message = 'Land it\n\nRefs: #7';
  const trailers = ['Landfast-Task: one'];
  const merge = { work, onto, message, trailers, strategy: 'merge' } as const;
  const candidate = await buildCandidate(repo.commonDir, merge, repo.signal);
  if (candidate.kind !== 'built') throw new Error(candidate.kind);
  expect(await trailersOf(repo, candidate.commit)).toEqual(['Refs: #7', 'Landfast-Task: one']);
});

/** Writes a file, and says what that cost. */
const WRITER = `echo new > a.txt
echo '{"type":"system","subtype":"init","session_id":"s","cwd":"/"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","total_cost_usd":0.25}'`;

test('messages are made as the plan says, of who did it and what it cost', async () => {
  await using repo = await tempRepo();
  const conventions = {
    commit_message: '{title} by {agent}/{model}',
    merge_message: 'Land {task}: {agent} ({model}), {cost}',
  };
  const task = { agent: 'claude', model: 'opus', title: 'Make it', prompt: 'x' };
  const plan = { tasks: { one: task }, more: { conventions } };
  const run = await runPlan(repo, plan, { env: withClaude(repo, WRITER) });
  expect(run).toMatchObject({ code: 0 });
  const subjects = (await repo.git('log', '-2', '--topo-order', '--format=%s', 'main')).split('\n');
  expect(subjects).toEqual(['Land one: claude (opus), $0.25', 'Make it by claude/opus']);
  expect(await trailersOf(repo, 'main')).toEqual([
    'Landfast-Task: one',
    `Landfast-Run: ${run.run}`,
    'Landfast-Agent: claude/opus',
    'Landfast-Cost: $0.25',
  ]);
});

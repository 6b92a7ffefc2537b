/**
 * The main job with the real Claude Code CLI: seven tasks, six of them at the same time, each with
 * its own kind of trouble, from plan to published branch.
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Entry } from '../../src/model/event.ts';
import { CLAUDE } from '../support/agents/real-agents.ts';
import {
  type AgentScene,
  agentScene,
  facts,
  scriptedTask,
  untold,
} from '../support/agents/scene.ts';
import {
  after,
  httpError,
  type Scenarios,
  say,
  TOKENS,
  toolCall,
} from '../support/agents/scripted-api.ts';

const { shell, write } = CLAUDE;

/** Tasks that can start at once; each is named like its scenario. */
const SNEAKY = `node -e "require('fs').writeFileSync('sneaky.txt', 'x')"`;
const DENIED = {
  ...{ tool: 'Bash', times: 1 },
  ...{ what: SNEAKY, allow: 'tools: { allowed_cli: [node] }' },
};
const ROOTS = ['plain', 'committer', 'busy', 'broken', 'denied', 'hesitant'] as const;
const TASKS = [...ROOTS, 'dependent'] as const;

const PLAN = {
  name: 'seven',
  limits: { workers: 6 },
  gates: [{ name: 'trees', run: 'test -f README.md && git rev-parse HEAD: >> "$HOME/verified"' }],
};
const PLAN_TASKS = [
  ...['plain', 'committer', 'busy', 'broken', 'hesitant'].map((id) => scriptedTask(id)),
  scriptedTask('denied', { permissions: 'acceptEdits' }),
  scriptedTask('dependent', { needs: ['plain'] }),
];

/** The scripts. The first answer to each root waits for `start`. */
function scenarios(start: Promise<void>): Scenarios {
  return {
    plain: [after(start, write('plain.txt', 'plain work\n')), say('Done.')],
    committer: [
      after(start, write('committer.txt', 'own\n')),
      shell('git add committer.txt && git commit -qm "Add it by hand"'),
      say('Committed.'),
    ],
    busy: [
      after(start, httpError(429, { headers: { 'retry-after': '1' } })),
      write('busy.txt', 'late\n'),
      say('Late, but done.'),
    ],
    broken: [
      after(start, write('broken.txt', 'half\n')),
      ...Array.from({ length: 4 }, () => httpError(500)), // The CLI asks so often, then gives up.
      write('broken-2.txt', 'whole\n'),
      say('Done after all.'),
    ],
    denied: [
      after(start, shell(SNEAKY)),
      write('denied.txt', 'allowed\n'),
      say('Done without it.'),
    ],
    hesitant: [
      after(start, say('It is all done.')),
      write('hesitant.txt', 'done now\n'),
      say('Done.'),
    ],
    dependent: [
      toolCall('Read', { file_path: '{{cwd}}/plain.txt' }),
      shell('echo "It read: $(cat plain.txt)" > dependent.txt'),
      say('Read and written.'),
    ],
  };
}

/** Replies of each model that were no errors. */
const ANSWERS = {
  plain: 2,
  committer: 3,
  busy: 2,
  broken: 3,
  denied: 3,
  hesitant: 3,
  dependent: 3,
};

test('seven tasks run six at a time, survive their troubles, and land', async () => {
  const start = Promise.withResolvers<void>();
  await using scene = await agentScene(CLAUDE, scenarios(start.promise));
  // No reply before all six have asked: they run at the same time, or not at all.
  void Promise.all(ROOTS.map((root) => scene.api.requested(root, 0))).then(() => start.resolve());

  const run = await scene.runTasks(PLAN_TASKS, PLAN);
  const { code, stderr } = await run.ended;

  expect(stderr).toContain('All 7 tasks succeeded');
  expect(code).toBe(0);
  await expectLanded(scene, run.entries);
  expectRetries(scene, run.entries);
  await expectDependency(scene, run.entries);
  await expectReport(scene, run.entries);
  await expectTidy(scene, run.entries);
  await expectOwnEnvironment(scene);
});

/** Everything is on the target, each commit once, and each landed tree is one that was verified. */
async function expectLanded({ repo }: AgentScene, entries: readonly Entry[]): Promise<void> {
  const files = ['broken-2', 'broken', 'busy', 'committer', 'denied', 'dependent', 'hesitant'];
  expect((await repo.git('ls-tree', '-r', '--name-only', 'main')).split('\n')).toEqual([
    'README.md',
    ...[...files, 'plain'].map((name) => `${name}.txt`),
  ]);
  const ours = TASKS.filter((id) => id !== 'committer').map((id) => `${id}: Do what ${id} says`);
  const commits = await repo.git('log', '--no-merges', '--format=%s', 'main');
  expect(commits.split('\n').sort()).toEqual(['Change', 'Add it by hand', ...ours].sort());
  const merges = await repo.git('log', '--merges', '--format=%s', 'main');
  expect(merges.split('\n').sort()).toEqual(TASKS.map((id) => `Land ${id}`).sort());

  const landed = facts(entries, 'merge.landed');
  const trees = await Promise.all(landed.map(({ commit }) => repo.git('rev-parse', `${commit}:`)));
  const verified = await readFile(join(repo.outside, 'verified'), 'utf8');
  expect(verified.trim().split('\n')).toEqual(trees);
  expect(facts(entries, 'gate.finished').map(({ tree, ok }) => [tree, ok])).toEqual(
    trees.map((tree) => [tree, true]),
  );
}

/** The CLI's own retries stay inside an attempt; ours resume the same session and say why. */
function expectRetries(scene: AgentScene, entries: readonly Entry[]): void {
  const failures = facts(entries, 'attempt.failed');
  expect(failures.map(({ task, failure }) => [task, failure.kind]).sort()).toEqual([
    ['broken', 'transient'],
    ['hesitant', 'no-change'],
  ]);
  const asked = TASKS.map((id) => [id, scene.requests(id).length]);
  expect(Object.fromEntries(asked)).toEqual({ ...ANSWERS, busy: 2 + 1, broken: 3 + 4 });

  for (const id of TASKS) {
    const starts = facts(entries, 'attempt.started', id).map(({ start }) => start);
    const session = scene.requests(id)[0]?.session;
    const isRetried = id === 'broken' || id === 'hesitant';
    const again = isRetried ? [{ kind: 'continue', session }] : [];
    expect([id, ...starts]).toEqual([id, { kind: 'fresh' }, ...again]);
    const sessions = facts(entries, 'attempt.session', id).map((fact) => fact.session);
    expect(sessions).toEqual(starts.map(() => session));
    expect(scene.requests(id).every((request) => request.session === session)).toBe(true);
  }
  const { broken, hesitant } = RESUMED;
  expect(untold(scene.requests('broken')[5], ...broken)).toEqual([]);
  expect(untold(scene.requests('hesitant')[1], ...hesitant)).toEqual([]);
}

/** What the model is told when a session is resumed: all that was said, and what went wrong. */
const RESUMED = {
  broken: ['Do what broken says', 'half\n', '# Task broken, attempt 2', 'was cut short'],
  hesitant: ['Do what hesitant says', 'It is all done.', 'without changing a single file'],
};

/** A task that needs another starts from where that one landed, and sees its files. */
async function expectDependency(scene: AgentScene, entries: readonly Entry[]): Promise<void> {
  const { repo } = scene;
  const [landed] = facts(entries, 'merge.landed', 'plain');
  const [started] = facts(entries, 'attempt.started', 'dependent');
  await repo.git('merge-base', '--is-ancestor', `${landed?.commit}`, `${started?.base}`);
  expect(untold(scene.requests('dependent')[1], 'plain work')).toEqual([]);
  expect(await repo.git('show', 'main:dependent.txt')).toBe('It read: plain work');
}

/** The report names every session, counts every token once, and tells of the tool refused. */
async function expectReport(scene: AgentScene, entries: readonly Entry[]): Promise<void> {
  const denied = facts(entries, 'attempt.denied').map(({ task, tool }) => [task, tool]);
  expect(denied).toEqual([['denied', 'Bash']]);

  const report = await scene.report();
  const rows = report.tasks.map(({ id, state, tokens, session, denied, workspace }) => {
    return { id, state, tokens, session, denied, workspace: workspace.state };
  });
  const expected = Object.entries(ANSWERS).map(([id, answers]) => ({
    id,
    state: 'landed',
    tokens: { input: TOKENS.input * answers, output: TOKENS.output * answers },
    session: scene.requests(id)[0]?.session,
    denied: id === 'denied' ? [DENIED] : [],
    workspace: 'removed',
  }));
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  expect(rows.sort(byId)).toEqual(expected.sort(byId));

  const all = Object.values(ANSWERS).reduce((sum, answers) => sum + answers);
  expect(report.tokens).toEqual({ input: TOKENS.input * all, output: TOKENS.output * all });
  const costs = report.tasks.map(({ cost_usd }) => cost_usd);
  expect(Math.min(...costs)).toBeGreaterThan(0);
  expect(report.cost_usd).toBeCloseTo(
    costs.reduce((sum, cost) => sum + cost),
    6,
  );
  expect(report.outcome).toBe('succeeded');
}

/** The checkout followed and is clean; no workspace, branch or process is left. */
async function expectTidy(
  { repo, ...scene }: AgentScene,
  entries: readonly Entry[],
): Promise<void> {
  const tip = await repo.git('rev-parse', 'main');
  expect(facts(entries, 'publish.finished')).toMatchObject([
    { type: 'publish.finished', target: 'main', commit: tip, checkout: 'followed' },
  ]);
  expect(await repo.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  expect(await repo.git('status', '--porcelain')).toBe('');
  expect(await readFile(join(repo.dir, 'plain.txt'), 'utf8')).toBe('plain work\n');
  expect(await repo.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  expect(await repo.git('worktree', 'list')).not.toContain('\n');
  expect(existsSync(`${repo.dir}.worktrees`)).toBe(false);
  expect(scene.processes()).toEqual([]);
}

/** What a session around us had set, or the tests' own process, did not reach the CLI. */
async function expectOwnEnvironment(scene: AgentScene): Promise<void> {
  const environments = await scene.cliEnvironments();
  expect(environments).toHaveLength(TASKS.length + 2); // Two of them had a second attempt.
  for (const environment of environments) {
    const theirs = Object.entries(environment).filter(([name]) => /CLAUDE|ANTHROPIC/.test(name));
    expect(Object.fromEntries(theirs)).toEqual({
      ANTHROPIC_API_KEY: 'sk-test-not-a-key',
      ANTHROPIC_BASE_URL: scene.api.url,
      CLAUDE_CONFIG_DIR: join(scene.repo.outside, '.claude'),
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '3',
      CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
    });
  }
}

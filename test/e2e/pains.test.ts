/**
 * Ten regressions that each bit the users of a tool like this one; the thread that told of it is
 * named with each.
 */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { marked } from '../../src/process/process-tree.ts';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { nativePlan, type PlanParts } from '../support/native-plan.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** Waits until the test, or another task, makes a file beside the repository. */
const until = (name: string): string => `while test ! -e ../../../${name}; do sleep 0.05; done`;

const make = (repo: TempRepo, name: string): void => writeFileSync(join(repo.outside, name), '');

const read = (repo: TempRepo, name: string): string =>
  readFileSync(join(repo.outside, name), 'utf8');

function begin(repo: TempRepo, plan: PlanParts): Running {
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan(plan));
  return start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
}

async function untilMade(repo: TempRepo, name: string): Promise<void> {
  while (!existsSync(join(repo.outside, name))) await new Promise((go) => setTimeout(go, 20));
}

async function kill(engine: Running): Promise<void> {
  engine.child.kill('SIGKILL');
  await engine.ended;
}

const resume = (repo: TempRepo): Promise<Ended> =>
  landfast(['resume', '--events'], { cwd: repo.dir });

const factsOf = ({ stdout }: Pick<Ended, 'stdout'>): readonly Event[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { event: Event }).event);

const runOf = async (repo: TempRepo): Promise<string> => {
  const { stdout } = await landfast(['runs', '--json'], { cwd: repo.dir });
  return (JSON.parse(stdout) as { run: string }[])[0]?.run ?? '';
};

test('restore does not drop a dirty tree (Untrivial-ai/agent-orchestrator#1926)', async () => {
  await using repo = await tempRepo({ files: { 'a.txt': 'old\n', 'mine.txt': 'old\n' } });
  const script = `if test "$LANDFAST_ATTEMPT" = 1; then
      echo staged > staged.txt; git add staged.txt
      echo changed > a.txt; mkdir deep; echo loose > deep/loose.txt; touch ../../../up
    fi
    ${until('go')}; echo done > done.txt`;
  const engine = begin(repo, { tasks: { one: script } });
  await untilMade(repo, 'up');
  await kill(engine);
  await repo.write({ 'mine.txt': 'being edited\n', 'untracked.txt': 'mine\n' });
  make(repo, 'go');
  expect(await resume(repo)).toMatchObject({ code: 0 });
  const kept = `refs/landfast/kept/${await runOf(repo)}/one.1`;
  expect(await repo.git('show', `${kept}:a.txt`)).toBe('changed');
  expect(await repo.git('show', `${kept}:staged.txt`)).toBe('staged');
  expect(await repo.git('show', `${kept}:deep/loose.txt`)).toBe('loose');
  expect(await repo.git('status', '--porcelain')).toBe('M mine.txt\n?? untracked.txt');
  expect(await repo.git('ls-files')).toBe('a.txt\ndone.txt\nmine.txt');
});

test('resume after a failed merge tries the merge again (HenryLach/taskplane#102)', async () => {
  await using repo = await tempRepo();
  const run = await runPlan(repo, {
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'weather', run: `test -e ${join(repo.outside, 'green')}`, base: 'red' }],
    tasks: {
      first: 'echo 1 > first.txt',
      next: { needs: ['first'], prompt: 'cat first.txt > next.txt' },
    },
  });
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('first')).toMatchObject({ kind: 'gate-failed' });
  make(repo, 'green');
  const resumed = await resume(repo);
  expect(resumed).toMatchObject({ code: 0 });
  const landed = factsOf(resumed).flatMap((fact) =>
    fact.type === 'merge.landed' ? [fact.task] : [],
  );
  expect(landed).toEqual(['first', 'next']);
  expect(await repo.git('ls-files')).toBe('README.md\nfirst.txt\nnext.txt');
});

test('so does resume after a crash in the middle of one, without the agent (taskplane#102)', async () => {
  await using repo = await tempRepo();
  const engine = begin(repo, {
    gates: [{ name: 'slow', run: `touch ../../../merging; ${until('go')}` }],
    tasks: { one: 'echo x >> ../../../calls; echo 1 > one.txt' },
  });
  await untilMade(repo, 'merging');
  await kill(engine);
  make(repo, 'go');
  expect(await resume(repo)).toMatchObject({ code: 0 });
  expect(read(repo, 'calls')).toBe('x\n');
  expect(await repo.git('ls-files')).toBe('README.md\none.txt');
});

test('cleaning up counts untracked files (anthropics/claude-code#35862)', async () => {
  await using repo = await tempRepo();
  const hook = join(repo.commonDir, 'hooks', 'post-commit');
  writeFileSync(hook, '#!/bin/sh\necho precious > left.txt\n');
  chmodSync(hook, 0o755);
  const run = await runPlan(repo, {
    tasks: { landed: 'echo 1 > a.txt', failed: 'mkdir deep; echo only > deep/only.txt; exit 1' },
  });
  expect(run).toMatchObject({ code: 1 });
  const left = `refs/landfast/kept/${run.run}/landed:left.txt`;
  expect(await repo.git('show', left)).toBe('precious');
  expect(run.of('workspace.kept').map(({ task }) => task)).toEqual(['failed']);
  expect(read(repo, `repo.worktrees/${run.run}/failed/deep/only.txt`)).toBe('only\n');
});

test('thirteen agents that commit at once all succeed (anthropics/claude-code#55724)', async () => {
  await using repo = await tempRepo();
  const names = Array.from({ length: 13 }, (_, index) => `agent-${index}`);
  const meet = 'while test "$(ls ../../.. | grep -c "^ready-")" -lt 13; do sleep 0.05; done';
  const commit = (name: string, n: number): string =>
    `echo ${n} > ${name}.${n}; git add -A; git commit -qm "${name} ${n}" || exit 1`;
  const script = (name: string): string =>
    `touch ../../../ready-${name}; ${meet}; ${commit(name, 1)}; ${commit(name, 2)}; echo 3 > ${name}.3`;
  const run = await runPlan(repo, {
    workers: 13,
    tasks: Object.fromEntries(names.map((name) => [name, script(name)])),
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('attempt.started')).toHaveLength(13);
  expect(
    run
      .of('merge.landed')
      .map(({ task }) => task)
      .sort(),
  ).toEqual([...names].sort());
  const files = names.flatMap((name) => [1, 2, 3].map((n) => `${name}.${n}`));
  expect((await repo.git('ls-files')).split('\n')).toEqual(['README.md', ...files].sort());
});

test('work starts from the commit that is recorded (anthropics/claude-code#88967)', async () => {
  await using repo = await tempRepo();
  const base = await repo.git('rev-parse', 'main');
  const engine = begin(repo, {
    tasks: {
      one: `git rev-parse HEAD; touch ../../../up; ${until('go')}; echo 1 > one.txt`,
      two: { needs: ['one'], prompt: 'git rev-parse HEAD; echo 1 > two.txt' },
    },
  });
  await untilMade(repo, 'up');
  await repo.commit('main', { 'theirs.txt': '1\n' });
  make(repo, 'go');
  expect(await engine.ended).toMatchObject({ code: 0 });
  const facts = engine.entries.map(({ event }) => event);
  const recorded = facts.flatMap((fact) => (fact.type === 'attempt.started' ? [fact.base] : []));
  const seen = facts.flatMap((fact) => (fact.type === 'attempt.finished' ? [fact.text] : []));
  const [first] = facts.flatMap((fact) => (fact.type === 'merge.landed' ? [fact.commit] : []));
  expect(seen).toEqual(recorded);
  expect(recorded).toEqual([base, first]);
  expect(facts[0]).toMatchObject({ type: 'run.started', base });
});

test.each([
  ['merge', 'echo 0 > 0; git add 0; git commit -qm own; '],
  ['squash', ''],
])(
  'after landing by %s every patch is in the target by git cherry (gastownhall/gascity-packs#172)',
  async (strategy, own) => {
    await using repo = await tempRepo();
    const base = await repo.git('rev-parse', 'main');
    const names = ['one', 'two', 'three'];
    const script = (name: string): string =>
      `${own.replaceAll('0', `${name}.0`)}echo 1 > ${name}.1`;
    const run = await runPlan(repo, {
      land: { strategy },
      tasks: Object.fromEntries(names.map((name) => [name, script(name)])),
    });
    expect(run).toMatchObject({ code: 0 });
    const works = run.of('attempt.finished').map(({ commit }) => commit ?? '');
    expect(works).toHaveLength(3);
    for (const work of works) {
      const patches = (await repo.git('cherry', base, work)).split('\n');
      expect(patches).toHaveLength(own === '' ? 1 : 2);
      expect(patches.every((line) => line.startsWith('+ '))).toBe(true);
      expect(await repo.git('cherry', 'main', work)).not.toMatch(/^\+/m);
    }
  },
);

test('a success without a single tool call or change is a failure (deftai/directive#3979)', async () => {
  await using repo = await tempRepo();
  const exe = join(repo.outside, 'claude');
  const lines = [
    { type: 'system', subtype: 'init', session_id: 's' },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'All done!' }] } },
    { type: 'result', subtype: 'success', is_error: false, session_id: 's', result: 'All done!' },
  ];
  const said = lines.map((line) => `echo '${JSON.stringify(line)}'`).join('\n');
  writeFileSync(exe, `#!/bin/sh\ncat > /dev/null\n${said}\n`);
  chmodSync(exe, 0o755);
  const run = await runPlan(
    repo,
    { tasks: { one: { agent: 'claude', prompt: 'Do it.' } } },
    { args: ['--claude-exe', exe] },
  );
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure('one')).toMatchObject({ kind: 'no-change' });
  expect(run.of('merge.started')).toEqual([]);
});

test.each([
  ['a pinentry without a terminal', { 'gpg.program': 'HERE/gpg' }],
  ['an ssh key that is not there', { 'gpg.format': 'ssh', 'user.signingKey': '/no/such/key.pub' }],
])(
  'commit.gpgsign with %s is told before an agent starts (jikig-ai/soleur#7644)',
  async (_, more) => {
    await using repo = await tempRepo();
    writeFileSync(join(repo.outside, 'gpg'), '#!/bin/sh\nread pin < /dev/tty || exit 2\n');
    chmodSync(join(repo.outside, 'gpg'), 0o755);
    for (const [name, value] of Object.entries({ 'commit.gpgSign': 'true', ...more })) {
      await repo.git('config', name, value.replace('HERE', repo.outside));
    }
    const run = await runPlan(repo, { tasks: { one: 'touch ../../../begun' } });
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.stderr).toContain('commits cannot be signed without a prompt');
    expect(existsSync(join(repo.outside, 'begun'))).toBe(false);
  },
);

test('two dispatchers cannot claim one task (digitaldrywood/detent#193)', async () => {
  await using repo = await tempRepo();
  const script = `echo $LANDFAST_ATTEMPT >> ../../../calls; touch ../../../up; ${until('go')}; echo 1 > a`;
  const engine = begin(repo, { tasks: { one: script } });
  await untilMade(repo, 'up');
  const refused = await Promise.all([resume(repo), resume(repo)]);
  expect(refused.map(({ code }) => code)).toEqual([3, 3]);
  await kill(engine);
  const rivals = [resume(repo), resume(repo), resume(repo)];
  while (read(repo, 'calls').split('\n').length < 3) await new Promise((go) => setTimeout(go, 20));
  make(repo, 'go');
  const codes = (await Promise.all(rivals)).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 3, 3]);
  expect(read(repo, 'calls')).toBe('1\n2\n');
  expect(await repo.git('log', '--format=%s', '--first-parent')).toBe('Land one\nChange');
});

test('an orchestrator that is killed leaves no live agent after restart (anthropics/claude-code#20369)', async () => {
  await using repo = await tempRepo();
  const script = `if test "$LANDFAST_ATTEMPT" = 1; then
      (setsid nohup sleep 600 >/dev/null 2>&1 & echo $! >> ../../../pids)
      sleep 600 & echo $! $$ >> ../../../pids; touch ../../../up; wait
    else
      for pid in $(cat ../../../pids); do
        if test -e /proc/$pid && ! grep -q '^State:.Z' /proc/$pid/status; then exit 9; fi
      done
      echo 1 > a.txt
    fi`;
  const engine = begin(repo, { tasks: { one: script } });
  await untilMade(repo, 'up');
  await kill(engine);
  const run = await runOf(repo);
  await vi.waitUntil(() => marked(`${run}/`).length >= 3, { timeout: 60_000 });
  expect(await resume(repo)).toMatchObject({ code: 0 });
  expect(marked(`${run}/`)).toEqual([]);
});

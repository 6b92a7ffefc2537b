/** The radar with real git: what it sees, and that looking leaves no trace. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openRepository } from '../../src/git/repository.ts';
import type { RadarEvent } from '../../src/model/event.ts';
import { fold } from '../../src/model/fold.ts';
import type { RunState } from '../../src/model/state.ts';
import { workspaceDir } from '../../src/workspace/folders.ts';
import { Radar } from '../../src/workspace/radar/radar.ts';
import { runContext } from '../../src/workspace/run-context.ts';
import { planOf, type TaskInput } from '../support/journal-builder.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../support/no-memory.ts';
import { testPool } from '../support/pool.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\n';
const FILES = { 'shared.txt': LINES, 'lib/a.ts': 'a\n', 'lib/b.ts': 'b\n', '.gitignore': 'out/\n' };

interface Scene extends AsyncDisposable {
  readonly repo: TempRepo;
  /** What the radar says when it looks now. */
  look(state?: RunState, until?: number): Promise<readonly RadarEvent[]>;
  /** Looks until something is said: the kernel tells of a change when it likes to. */
  hear(): Promise<readonly RadarEvent[]>;
  write(task: string, files: Readonly<Record<string, string>>): void;
  dirOf(task: string): string;
  readonly state: RunState;
}

async function scene(
  tasks: readonly TaskInput[],
  more: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const repo = await tempRepo({ files: { ...FILES, ...more } });
  const base = await repo.git('rev-parse', 'HEAD');
  const plan = planOf(tasks);
  const opened = await openRepository(repo.dir, repo.signal);
  if (opened.kind !== 'repository') throw new Error('there is a repository');
  const { repository } = opened;
  const parts = {
    env: {},
    pool: testPool(repo, 0),
    verdicts: NO_MEMORY,
    resolutions: NO_RESOLUTIONS,
    assertHeld: () => undefined,
  };
  const context = runContext({ repository, run: 'r1', plan, ...parts });
  for (const { id } of tasks) {
    const dir = workspaceDir(context, id);
    mkdirSync(dirname(dir), { recursive: true });
    await repo.git('worktree', 'add', '-q', '-b', `landfast/r1.${id}`, dir, base);
  }
  const started = { type: 'run.started', plan, planHash: '', base, target: 'main' } as const;
  const attempts = tasks.map(({ id }) => {
    const start = { kind: 'fresh' } as const;
    return { type: 'attempt.started', task: id, attempt: 1, base, start } as const;
  });
  const events = [started, ...attempts];
  const state = fold(events.map((event, at) => ({ seq: at + 1, at, event })));
  const said: RadarEvent[] = [];
  const radar = new Radar(context, { report: (fact) => said.push(fact), lands: true });
  const look = async (now = state, until = now.at) => {
    await radar.look(now, until, repo.signal);
    return said.splice(0);
  };
  const dirOf = (task: string) => workspaceDir(context, task);
  return {
    repo,
    state,
    look,
    dirOf,
    hear: async () => {
      for (;;) {
        const facts = await look();
        if (facts.length > 0) return facts;
      }
    },
    write: (task, files) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(dirOf(task), path)), { recursive: true });
        writeFileSync(join(dirOf(task), path), text);
      }
    },
    [Symbol.asyncDispose]: async () => {
      radar.forget();
      await repo[Symbol.asyncDispose]();
    },
  };
}

const line = (text: string) => LINES.replace('three', text);

test('two tasks that change the same line are reported while they work, once, and again when it is over', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  expect(await at.look()).toEqual([]);
  at.write('a', { 'shared.txt': line('A') });
  at.write('c', { 'shared.txt': `${LINES}six\n` });
  at.write('b', { 'shared.txt': line('B') });
  const conflict = { type: 'radar.conflict', a: 'a', b: 'b', files: ['shared.txt'] };
  expect(await at.hear()).toEqual([conflict]);
  expect(await at.look()).toEqual([]);
  at.write('b', { 'shared.txt': LINES });
  expect(await at.hear()).toEqual([{ type: 'radar.cleared', a: 'a', b: 'b' }]);
});

test('a first look sees what is there, committed or not', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  at.write('a', { 'new.txt': 'from a\n' });
  at.write('b', { 'new.txt': 'from b\n' });
  await runGit(at.dirOf('b'), ['add', '.']);
  await runGit(at.dirOf('b'), ['commit', '-q', '-m', 'Mine']);
  const conflict = { type: 'radar.conflict', a: 'a', b: 'b', files: ['new.txt'] };
  expect(await at.look()).toEqual([conflict]);
});

test('a task that has only just started is inspected the next time', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  at.write('a', { 'new.txt': 'from a\n' });
  at.write('b', { 'new.txt': 'from b\n' });
  const begunAt = at.state.tasks.get('b')?.attempts.at(-1)?.startedAt ?? 0;
  expect(await at.look(at.state, begunAt - 1)).toEqual([]);
  expect((await at.look(at.state, begunAt)).map(({ type }) => type)).toEqual(['radar.conflict']);
});

test('new folders, folders that go and folders that come back are seen', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  await at.look();
  at.write('a', { 'deep/er/x.txt': 'from a\n' });
  at.write('b', { 'deep/er/x.txt': 'from b\n' });
  const files = (facts: readonly RadarEvent[]) =>
    facts.flatMap((fact) => (fact.type === 'radar.conflict' ? fact.files : []));
  expect(files(await at.hear())).toEqual(['deep/er/x.txt']);
  rmSync(join(at.dirOf('b'), 'deep'), { recursive: true });
  expect((await at.hear()).map(({ type }) => type)).toEqual(['radar.cleared']);
  rmSync(join(at.dirOf('a'), 'lib'), { recursive: true });
  at.write('b', { 'lib/a.ts': 'changed\n' });
  expect(files(await at.hear())).toEqual(['lib/a.ts']);
  at.write('a', { 'lib/a.ts': 'a\n', 'lib/b.ts': 'b\n' });
  expect((await at.hear()).map(({ type }) => type)).toEqual(['radar.cleared']);
});

test('ignored files are not work', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  await at.look();
  at.write('a', { 'out/x': 'a', 'done-a': '' });
  at.write('b', { 'out/x': 'b', 'shared.txt': line('B') });
  at.write('a', { 'shared.txt': line('A') });
  expect(await at.hear()).toEqual([
    { type: 'radar.conflict', a: 'a', b: 'b', files: ['shared.txt'] },
  ]);
});

test('nothing of the agent’s is touched: neither its index nor its files nor its refs', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  at.write('a', { 'shared.txt': line('A'), 'staged.txt': 's\n', 'loose.txt': 'l\n' });
  at.write('b', { 'shared.txt': line('B') });
  await runGit(at.dirOf('a'), ['add', 'staged.txt']);
  const index = await runGit(at.dirOf('a'), ['rev-parse', '--git-path', 'index']);
  const seen = async () => ({
    index: readFileSync(index).toString('hex'),
    status: await runGit(at.dirOf('a'), ['status', '--porcelain', '-uall']),
    refs: await at.repo.git('for-each-ref'),
    text: readFileSync(join(at.dirOf('a'), 'shared.txt'), 'utf8'),
  });
  await runGit(at.dirOf('a'), ['status']);
  const before = await seen();
  expect((await at.look()).map(({ type }) => type)).toEqual(['radar.conflict']);
  at.write('b', { 'shared.txt': line('C') });
  at.write('b', { 'loose.txt': 'b\n' });
  await at.hear();
  expect(await seen()).toEqual(before);
});

test('work that landed meanwhile is a conflict with the head', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  const head = await at.repo.commit('landed', { 'shared.txt': line('LANDED') });
  at.write('a', { 'shared.txt': line('A') });
  at.write('b', { 'lib/b.ts': 'mine\n' });
  const facts = await at.look({ ...at.state, head });
  expect(facts).toEqual([{ type: 'radar.conflict', a: 'a', b: null, files: ['shared.txt'] }]);
});

test('finished work that waits to land is compared as the commit it is', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }]);
  at.write('a', { 'shared.txt': line('A') });
  await runGit(at.dirOf('a'), ['commit', '-qam', 'A']);
  const commit = await runGit(at.dirOf('a'), ['rev-parse', 'HEAD']);
  const done = {
    ...at.state.tasks.get('a')!,
    status: { kind: 'committed', commit, at: 9 },
  } as const;
  const state = { ...at.state, tasks: new Map(at.state.tasks).set('a', done) };
  expect(await at.look(state)).toEqual([]);
  at.write('b', { 'shared.txt': line('B') });
  const facts: RadarEvent[] = [];
  while (facts.length === 0) facts.push(...(await at.look(state)));
  expect(facts).toEqual([{ type: 'radar.conflict', a: 'a', b: 'b', files: ['shared.txt'] }]);
});

test('a file outside the scope is reported when it changes and when it is undone', async () => {
  await using at = await scene([
    { id: 'a', writes: ['lib/**'], forbids: ['lib/b.ts'] },
    { id: 'b' },
  ]);
  await at.look();
  at.write('a', { 'lib/a.ts': 'mine\n', 'lib/b.ts': 'not mine\n' });
  const strayed = { type: 'scope.strayed', task: 'a', attempt: 1 };
  expect(await at.hear()).toEqual([{ ...strayed, files: ['lib/b.ts'] }]);
  await runGit(at.dirOf('a'), ['checkout', '--', 'lib/b.ts']);
  expect(await at.hear()).toEqual([{ ...strayed, files: [] }]);
});

const STORE = 'export function load(id: string) {}\n';
const API = "import { load } from './store.ts';\nload('1');\n";

test('a function that one task removes and another starts to use is reported while they work', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }], { 'lib/store.ts': STORE });
  await at.look();
  at.write('a', { 'lib/api.ts': API });
  at.write('b', { 'lib/store.ts': 'export {};\n' });
  const clash = { name: 'load', file: 'lib/store.ts', change: 'removed', usedBy: ['lib/api.ts'] };
  const told = { type: 'radar.semantic', a: 'b', b: 'a' };
  expect(await at.hear()).toEqual([{ ...told, names: [clash] }]);
  expect(await at.look()).toEqual([]);
  at.write('b', { 'lib/store.ts': STORE.replace('id: string', 'id: string, at: number') });
  expect(await at.hear()).toEqual([{ ...told, names: [{ ...clash, change: 'signature' }] }]);
  at.write('b', { 'lib/store.ts': STORE });
  expect(await at.hear()).toEqual([{ ...told, names: [] }]);
});

test('names in finished work count, and not where the two do not merge anyway', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }], { 'lib/store.ts': STORE });
  at.write('a', { 'lib/store.ts': 'export {};\n' });
  await runGit(at.dirOf('a'), ['commit', '-qam', 'A']);
  const commit = await runGit(at.dirOf('a'), ['rev-parse', 'HEAD']);
  const status = { kind: 'committed', commit, at: 9 } as const;
  const done = { ...at.state.tasks.get('a')!, status };
  const state = { ...at.state, tasks: new Map(at.state.tasks).set('a', done) };
  const hear = async () => {
    for (;;) {
      const facts = await at.look(state);
      if (facts.length > 0) return facts;
    }
  };
  at.write('b', { 'lib/api.ts': API });
  const names = [{ name: 'load', file: 'lib/store.ts', change: 'removed', usedBy: ['lib/api.ts'] }];
  expect(await hear()).toEqual([{ type: 'radar.semantic', a: 'a', b: 'b', names }]);
  at.write('b', { 'lib/store.ts': `// B\n${STORE}` });
  expect(await hear()).toEqual([
    { type: 'radar.conflict', a: 'a', b: 'b', files: ['lib/store.ts'] },
    { type: 'radar.semantic', a: 'a', b: 'b', names: [] },
  ]);
});

/** The scene after one task's work has landed. */
async function landing(at: Scene, task: string, message: string): Promise<RunState> {
  await runGit(at.dirOf(task), ['add', '--all']);
  await runGit(at.dirOf(task), ['commit', '-qm', message]);
  const commit = await runGit(at.dirOf(task), ['rev-parse', 'HEAD']);
  const onto = at.state.base!;
  const done = { ...at.state.tasks.get(task)!, status: { kind: 'landed', commit, at: 9 } as const };
  return {
    ...at.state,
    head: commit,
    tasks: new Map(at.state.tasks).set(task, done),
    landed: [{ task, onto, commit, at: 9 }],
  };
}

const hearing = async (at: Scene, state: RunState) => {
  for (;;) {
    const facts = await at.look(state);
    if (facts.length > 0) return facts;
  }
};

test('a name removed by landed work is reported to a task that starts to use it later', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }], { 'lib/store.ts': STORE });
  at.write('a', { 'lib/store.ts': 'export {};\n' });
  let state = await landing(at, 'a', 'Remove it');
  expect(await at.look(state)).toEqual([]);
  at.write('b', { 'lib/api.ts': API });
  const names = [
    { name: 'load', file: 'lib/store.ts', change: 'removed', usedBy: ['lib/api.ts'] } as const,
  ];
  const told = { type: 'radar.semantic', a: 'a', b: 'b' } as const;
  expect(await hearing(at, state)).toEqual([{ ...told, names }]);
  state = { ...state, radar: { collisions: [], clashes: [{ a: 'a', b: 'b', names }] } };
  expect(await at.look(state)).toEqual([]);
  at.write('b', { 'lib/api.ts': 'export {};\n' });
  expect(await hearing(at, state)).toEqual([{ ...told, names: [] }]);
});

test('a name that a task removes and landed work has started to use is reported as well', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }], { 'lib/store.ts': STORE });
  at.write('a', { 'lib/api.ts': API });
  const state = await landing(at, 'a', 'Use it');
  expect(await at.look(state)).toEqual([]);
  at.write('b', { 'lib/store.ts': 'export {};\n' });
  const names = [{ name: 'load', file: 'lib/store.ts', change: 'removed', usedBy: ['lib/api.ts'] }];
  expect(await hearing(at, state)).toEqual([{ type: 'radar.semantic', a: 'b', b: 'a', names }]);
});

test('work that began after the landing is not compared with it, and what was said is taken back', async () => {
  await using at = await scene([{ id: 'a' }, { id: 'b' }], { 'lib/store.ts': STORE });
  at.write('a', { 'lib/store.ts': 'export {};\n' });
  const state = await landing(at, 'a', 'Remove it');
  await runGit(at.dirOf('b'), ['reset', '-q', '--hard', state.head!]);
  const task = state.tasks.get('b')!;
  const attempts = [{ ...task.attempts[0]!, base: state.head }];
  const tasks = new Map(state.tasks).set('b', { ...task, attempts });
  at.write('b', { 'lib/api.ts': API });
  const names = [
    { name: 'load', file: 'lib/store.ts', change: 'removed', usedBy: ['lib/api.ts'] } as const,
  ];
  const radar = { collisions: [], clashes: [{ a: 'a', b: 'b', names }] };
  expect(await hearing(at, { ...state, tasks, radar })).toEqual([
    { type: 'radar.semantic', a: 'a', b: 'b', names: [] },
  ]);
  expect(await at.look({ ...state, tasks })).toEqual([]);
});

/** Set-up runs again only where what it made is gone, or would come out differently. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { start } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { closeTask, openTask, testContext } from '../support/run-context.ts';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const FILES = { '.gitignore': 'deps/\n.env\n*.log\n', lock: '1\n', 'patches/a': '1\n', a: '1\n' };
const MAKE = 'mkdir -p deps; cp lock deps/lock';
const KEPT = { setup: [MAKE], setupKey: ['lock'], keepFiles: ['deps/'] };
const PATCHED = { ...KEPT, setupKey: ['lock', 'patches'] };

/** How set-up went for the first task, and for a second one that gets its workspace. */
async function twice(
  repo: TempRepo,
  first: Partial<Plan['workspace']>,
  between: {
    readonly second?: Partial<Plan['workspace']>;
    readonly env?: Readonly<Record<string, string>>;
    /** Shell, in the workspace of the first one. */
    readonly leave?: string;
    readonly commit?: Readonly<Record<string, string>>;
  } = {},
): Promise<readonly [string | null, string | null]> {
  const context = await testContext(repo, first);
  const one = await openTask(context, 'one');
  sh(one.dir, between.leave ?? 'true');
  await closeTask(context, 'one');
  if (between.commit !== undefined) await repo.commit('main', between.commit);
  const { pool } = context;
  const other = await testContext(repo, { ...first, ...between.second }, { pool });
  const env = { ...other.env, ...between.env };
  const two = await openTask({ ...other, env }, 'two');
  expect(existsSync(one.dir)).toBe(false); // It has become that of the second.
  return [one.setup, two.setup];
}

function sh(cwd: string, script: string): string {
  return execFileSync('sh', ['-ec', script], { cwd, encoding: 'utf8' });
}

test('set-up is skipped where its results are kept and its key is the same', async () => {
  await using repo = await tempRepo({ files: FILES });
  expect(await twice(repo, KEPT, { commit: { a: '2\n' } })).toEqual(['ran', 'kept']);
});

test.each<[string, Partial<Plan['workspace']>, Parameters<typeof twice>[2]]>([
  ['is wiped away', { ...KEPT, keepFiles: [] }, {}],
  ['is kept only in part', { ...KEPT, setup: [`${MAKE}; echo 1 > .env`] }, {}],
  ['is no ignored file', { ...KEPT, setup: [`${MAKE}; echo 1 >> a`] }, {}],
  ['is nothing that can be seen', { ...KEPT, setup: ['true'] }, {}],
  ['was deleted', KEPT, { leave: 'rm -r deps' }],
  ['has unknown inputs', { ...KEPT, setupKey: [] }, {}],
  ['depends on a file that has changed', KEPT, { commit: { lock: '2\n' } }],
  ['depends on a folder in which a file has changed', PATCHED, { commit: { 'patches/a': '2\n' } }],
  ['depends on a folder with a new file', PATCHED, { commit: { 'patches/b': '1\n' } }],
  [
    'depends on files that match, one of which is new',
    { ...KEPT, setupKey: ['**/lock'] },
    { commit: { 'sub/lock': '1\n' } },
  ],
  ['depends on a file that the task had changed', KEPT, { leave: 'echo 2 > lock' }],
  ['comes from other commands now', KEPT, { second: { setup: [MAKE, 'true'] } }],
  ['depends on another environment', KEPT, { env: { NODE_OPTIONS: '--no-warnings' } }],
])('where what it made %s, it runs again', async (_, first, between) => {
  await using repo = await tempRepo({ files: FILES });
  expect(await twice(repo, first, between)).toEqual(['ran', 'ran']);
});

test('another login is not another environment', async () => {
  await using repo = await tempRepo({ files: FILES });
  const env = {
    ...{ SSH_AUTH_SOCK: '/tmp/agent.2', SSH_TTY: '/dev/pts/7', TMPDIR: '/tmp', WINDOWPATH: '7' },
    ...{ XDG_SESSION_ID: '7', XDG_CURRENT_DESKTOP: 'GNOME' },
    DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/7/bus',
  };
  expect(await twice(repo, KEPT, { env })).toEqual(['ran', 'kept']);
});

test('a set-up that failed is not remembered, nor is the one that it spoilt', async () => {
  await using repo = await tempRepo({ files: FILES });
  const setup = [`${MAKE}; test "$(cat lock)" = 1`];
  const context = await testContext(repo, { ...KEPT, setup });
  expect(await openTask(context, 'one')).toMatchObject({ setup: 'ran' });
  await closeTask(context, 'one');
  await repo.commit('main', { lock: '2\n' });
  await expect(openTask(context, 'two')).rejects.toThrow(/set-up command failed/);
  await closeTask(context, 'two');
  await repo.commit('main', { lock: '1\n' });
  expect(await openTask(context, 'three')).toMatchObject({ setup: 'ran' });
});

test('a set-up that was killed half way runs again when the run is resumed', async () => {
  await using repo = await tempRepo({ files: FILES });
  const [started, go] = ['started', 'go'].map((name) => join(repo.outside, name));
  const wait = `until test -e ${go}; do sleep 0.05; done`;
  const more = {
    workspace: {
      setup: [`mkdir -p deps; echo $$ >> ${started}; ${wait}; echo whole > deps/state`],
      setup_key: ['lock'],
      keep_files: ['deps/'],
      pool: 2,
    },
  };
  const tasks = { t: 'cat deps/state; echo 1 > t' };
  writeFileSync(join(repo.outside, 'plan.yaml'), nativePlan({ tasks, more }));
  const engine = start(['run', '../plan.yaml', '--events'], { cwd: repo.dir });
  await engine.untilFact('attempt.started', 't');
  while (!existsSync(started ?? '')) await new Promise((resolve) => setTimeout(resolve, 20));
  engine.child.kill('SIGKILL');
  await engine.ended;
  writeFileSync(go ?? '', '');
  const resumed = start(['resume', '--events'], { cwd: repo.dir });
  await resumed.untilFact('attempt.prepared', 't');
  expect((await resumed.ended).code).toBe(0);
  expect(
    readFileSync(started ?? '', 'utf8')
      .trim()
      .split('\n'),
  ).toHaveLength(2);
});

test('another attempt from the start finds it done, unless its task has spoilt it', async () => {
  await using repo = await tempRepo({ files: FILES });
  const context = await testContext(repo, KEPT);
  const { dir } = await openTask(context, 'one');
  sh(dir, 'echo 2 > a');
  expect(await openTask(context, 'one', 2)).toEqual({ dir, setup: null });
  sh(dir, 'echo 2 > lock; echo 2 > deps/lock');
  expect(await openTask(context, 'one', 3)).toEqual({ dir, setup: 'ran' });
  expect(sh(dir, 'cat lock deps/lock')).toBe('1\n1\n');
});

test('files that name the folder they were made in name the current one', async () => {
  await using repo = await tempRepo({ files: FILES });
  const setup = [
    'mkdir -p deps/bin',
    'printf "#!%s/deps/bin/python\\n%s-other\\n" "$PWD" "$PWD" > deps/bin/tool',
    'chmod 755 deps/bin/tool; touch -d 2020-01-02T03:04:05Z deps/bin/tool',
    'ln -s "$PWD/a" deps/link; ln -s bin/tool deps/near',
  ];
  const context = await testContext(repo, { ...KEPT, setup });
  const one = await openTask(context, 'one');
  await closeTask(context, 'one');
  const two = await openTask(context, 'two');
  expect(two.setup).toBe('kept');
  const look = 'cat deps/bin/tool; readlink deps/link deps/near; stat -c "%a %Y" deps/bin/tool';
  expect(sh(two.dir, look).split('\n')).toEqual([
    `#!${two.dir}/deps/bin/python`,
    `${one.dir}-other`,
    `${two.dir}/a`,
    'bin/tool',
    '755 1577934245',
    '',
  ]);
});

test('tasks, gates and later runs share it, and the journal tells', async () => {
  await using repo = await tempRepo({ files: FILES });
  const log = join(repo.outside, 'setups');
  const more = {
    limits: { workers: 1, gates: 1 },
    workspace: {
      setup: [`echo run >> ${log}; ${MAKE}`],
      setup_key: ['lock'],
      keep_files: ['deps/'],
      pool: 2,
    },
  };
  const gates = [{ name: 'deps', run: 'cmp lock deps/lock' }];
  const tasks = (name: string) => ({ [name]: `cmp lock deps/lock; echo 1 > ${name}` });
  const first = await runPlan(repo, { tasks: tasks('one'), gates, more });
  expect(first).toMatchObject({ code: 0 });
  expect(first.of('attempt.prepared')).toMatchObject([{ task: 'one', setup: 'ran' }]);
  const before = readFileSync(log, 'utf8');
  const second = await runPlan(repo, { tasks: tasks('two'), gates, more });
  expect(second).toMatchObject({ code: 0 });
  expect(second.of('attempt.prepared')).toMatchObject([{ task: 'two', setup: 'kept' }]);
  expect(readFileSync(log, 'utf8')).toBe(before);
});

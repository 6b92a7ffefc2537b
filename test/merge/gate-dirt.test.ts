/**
 * Whatever a gate leaves in its workspace, the gate of the next candidate sees exactly that
 * candidate and what set-up made.
 *
 * Each seed is a run of three tasks that land one after the other. The gate looks at its workspace
 * first (look.ts) and then plants random dirt (gate-dirt.ts). What the second and third gate saw is
 * compared with a new worktree of the commit that landed. Everything is done by a user who is not
 * root, to whom modes are an obstacle. `FUZZ_SEED` and `FUZZ_SEEDS`: seeds.ts.
 */

import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { Random } from '../sim/random.ts';
import { drawDirt, FILES, type Surroundings, TRACKED } from '../support/gate-dirt.ts';
import { bareEnv, landfast, SOMEBODY } from '../support/landfast.ts';
import type { Sight } from '../support/look.ts';
import { nativePlan } from '../support/native-plan.ts';
import { seedsToTry } from '../support/seeds.ts';
import { type TempDir, tempDir, writeFiles } from '../support/temp-dir.ts';

const LOOK = join(import.meta.dirname, '../support/look.ts');
const SUBMODULES = 'git -c protocol.file.allow=always submodule update --init -q';
const SETUP = 'mkdir -p deps/in && cp lock deps/made && touch deps/in/x';

/** Looks, then plants what is meant for this candidate. */
const GATE = `
read -r n < $OUT/count; echo $((n + 1)) > $OUT/count
test $n = 1 || "$NODE" ${LOOK} "$PWD" > $OUT/seen-$n
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x
test ! -e $OUT/dirt-$n || . $OUT/dirt-$n
exit 0
`;

interface Scene extends Surroundings {
  /** What each gate does after it has looked, by the number of its candidate. */
  readonly dirt: readonly string[];
  /** What the tasks do. */
  readonly work: readonly string[];
}

test.each(seedsToTry(1))(
  'random dirt is gone before the next candidate (seed %i)',
  async (seed) => {
    const random = new Random('gate-dirt', seed);
    const surroundings = { submodule: random.chance(0.3), worktreeConfig: random.chance(0.3) };
    const planted = [1, 2].map(() => drawDirt(random, surroundings));
    const dirt = planted.map((some) => some.map(({ script }) => script).join('\n'));
    const work = ['one', 'two', 'three'].map((name) => `echo ${name} > ${name}; ${change(random)}`);
    const kinds = planted.map((some) => some.map(({ kind }) => kind).join(', '));
    const told = `seed ${seed}: ${kinds.join('; then ')}`;
    expect(await play({ ...surroundings, dirt, work }, told), told).toEqual([]);
  },
);

test('changes by a gate to the results of set-up are undone as well', async () => {
  const dirt = ['echo x > deps/made; echo x > deps/in/y', 'rm -rf deps/in'];
  const work = ['echo 1 > one', 'echo 2 > two', 'echo 3 > three'];
  expect(await play({ submodule: false, worktreeConfig: false, dirt, work })).toEqual([]);
});

test('a candidate that moves a submodule is seen with the commit that it names', async () => {
  const work = ['echo 1 > one', 'git -C sub checkout -q HEAD~1', 'echo 3 > three'];
  expect(await play({ submodule: true, worktreeConfig: false, dirt: [], work })).toEqual([]);
});

/** What a task may do besides adding a file. */
function change(random: Random): string {
  const file = random.pick(TRACKED);
  return random.pick([':', `rm -f ${file}`, `echo more >> ${file}`, 'echo more >> lock']);
}

/** Runs the plan; how what the second and third gate saw differs from a new worktree. */
async function play(scene: Scene, told = ''): Promise<readonly string[]> {
  await using place = await tempDir();
  if ('uid' in SOMEBODY) chownSync(place.path, SOMEBODY.uid, SOMEBODY.gid);
  const repo = makeRepository(place, scene);
  const out = join(place.path, 'out');
  await writeFiles(out, {
    'gate.sh': GATE,
    count: '1\n',
    ...Object.fromEntries(scene.dirt.map((script, nth) => [`dirt-${nth + 1}`, script])),
  });
  execFileSync('chmod', ['-R', 'a+rwX', out]);
  const plan = join(place.path, 'plan.yaml');
  writeFileSync(plan, planText(scene, out));
  const ended = await landfast(['run', plan, '--events'], { cwd: repo, as: SOMEBODY });
  expect(ended.code, `${told}\n${ended.stderr}`).toBe(0);
  const lines = ended.stdout.split('\n').slice(0, -1);
  const facts = lines.map((line) => (JSON.parse(line) as { event: Event }).event);
  const landed = facts.flatMap((fact) => (fact.type === 'merge.landed' ? [fact.commit] : []));
  return landed.slice(1).flatMap((commit, nth) => {
    const fresh = lookAtNew(repo, commit, scene);
    const seen = JSON.parse(readFileSync(join(out, `seen-${nth + 2}`), 'utf8')) as Sight;
    return differences(seen, fresh).map((line) => `candidate ${nth + 2}: ${line}`);
  });
}

/** Lines with a `+` should not be there, lines with a `-` are missing. */
function differences(seen: Sight, fresh: Sight): readonly string[] {
  const lines = ({ git, files }: Sight): readonly string[] => [...git, ...files];
  const [left, right] = [new Set(lines(seen)), new Set(lines(fresh))];
  return [
    ...lines(seen).flatMap((line) => (right.has(line) ? [] : [`+ ${line}`])),
    ...lines(fresh).flatMap((line) => (left.has(line) ? [] : [`- ${line}`])),
  ];
}

function planText({ submodule, work }: Scene, out: string): string {
  const [one = '', two = '', three = ''] = work;
  const setup = submodule ? [SETUP, SUBMODULES] : [SETUP];
  return nativePlan({
    land: { on_gate_failure: 'fail' },
    gates: [{ name: 'gate', run: 'sh $OUT/gate.sh', env: { OUT: out, NODE: process.execPath } }],
    tasks: {
      one,
      two: { needs: ['one'], prompt: two },
      three: { needs: ['two'], prompt: three },
    },
    more: { workspace: { setup, setup_key: ['lock'] } },
  });
}

/** What a new worktree of the commit looks like after set-up. */
function lookAtNew(repo: string, commit: string, { submodule }: Scene): Sight {
  const dir = `${repo}-${commit}`;
  const setup = submodule ? `${SETUP} && ${SUBMODULES}` : SETUP;
  shell(repo, `git worktree add -q --detach ${dir} ${commit} && cd ${dir} && ${setup}`);
  return JSON.parse(shell(dir, `${process.execPath} ${LOOK} "$PWD"`)) as Sight;
}

function makeRepository({ path }: TempDir, { submodule, worktreeConfig }: Surroundings): string {
  const repo = join(path, 'repo');
  const files = Object.entries(FILES).map(([name, text]) => `printf '${text}' > ${name}`);
  const identity = 'git config user.name Ada; git config user.email ada@example.com';
  const library = [
    `git init -q -b main ${path}/lib; cd ${path}/lib; ${identity}`,
    'echo out/ > .gitignore; echo 1 > code; git add -A; git commit -qm 1',
    `echo 2 > code; git commit -qam 2; cd ${repo}`,
    `git -c protocol.file.allow=always submodule add -q ${path}/lib sub`,
  ];
  shell(
    path,
    [
      `git init -q -b main ${repo}; cd ${repo}; ${identity}`,
      `mkdir -p dir/deep bin; ${files.join('; ')}; chmod +x bin/tool; ln -s dir/c link`,
      ...(submodule ? library : []),
      'echo hidden >> .git/info/exclude; git add -A; git commit -qm base',
      'git checkout -q -b side; echo side > a; git commit -qam side; git checkout -q main',
      worktreeConfig ? 'git config extensions.worktreeConfig true' : ':',
    ].join('\n'),
  );
  return repo;
}

function shell(cwd: string, script: string): string {
  const env = bareEnv(join(cwd, '..'));
  return execFileSync('sh', ['-ec', script], { cwd, env, encoding: 'utf8', ...SOMEBODY });
}

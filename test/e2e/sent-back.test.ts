/** Finished work that does not land: it goes back to its agent, so often, and then it is kept. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runPlan } from '../support/run-plan.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** An agent that keeps what it was told as `told.<task>.<attempt>`, and then runs a script. */
const agent = (script: string) => ({
  agent: 'command',
  command: ['sh', '-c', `cat > ../../../told.$LANDFAST_TASK.$LANDFAST_ATTEMPT\n${script}`],
});

const told = (repo: TempRepo, what: string) =>
  readFileSync(join(repo.outside, `told.${what}`), 'utf8');

/** The first writes when the second has begun; the second goes on when the first has landed. */
const FIRST = 'until test -e ../../../told.second.1; do sleep 0.05; done';
const SECOND =
  'until git show "landfast/$LANDFAST_RUN:first" > /dev/null 2>&1; do sleep 0.05; done';

const first = {
  ...agent(`${FIRST}\necho 1 > first\necho 'The flag is called --fast now.'`),
  title: 'Rename the flag',
  prompt: 'Rename the flag.\nNobody may use --quick any more.',
};

const GATE = {
  name: 'together',
  run: 'test ! -e first || test ! -e second || test -e fixed || { echo "flag --quick is unknown"; exit 1; }',
};

test('a red gate: the agent gets its output and what landed meanwhile, mends it, and it lands', async () => {
  await using repo = await tempRepo();
  const script = `test $LANDFAST_ATTEMPT = 1 || { test -e first && echo 1 > fixed; exit; }\n${SECOND}\necho 2 > second`;
  const run = await runPlan(repo, {
    gates: [GATE],
    tasks: { first, second: { ...agent(script), prompt: 'Use the flag.' } },
  });
  expect(run).toMatchObject({ code: 0 });
  expect(run.of('merge.rejected').map(({ task, failure }) => [task, failure.kind])).toEqual([
    ['second', 'gate-failed'],
  ]);
  const again = told(repo, 'second.2');
  expect(again).toContain(
    'combined with what landed meanwhile (`first`)\nthe gate `together` fails',
  );
  expect(again).toContain('\nflag --quick is unknown\n');
  expect(again).toContain('`first`: Rename the flag\nIt was asked:\n> Rename the flag.\n');
  expect(again).toContain('> Nobody may use --quick any more.');
  expect(again).toContain('It reported:\n> The flag is called --fast now.');
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\nfirst\nfixed\nsecond');
});

describe('work that cannot be mended goes back as often as `reworks` says, and is kept then', () => {
  test('a red gate', async () => {
    await using repo = await tempRepo();
    const script = `test $LANDFAST_ATTEMPT = 1 || { echo $LANDFAST_ATTEMPT >> second; exit; }\n${SECOND}\necho 1 > second`;
    const run = await runPlan(repo, {
      gates: [GATE],
      land: { reworks: 2 },
      tasks: {
        first,
        second: { ...agent(script), prompt: 'Use the flag.' },
        third: 'echo 3 > third',
      },
    });
    expect(run).toMatchObject({ code: 1 });
    expect(run.of('attempt.started', 'second').map(({ start }) => start.kind)).toEqual([
      'fresh',
      'rework',
      'rework',
    ]);
    // What goes back is brought to the head first: from then on nothing landed meanwhile.
    const since = run.of('merge.rejected', 'second').map(({ failure }) => {
      return 'landedSince' in failure ? failure.landedSince.includes('first') : null;
    });
    expect(since).toEqual([true, false, false]);
    expect(run.failure('second')).toMatchObject({
      kind: 'gate-failed',
      gate: 'together',
      output: expect.stringContaining('flag --quick is unknown'),
    });
    expect(
      run
        .of('merge.landed')
        .map(({ task }) => task)
        .sort(),
    ).toEqual(['first', 'third']);
    const branch = `landfast/${run.run}.second`;
    expect(await repo.git('show', `${branch}:second`)).toBe('1\n2\n3');
    expect(run.of('workspace.kept', 'second')).toHaveLength(1);
    expect(existsSync(join(repo.outside, 'repo.worktrees', run.run, 'second'))).toBe(true);
    expect(run.stderr).toContain('second  gate-failed: Gate together is red on this work.');
    expect(run.stderr).toContain('fix it on its branch, commit, then resume');
    expect(run.stderr).toContain(`git diff HEAD...${branch}`);
  });

  test('a conflict', async () => {
    await using repo = await tempRepo({ files: { text: 'one\ntwo\nthree\n' } });
    // The resolution adds a line of its own each time, and another task always lands first.
    const rival = (nth: number) => ({
      ...agent(`until test -e ../../../told.second.${nth}; do sleep 0.05; done
        sed -i 's/^two.*/two of rival ${nth}/' text; echo ${nth} > rival${nth}`),
      prompt: 'Change it.',
    });
    const until = (nth: string) =>
      `until git show "landfast/$LANDFAST_RUN:rival${nth}" > /dev/null 2>&1; do sleep 0.05; done`;
    const script = `${until('$LANDFAST_ATTEMPT')}\ngit checkout -q --ours text 2> /dev/null
      printf 'one\\ntwo of second %s\\nthree\\n' $LANDFAST_ATTEMPT > text`;
    const run = await runPlan(repo, {
      workers: 3,
      land: { reworks: 1, remember: 'off' },
      tasks: {
        rival1: rival(1),
        rival2: { ...rival(2), needs: ['rival1'] },
        second: { ...agent(script), prompt: 'Change it, too.' },
      },
    });
    expect(run).toMatchObject({ code: 1 });
    expect(run.of('attempt.started', 'second').map(({ start }) => start.kind)).toEqual([
      'fresh',
      'rework',
    ]);
    expect(run.failure('second')).toMatchObject({
      kind: 'conflict',
      conflicts: [{ path: 'text', kind: 'content', lines: [[2, 2]] }],
      landedSince: ['rival2'],
    });
    expect(run.of('merge.landed').map(({ task }) => task)).toEqual(['rival1', 'rival2']);
    const branch = `landfast/${run.run}.second`;
    expect(await repo.git('show', `${branch}:text`)).toBe('one\ntwo of second 2\nthree');
    expect(existsSync(join(repo.outside, 'repo.worktrees', run.run, 'second'))).toBe(true);
    expect(run.stderr).toContain('text: both changed line 2');
    expect(run.stderr).toContain(`git merge ${branch}`);
  });
});

test('every kind of conflict is laid out for the agent and told, and what it makes of it lands', async () => {
  const binary = (what: string) => `printf 'a\\0${what}' > img`;
  await using repo = await tempRepo({
    files: { text: 'one\ntwo\n', img: 'a\0b', gone: 'gone\n', kept: 'kept\n', name: 'a name\n' },
  });
  const there = [
    "sed -i 's/two/there/' text",
    'echo there > new',
    binary('there'),
    'git rm -q gone',
    'echo there > kept',
    'git mv name there',
    'echo same > tool; chmod +x tool',
    'echo 1 > first',
  ];
  const here = [
    "sed -i 's/two/here/' text",
    'echo here > new',
    binary('here'),
    'echo here > gone',
    'git rm -q kept',
    'git mv name here',
    'echo same > tool',
  ];
  const resolve = [
    'git status --porcelain --untracked-files=no > ../../../status',
    "printf 'one\\nboth\\n' > text; echo both > new",
    binary('both'),
    'echo both > gone; echo both > kept; rm -f there name; echo a name > here; chmod +x tool',
    'git add --all',
  ];
  const script = `if test $LANDFAST_ATTEMPT = 1; then
    ${[SECOND, ...here].join('\n')}
  else
    ${resolve.join('\n')}
  fi`;
  const run = await runPlan(repo, {
    tasks: {
      first: { ...agent([FIRST, ...there].join('\n')), prompt: 'There.' },
      second: { ...agent(script), prompt: 'Here.' },
    },
  });
  expect(run).toMatchObject({ code: 0 });
  const status = readFileSync(join(repo.outside, 'status'), 'utf8').split('\n');
  for (const line of ['UU text', 'AA new', 'UU img', 'UD gone', 'DU kept', 'AU here', 'UA there']) {
    expect(status).toContain(line);
  }
  const said = told(repo, 'second.2');
  for (const line of [
    '- `text`: both changed line 2 (the other side is `first`)',
    '- `new`: both added it, and differ in line 1',
    '- `img`: both changed a binary file',
    '- `gone`: changed here, deleted there',
    '- `kept`: deleted here, changed there',
    '- `name`: renamed in two ways',
    '- `tool`: both changed its mode, differently',
  ]) {
    expect(said).toContain(line);
  }
  const content = (path: string) => repo.git('show', `main:${path}`);
  expect(await content('text')).toBe('one\nboth');
  for (const path of ['new', 'gone', 'kept']) expect(await content(path)).toBe('both');
  expect(await repo.git('ls-tree', 'main', 'tool')).toContain('100755');
  expect(await repo.git('ls-tree', '--name-only', 'main')).toBe(
    ['first', 'gone', 'here', 'img', 'kept', 'new', 'text', 'tool'].join('\n'),
  );
});

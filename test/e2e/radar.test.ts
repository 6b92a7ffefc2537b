/** The radar in the built program: conflicts are known before any task has finished. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { liveRun } from '../support/live-run.ts';
import { tempRepo } from '../support/temp-repo.ts';

/** Does something at once, then waits for a file `go` beside the repository. */
const thenWait = (...script: readonly string[]): string =>
  [...script, 'while test ! -e ../../../go; do sleep 0.05; done'].join('\n');

const eventsOf = ({ entries }: { readonly entries: readonly { readonly event: Event }[] }) =>
  entries.map(({ event }) => event);

test('two agents that edit the same line are reported before either has finished', async () => {
  await using repo = await tempRepo({ files: { 'app.txt': 'one\ntwo\nthree\n' } });
  const edit = (word: string) => thenWait(`echo ${word} > app.txt`);
  const land = { radar: '200ms', on_conflict: 'fail' };
  const { engine, cli } = await liveRun(
    repo,
    { left: edit('left'), right: edit('right') },
    { land },
  );
  await engine.untilFact('radar.conflict');
  const facts = eventsOf(engine);
  expect(facts.filter(({ type }) => type.startsWith('radar.'))).toEqual([
    { type: 'radar.conflict', a: 'left', b: 'right', files: ['app.txt'] },
  ]);
  expect(facts.filter(({ type }) => type === 'attempt.finished')).toEqual([]);
  const { stdout } = await cli('status');
  expect(stdout).toMatch(/Radar\n +left +right\n +left +x\n +right +x\n/);
  expect(stdout).toContain('left will conflict with right: app.txt');
  const told = JSON.parse((await cli('status', '--json')).stdout) as { radar: unknown };
  expect(told.radar).toEqual({
    collisions: [{ a: 'left', b: 'right', files: ['app.txt'] }],
    clashes: [],
  });
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
});

test('a function that one agent removes and another calls is reported before either has finished', async () => {
  await using repo = await tempRepo({ files: { 'store.py': 'def load(key):\n    return key\n' } });
  const user = thenWait("printf 'from store import load\\nload(1)\\n' > api.py");
  const remover = thenWait('echo "X = 1" > store.py');
  const { engine, cli } = await liveRun(repo, { remover, user }, { land: { radar: '200ms' } });
  await engine.untilFact('radar.semantic');
  const facts = eventsOf(engine);
  const names = [{ name: 'load', file: 'store.py', change: 'removed', usedBy: ['api.py'] }];
  expect(facts.filter(({ type }) => type.startsWith('radar.'))).toEqual([
    { type: 'radar.semantic', a: 'remover', b: 'user', names },
  ]);
  expect(facts.filter(({ type }) => type === 'attempt.finished')).toEqual([]);
  expect((await cli('status')).stdout).toContain('remover changes what user uses: load (removed)');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
});

test('an agent that uses a name is told when work has landed that removed it', async () => {
  await using repo = await tempRepo({ files: { 'store.py': 'def load(key):\n    return key\n' } });
  const script = thenWait(
    'cat > ../../../prompt.$LANDFAST_ATTEMPT',
    'while test ! -e ../../../landed; do sleep 0.05; done',
    "printf 'from store import load\\nload(1)\\n' > api.py",
  );
  const command = ['sh', '-c', `${script}\ntest $LANDFAST_ATTEMPT = 2`];
  const user = { agent: 'command', command, prompt: 'Use it.', retries: 1 };
  const prompted = 'while test ! -e ../../../prompt.1; do sleep 0.05; done';
  const remover = `${prompted}; echo "X = 1" > store.py`;
  const { engine, cli } = await liveRun(repo, { remover, user }, { land: { radar: '200ms' } });
  await engine.untilFact('merge.landed', 'remover');
  expect(eventsOf(engine).filter(({ type }) => type === 'radar.semantic')).toEqual([]);
  writeFileSync(join(repo.outside, 'landed'), '');
  await engine.untilFact('radar.semantic');
  const names = [{ name: 'load', file: 'store.py', change: 'removed', usedBy: ['api.py'] }];
  expect(eventsOf(engine).filter(({ type }) => type === 'radar.semantic')).toEqual([
    { type: 'radar.semantic', a: 'remover', b: 'user', names },
  ]);
  const { stdout } = await cli('status');
  expect(stdout).toContain('remover has landed, and changes what user uses: load (removed)');
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(0);
  const second = readFileSync(join(repo.outside, 'prompt.2'), 'utf8');
  expect(second).toContain('- `remover` removes `load` of `store.py`; you use it in `api.py`.');
});

test('a write outside the scope is seen while it happens, and the agent is told when it goes on', async () => {
  await using repo = await tempRepo();
  const script = thenWait(
    'cat > ../../../prompt.$LANDFAST_ATTEMPT',
    'echo 1 > mine.txt',
    'echo 1 > x.txt',
  );
  const agent = { agent: 'command', command: ['sh', '-c', `${script}\nexit 1`] };
  const task = { ...agent, prompt: 'Do it.', writes: ['mine.txt'], retries: 1 };
  const { engine, cli } = await liveRun(repo, { stray: task }, { land: { radar: '200ms' } });
  await engine.untilFact('scope.strayed');
  expect(eventsOf(engine).filter(({ type }) => type === 'scope.strayed')).toEqual([
    { type: 'scope.strayed', task: 'stray', attempt: 1, files: ['x.txt'] },
  ]);
  expect(eventsOf(engine).some(({ type }) => type === 'attempt.failed')).toBe(false);
  expect((await cli('status')).stdout).toContain('stray changes files outside its scope: x.txt');
  writeFileSync(join(repo.outside, 'go'), '');
  await engine.ended;
  const second = readFileSync(join(repo.outside, 'prompt.2'), 'utf8');
  expect(second).toContain('leave them as they were before you changed them: `x.txt`');
});

test('with `radar: off` nothing is compared', async () => {
  await using repo = await tempRepo({ files: { 'app.txt': 'one\n' } });
  const edit = (word: string) => `echo ${word} > app.txt`;
  const land = { radar: 'off', on_conflict: 'fail' };
  const { engine } = await liveRun(repo, { left: edit('left'), right: edit('right') }, { land });
  await engine.ended;
  expect(eventsOf(engine).filter(({ type }) => type.startsWith('radar.'))).toEqual([]);
});

const until = (name: string) => `while test ! -e ../../../${name}; do sleep 0.05; done`;

test('an agent that goes on is told whose work collides with its own', async () => {
  await using repo = await tempRepo({ files: { 'app.txt': 'one\ntwo\nthree\n' } });
  const script = [
    'cat > ../../../prompt.$LANDFAST_ATTEMPT',
    `test $LANDFAST_ATTEMPT = 1 && { echo right > app.txt; ${until('stop')}; exit 1; }`,
    `echo other > other.txt; touch ../../../go`,
  ];
  const agent = { agent: 'command', command: ['sh', '-c', script.join('\n')] };
  const right = { ...agent, prompt: 'Write.', retries: 1 };
  const left = thenWait('echo left > app.txt');
  const { engine } = await liveRun(repo, { left, right }, { land: { radar: '200ms' } });
  await engine.untilFact('radar.conflict');
  writeFileSync(join(repo.outside, 'stop'), '');
  expect((await engine.ended).code).toBe(0);
  const [first, second] = ['1', '2'].map((nth) =>
    readFileSync(join(repo.outside, `prompt.${nth}`), 'utf8'),
  );
  expect(first).not.toContain('`left`');
  expect(second).toContain('The work of `left` changes the same lines in `app.txt`.');
});

test('work without a collision lands before two that collide, although it came last', async () => {
  await using repo = await tempRepo({ files: { 'app.txt': 'start\n' } });
  const work = (name: string, file = 'app.txt') => `echo ${name} > ${file}\n${until(name)}`;
  const gates = [{ name: 'slow', run: `test ! -e first.txt || ${until('go')}` }];
  const tasks = {
    first: 'echo 1 > first.txt',
    one: work('one'),
    other: work('other'),
    free: work('free', 'free.txt'),
  };
  const land = { radar: '200ms', on_conflict: 'fail' };
  const { engine } = await liveRun(repo, tasks, { land, gates, workers: 4 });
  await engine.untilFact('radar.conflict');
  await engine.untilFact('gate.started', 'first');
  for (const name of ['one', 'other', 'free']) {
    writeFileSync(join(repo.outside, name), '');
    await engine.untilFact('attempt.finished', name);
  }
  writeFileSync(join(repo.outside, 'go'), '');
  expect((await engine.ended).code).toBe(1);
  const landed = eventsOf(engine).flatMap((event) =>
    event.type === 'merge.landed' ? [event.task] : [],
  );
  expect(landed.slice(0, 2)).toEqual(['first', 'free']);
  expect(landed).toHaveLength(3);
});

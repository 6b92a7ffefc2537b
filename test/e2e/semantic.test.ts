/** Work that merges and does not work: what the radar saw of names decides what lands. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { liveRun } from '../support/live-run.ts';
import type { PlanParts } from '../support/native-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const until = (name: string) => `while test ! -e ../../../${name}; do sleep 0.05; done`;
const thenWait = (script: string): string => `${script}\n${until('go')}`;
const eventsOf = ({ entries }: { readonly entries: readonly { readonly event: Event }[] }) =>
  entries.map(({ event }) => event);

const STORE = { 'store.py': 'def load(key):\n    return key\n' };
const USES = "printf 'from store import load\\nload(1)\\n' > api.py";

/** `use` begins to use what `rename` removes, and ends after that has landed. */
const clashing = (use: PlanParts['tasks'][string]) => ({
  rename: thenWait('echo "def fetch(key): return key" > store.py'),
  use,
});

test('work whose names clash with what landed goes back to its agent before it lands', async () => {
  await using repo = await tempRepo({ files: STORE });
  const script = [
    'cat > ../../../prompt.$LANDFAST_ATTEMPT',
    `if test $LANDFAST_ATTEMPT = 1; then ${USES}; ${until('landed')}; exit; fi`,
    "printf 'from store import fetch\\nfetch(1)\\n' > api.py",
  ].join('\n');
  const use = { agent: 'command', command: ['sh', '-c', script], prompt: 'Use it.' };
  const { engine } = await liveRun(repo, clashing(use), { land: { radar: '200ms' } });
  await engine.untilFact('radar.semantic');
  writeFileSync(join(repo.outside, 'go'), '');
  await engine.untilFact('merge.landed', 'rename');
  writeFileSync(join(repo.outside, 'landed'), '');
  const ended = await engine.ended;

  expect(ended.code).toBe(0);
  const rejected = eventsOf(engine).filter(({ type }) => type === 'merge.rejected');
  const sentence = 'rename removes load of store.py, which use uses in api.py.';
  expect(rejected).toMatchObject([
    { task: 'use', failure: { kind: 'semantic', message: sentence, landedSince: ['rename'] } },
  ]);
  expect(await repo.git('show', 'main:api.py')).toContain('fetch(1)');
  expect(ended.stderr).toContain(`Foreseen: ${sentence}`);
  expect(ended.stderr).toContain('It went back to use, which then landed.');
  const second = readFileSync(join(repo.outside, 'prompt.2'), 'utf8');
  expect(second).toContain(`- ${sentence}`);
});

test.each([
  [
    'warn',
    0,
    'All 2 tasks succeeded, but rename and use may not work together',
    'no gate has tested',
  ],
  ['fail', 1, '1 of 2 tasks failed', 'use did not land because of it.'],
])('with `on_semantic: %s` the end says what was foreseen', async (on_semantic, code, ...said) => {
  await using repo = await tempRepo({ files: STORE });
  const tasks = clashing(`${USES}; ${until('landed')}`);
  const land = { radar: '200ms', on_semantic };
  const { engine } = await liveRun(repo, tasks, { land });
  await engine.untilFact('radar.semantic');
  writeFileSync(join(repo.outside, 'go'), '');
  await engine.untilFact('merge.landed', 'rename');
  writeFileSync(join(repo.outside, 'landed'), '');
  const ended = await engine.ended;

  expect(ended.code).toBe(code);
  for (const words of said) expect(ended.stderr).toContain(words);
});

test('a predicted break that is gone when the work is merged sends no task back', async () => {
  await using repo = await tempRepo({ files: STORE });
  // The radar looks rarely: it does not see that the use is gone.
  const tasks = clashing(`${USES}; ${until('landed')}; echo 1 > api.py`);
  const { engine } = await liveRun(repo, tasks, { land: { radar: '500ms' } });
  await engine.untilFact('radar.semantic');
  writeFileSync(join(repo.outside, 'go'), '');
  await engine.untilFact('merge.landed', 'rename');
  writeFileSync(join(repo.outside, 'landed'), '');
  const ended = await engine.ended;

  expect(ended.code).toBe(0);
  expect(eventsOf(engine).some(({ type }) => type === 'merge.rejected')).toBe(false);
  expect(ended.stderr).toContain('It was resolved before both were merged.');
});

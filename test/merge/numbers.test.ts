/**
 * What the queue promises, counted: sixteen branches that are all there at the start, so that the
 * number of gate runs depends on nothing but the algorithm.
 *
 *   each   every candidate once; a red one a second time, and again whatever was begun behind it
 *          before it was known to be red: how much that is depends on how long the gate takes
 *   batch  the tip once; for each culprit the logarithm of the chain, second run and a new tip
 *
 * A gate that is red before it was green on anything is run on the base, too: once for each of the
 * candidates that were red at the same time.
 *
 * The second look is at the work alone, if something is ahead of it. Only where that is green is the
 * combination looked at again: by accident red, or red only together.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { landfast } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { isWhole } from '../support/seeds.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

const slowTest = test.runIf(isWhole);

const COUNT = 16;
const names = Array.from({ length: COUNT }, (_, at) => `b${String(at).padStart(2, '0')}`);
const without = (...gone: readonly string[]) => names.filter((name) => !gone.includes(name));

/** A branch for each name with a file of that name, or with another file and content. */
function branch(repo: TempRepo, more: Readonly<Record<string, readonly [string, string]>>): void {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commands = names.flatMap((name) => {
    const [file, content] = more[name] ?? [name, name];
    const who = 'committer Ada <ada@example.com> 1700000000 +0000\n';
    const head = `commit refs/heads/${name}\n${who}${data(name)}from refs/heads/main^0\n`;
    return [`${head}M 100644 inline ${file}\n${data(content)}`];
  });
  execFileSync('git', ['-C', repo.dir, 'fast-import', '--quiet'], { input: commands.join('') });
}

interface World {
  /** A shell condition under which a gate is red. */
  readonly red: string;
  readonly files?: Readonly<Record<string, readonly [string, string]>>;
  readonly slots?: number;
}

async function land(repo: TempRepo, verify: 'each' | 'batch', world: World) {
  const { red, files = {}, slots = verify === 'each' ? 2 : 1 } = world;
  branch(repo, files);
  const runs = join(repo.outside, 'gate-runs');
  writeFileSync(runs, '');
  const run = `git rev-parse HEAD^{tree} >> ${runs}; ! { ${red.replaceAll('OUTSIDE', repo.outside)}; }`;
  const gates = [{ name: 'tests', run }];
  // Side by side with `each`; one after the other where the number of rounds counts.
  const limits = { workers: 1, gates: slots };
  const plan = nativePlan({ gates, land: { verify }, tasks: { none: 'true' }, more: { limits } });
  writeFileSync(join(repo.outside, 'plan.yaml'), plan);
  const args = ['land', ...names, '--plan', '../plan.yaml', '--events'];
  const { stdout, code } = await landfast(args, { cwd: repo.dir });
  const facts = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: Event }).event);
  const tasks = (type: Event['type']) =>
    facts.flatMap((fact) => (fact.type === type && 'task' in fact ? [fact.task] : [])).sort();
  const verified = new Set(readFileSync(runs, 'utf8').split('\n').slice(0, -1));
  const gateRuns = readFileSync(runs, 'utf8').split('\n').length - 1;
  const heads = facts.flatMap((fact) => (fact.type === 'merge.landing' ? [fact.commit] : []));
  // A tree that was green as work of its own is not verified again as a candidate.
  const trees = await repo.git('rev-parse', ...heads.map((head) => `${head}^{tree}`));
  expect(trees.split('\n').filter((tree) => !verified.has(tree))).toEqual([]);
  const there = (await repo.git('ls-tree', '--name-only', 'main')).split('\n');
  const again = verify === 'each' ? begunBehind(facts) : 0;
  const onBase = facts.filter((fact) => fact.type === 'gate.started' && fact.on === 'base').length;
  expect(onBase).toBeLessThanOrEqual(slots);
  return {
    code,
    gateRuns: gateRuns - onBase,
    again,
    landed: tasks('merge.landed'),
    failed: tasks('task.failed'),
    there,
  };
}

/** Candidates that were begun behind a red one, before it was rejected, and therefore anew. */
function begunBehind(facts: readonly Event[]): number {
  const rejected = new Set(
    facts.flatMap((fact) => (fact.type === 'merge.rejected' ? [fact.task] : [])),
  );
  const isVain = (fact: Event, at: number): boolean => {
    if (fact.type !== 'candidate.verifying' || rejected.has(fact.task)) return false;
    const after = facts.slice(at + 1);
    const nth = after.findIndex(({ type }) => type === 'merge.rejected');
    const isSame = (other: Event) => other.type === fact.type && other.task === fact.task;
    return nth !== -1 && after.slice(nth).some(isSame);
  };
  return facts.filter(isVain).length;
}

/** What is to be seen: who stays out, and how often the gate may run. */
function expectNumbers(
  told: Awaited<ReturnType<typeof land>>,
  { out, most }: { readonly out: readonly string[]; readonly most: number },
): void {
  expect(told).toMatchObject({ code: out.length === 0 ? 0 : 1, failed: out });
  expect(told.landed).toEqual(without(...out));
  for (const name of out) expect(told.there).not.toContain(name);
  expect(told.gateRuns).toBeLessThanOrEqual(most + told.again);
}

const has = (name: string) => `test -e ${name}`;

describe.each([
  { verify: 'each', green: COUNT, culprit: 1, pair: 2, accident: 2, conflict: COUNT - 1 },
  // The tip; then four cuts, a look at it alone and another tip. A pair is looked at once more; an
  // accident is, too, but needs no other tip.
  { verify: 'batch', green: 1, culprit: 4 + 1 + 1, pair: 4 + 2 + 1, accident: 4 + 2, conflict: 1 },
] as const)('verify: $verify', ({ verify, green, culprit, pair, accident, conflict }) => {
  test('sixteen green ones', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, { red: 'false' });
    expectNumbers(told, { out: [], most: green });
    expect(told.gateRuns).toBe(green);
  });

  test.each(isWhole ? ['b00', 'b06', 'b15'] : ['b06'])(
    'one of sixteen is red (%s)',
    async (name) => {
      await using repo = await tempRepo();
      const told = await land(repo, verify, { red: has(name) });
      expectNumbers(told, { out: [name], most: green + culprit });
    },
  );

  slowTest('two of sixteen are red', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, { red: `${has('b03')} || ${has('b11')}` });
    expectNumbers(told, { out: ['b03', 'b11'], most: green + 2 * culprit });
  });

  slowTest('a pair is red only together: the later one goes', async () => {
    await using repo = await tempRepo();
    const told = await land(repo, verify, { red: `${has('b05')} && ${has('b09')}` });
    expectNumbers(told, { out: ['b09'], most: green + pair });
  });

  slowTest('a gate that is red once by accident ejects no task', async () => {
    await using repo = await tempRepo();
    const red = `${has('b07')} && mkdir OUTSIDE/once 2> /dev/null`;
    const told = await land(repo, verify, { red });
    expectNumbers(told, { out: [], most: green + accident });
    expect(told.gateRuns).toBeGreaterThan(green);
  });

  slowTest('two conflict: the later one goes, and costs no gate', async () => {
    await using repo = await tempRepo();
    const files = { b02: ['same', '2'], b08: ['same', '8'] } as const;
    const told = await land(repo, verify, { red: 'false', files });
    expectNumbers(told, { out: ['b08'], most: conflict });
    expect(await repo.git('show', 'main:same')).toBe('2');
  });
});

test('one of sixteen is red, two gates at a time: fewer rounds, more runs', async () => {
  await using repo = await tempRepo();
  const told = await land(repo, 'batch', { red: has('b09'), slots: 2 });
  expectNumbers(told, { out: ['b09'], most: 9 });
});

/** `--profile`: a trace in which spans nest, and which covers the run. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

interface TraceEvent {
  readonly ph: string;
  readonly cat: string;
  readonly name: string;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args?: { readonly name: string };
}

test('spans of every kind nest, and the run covers them all', async () => {
  await using repo = await tempRepo();
  const file = join(repo.outside, 'out', 'trace.json');
  const report = join(repo.outside, 'report.json');
  const run = await runPlan(
    repo,
    {
      gates: [{ name: 'tests', run: 'test -e README.md' }],
      tasks: { one: 'echo 1 > one', two: { needs: ['one'], prompt: 'echo 1 > two' } },
    },
    { args: ['--profile', file, '--report', report] },
  );
  expect(run).toMatchObject({ code: 0 });
  const trace = JSON.parse(readFileSync(file, 'utf8'));
  const events: readonly TraceEvent[] = trace.traceEvents;
  const rows = events.filter(({ ph }) => ph === 'M').map(({ args }) => args?.name);
  expect(rows).toEqual(['engine', 'one', 'two']);
  const spans = events.filter(({ ph }) => ph === 'X');
  const kinds = new Set(spans.map(({ cat }) => cat));
  expect([...kinds].sort()).toEqual(
    ['run', 'schedule', 'attempt', 'workspace', 'agent', 'commit', 'candidate', 'verify', 'gate']
      .concat(['land', 'publish'])
      .sort(),
  );
  const end = ({ ts, dur }: TraceEvent): number => ts + dur;
  const crossing = spans.flatMap((a) =>
    spans.filter((b) => a.tid === b.tid && a.ts < b.ts && b.ts < end(a) && end(a) < end(b)),
  );
  expect(crossing).toEqual([]);
  const whole = spans.find(({ cat }) => cat === 'run');
  expect(whole).toMatchObject({ ts: 0, name: run.run });
  expect(spans.filter((span) => end(span) > (whole === undefined ? 0 : end(whole)))).toEqual([]);
  for (const part of spans.filter(({ cat }) => cat === 'agent' || cat === 'commit')) {
    const around = spans.filter(
      (each) => each.cat === 'attempt' && each.tid === part.tid && each.ts <= part.ts,
    );
    expect(around.some((each) => end(each) >= end(part))).toBe(true);
  }
  const { profile } = JSON.parse(readFileSync(report, 'utf8'));
  expect(profile).toEqual(trace.otherData.totals);
  expect(profile.gate).toEqual({ ms: expect.any(Number), count: 2 });
});

test('a profile that could not be written is refused before anything starts', async () => {
  await using repo = await tempRepo();
  const args = ['run', 'plan.yaml', '--profile', 'trace.txt'];
  await repo.write({
    'plan.yaml': 'landfast: 1\ntasks: [{ id: a, agent: shell, prompt: "true" }]\n',
  });
  const { code, stderr } = await landfast(args, { cwd: repo.dir });
  expect([code, stderr]).toEqual([
    2,
    'landfast: A profile cannot be written as trace.txt.\n  Name a file that ends in .json.\n',
  ]);
});

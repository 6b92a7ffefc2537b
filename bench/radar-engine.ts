/** The part of the radar's benchmark that is measured: a radar over workspaces, and nothing else. */

import { Runtime } from '../src/base/runtime.ts';
import { Suspension } from '../src/base/suspension.ts';
import { openRepository } from '../src/git/repository.ts';
import { fold } from '../src/model/fold.ts';
import { thisClaimOwner } from '../src/workspace/pool/claim-owner.ts';
import { Pool } from '../src/workspace/pool/pool.ts';
import { watchWork } from '../src/workspace/radar/radar.ts';
import { runContext } from '../src/workspace/run-context.ts';
import { planOf } from '../test/support/journal-builder.ts';
import { NO_MEMORY, NO_RESOLUTIONS } from '../test/support/no-memory.ts';

const [dir = '', base = '', count = '', ms = ''] = process.argv.slice(2);
const signal = AbortSignal.timeout(Number(ms));
const opened = await openRepository(dir, signal);
if (opened.kind !== 'repository') throw new Error(`${dir} is no repository`);
const tasks = Array.from({ length: Number(count) }, (_, at) => ({ id: `t${at}` }));
const plan = planOf(tasks);
const pool = new Pool({
  commonDir: opened.repository.commonDir,
  folder: `${dir}.worktrees/landfast.pool`,
  run: 'r1',
  most: 0,
  later: 0,
  small: false,
  disk: null,
  keepFiles: [],
  me: thisClaimOwner(),
});
const parts = {
  env: {},
  pool,
  suspension: new Suspension(),
  verdicts: NO_MEMORY,
  resolutions: NO_RESOLUTIONS,
  assertHeld: () => undefined,
};
const started = { type: 'run.started', plan, planHash: '', base, target: 'main' } as const;
const attempts = tasks.map(
  ({ id }) =>
    ({ type: 'attempt.started', task: id, attempt: 1, base, start: { kind: 'fresh' } }) as const,
);
const state = fold([started, ...attempts].map((event, at) => ({ seq: at + 1, at, event })));
await using runtime = new Runtime({ env: process.env, run: 'bench' });
await runtime.enter(() =>
  watchWork(
    runContext({ repository: opened.repository, run: 'r1', plan, ...parts }),
    () => state,
    (fact) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...fact })}\n`),
    signal,
  ),
);

/**
 * `po-limited.ts <ms> <manifest> <claude>`: runs a manifest with less time for each attempt.
 * A manifest cannot say that itself: its 15 minutes are fixed, and no test waits so long.
 */

import { startRun } from '../../src/cli/commands/run.ts';
import { loadPlan } from '../../src/cli/load-plan.ts';
import { findPlace } from '../../src/cli/place.ts';

const [, , ms = '', path = '', claudeExe = ''] = process.argv;
const { signal } = new AbortController();
const place = await findPlace('.', signal);
const loaded = loadPlan(path, { root: place.dir, format: null });
if (loaded.plan === null) throw new Error(`${path} is not a good manifest`);
const tasks = loaded.plan.tasks.map((task) => ({ ...task, timeoutMs: Number(ms) }));
const how = { projectDir: '.', claudeExe, log: true };
process.exitCode = await startRun(
  { hash: loaded.hash, plan: { ...loaded.plan, tasks } },
  place,
  how,
  signal,
);

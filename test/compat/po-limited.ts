/**
 * `po-limited.ts <ms> <manifest> <claude>`: runs a manifest with less time for each attempt.
 * A manifest cannot say that itself: its 15 minutes are fixed, and no test waits so long.
 */

import { loadPlan } from '../../src/app/load-plan.ts';
import { startRun } from '../../src/cli/terminal/drive.ts';
import { placeAt } from '../../src/cli/terminal/host.ts';

const [, , ms = '', path = '', claudeExe = ''] = process.argv;
const { signal } = new AbortController();
const place = await placeAt('.', signal);
const loaded = loadPlan(path, { root: place.dir, host: place.host, format: null });
if (loaded === null) throw new Error(`${path} is not to be started here`);
const tasks = loaded.plan.tasks.map((task) => ({ ...task, timeoutMs: Number(ms) }));
const how = { projectDir: '.', claudeExe, log: true };
process.exitCode = await startRun(
  { hash: loaded.hash, plan: { ...loaded.plan, tasks } },
  place,
  how,
  signal,
);

/** A new run of a plan: where it starts, what it publishes to, and what would keep it from landing. */

import { OperationalError } from '../base/errors.ts';
import { identityProblem, signingProblem } from '../git/commit.ts';
import { readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { openDatabase } from '../journal/database.ts';
import { isClaimed } from '../journal/lease.ts';
import type { Event } from '../model/event.ts';
import { type Plan, type Sha, usesCheckout } from '../model/plan.ts';
import { requireFreeBranches } from './branches.ts';
import { requireNoEdits } from './edits.ts';
import { checkExecution, type Execution, type RunOptions } from './execute.ts';
import type { LoadedPlan } from './load-plan.ts';
import { newRunId } from './names.ts';
import type { Place } from './place.ts';
import { remoteBase, withKnownRemote } from './remote-base.ts';
import { withoutSecrets } from './secrets.ts';
import { branchBehind, targetIn } from './target.ts';
import { tellUngated } from './ungated.ts';

/** The plan of a new run, and the hash of the file it came from. */
export type NewPlan = Pick<LoadedPlan, 'plan' | 'hash'>;

/** Prepares a new run, ready to be executed. */
export async function newRun(
  { plan: given, hash }: NewPlan,
  place: Place,
  options: RunOptions,
  signal: AbortSignal,
): Promise<Execution> {
  checkExecution(given, options, place);
  const plan = await withKnownRemote(given, place, signal);
  const from = await startingPoint(plan, place, signal);
  await requireNoEdits(plan, place, from.target, signal);
  const db = openDatabase(place.stateDir);
  try {
    const run = newRunId(new Date(), (each) => isClaimed(db, each));
    if (place.repository !== null && from.base !== null) {
      await requireFreeBranches(plan, { dir: place.dir, run, base: from.base }, signal);
    }
    tellUngated(plan, place);
    return { place, db, run, plan, started: firstFact(plan, hash, from), before: null, options };
  } catch (error) {
    db.close();
    throw error;
  }
}

interface StartingPoint {
  readonly base: Sha | null;
  readonly target: string | null;
}

function firstFact(
  plan: Plan,
  planHash: string,
  from: StartingPoint,
): Event & { type: 'run.started' } {
  return { type: 'run.started', plan: withoutSecrets(plan), planHash, ...from };
}

/** The commit a run starts from and the branch it will publish to. */
async function startingPoint(
  plan: Plan,
  { repository, host }: Place,
  signal: AbortSignal,
): Promise<StartingPoint> {
  const nowhere = { base: null, target: null };
  if (plan.tasks.every(usesCheckout)) return nowhere;
  if (repository === null) return nowhere;
  const problem = await identityProblem(repository.commonDir, signal);
  if (problem !== null) throw new OperationalError(problem.message, { remedy: problem.remedy });
  if (plan.tasks.some(({ mode }) => mode === 'write')) await requireSignatures(repository, signal);
  if ((await readRef(repository.commonDir, 'refs/heads/landfast', signal)) !== null) {
    throw new OperationalError(
      'A branch named landfast exists, so git cannot create landfast/… branches.',
      {
        remedy: 'Rename it: git branch -m landfast landfast-old',
      },
    );
  }
  if (plan.base !== undefined) {
    const base = await remoteBase(repository, plan.base, host, signal);
    const target = await branchBehind(repository, plan.target ?? plan.base, signal);
    return { base, target };
  }
  return targetIn(repository, plan.target, signal);
}

/** Throws where commits are to be signed and cannot be: nothing would land. */
export async function requireSignatures(
  { commonDir }: Repository,
  signal: AbortSignal,
): Promise<void> {
  const problem = await signingProblem(commonDir, signal);
  if (problem !== null) throw new OperationalError(problem.message, { remedy: problem.remedy });
}

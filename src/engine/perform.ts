/**
 * perform: the world as it really is. Each effect goes to the folder that knows how; facts go back
 * to the loop, chatter to the transcript.
 */

import { assert, unreachable } from '../base/assert.ts';
import { pauses } from '../base/pause.ts';
import { type Timed, timed } from '../base/timing.ts';
import type { Transcripts } from '../journal/transcript.ts';
import { deliverWork } from '../merge/deliver.ts';
import { landCandidates, mergeWork } from '../merge/land.ts';
import { publish } from '../merge/publish.ts';
import { verifyWork } from '../merge/verify.ts';
import type { Chatter, Effect, Message } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import type { Site } from '../worker/attempt.ts';
import type { Worker } from '../worker/worker.ts';
import type { World } from './world.ts';

type GivenParts = 'agents' | 'now' | 'machine' | 'commands' | 'recorded' | 'observe';

export interface RealWorld extends Pick<World, GivenParts> {
  readonly site: Site;
  readonly worker: Worker;
  readonly transcripts: Transcripts;
  readonly keepWorkspaces: boolean;
  /** Throws if another engine has taken over the run. */
  readonly assertHeld: () => void;
  /** Receives what agents say, as they say it, without secrets. */
  readonly heard: (task: TaskId, line: Chatter) => void;
}

/** Builds the world of a real run. */
export function realWorld(parts: RealWorld): World {
  return {
    ...parts,
    suspend: (isHalted) => parts.site.suspensions.update(isHalted),
    sleep: pauses(),
    perform: (effect, report, signal) =>
      timed(spanOf(effect), () => perform(parts, effect, report, signal)),
  };
}

const KINDS: Readonly<Record<Effect['kind'], string>> = {
  attempt: 'attempt',
  merge: 'candidate',
  verify: 'verify',
  land: 'land',
  release: 'workspace',
  publish: 'publish',
};

/** An effect as a span: in the row of its task, or of the engine. */
function spanOf(effect: Effect): Timed {
  const kind = KINDS[effect.kind];
  const name = effect.kind === 'attempt' ? `attempt ${effect.attempt}` : effect.kind;
  return { kind, of: 'task' in effect ? effect.task : null, name };
}

/** Aborting an effect must not abort its cleaning up; that has a limit of its own. */
const RELEASE_LIMIT_MS = 120_000;

async function perform(
  parts: RealWorld,
  effect: Effect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { worker } = parts;
  const { context } = parts.site;
  parts.assertHeld(); // The machine may have slept since the effect was recorded.
  switch (effect.kind) {
    case 'attempt': {
      const last: Event[] = [];
      parts.transcripts.begin(effect);
      await worker.attempt(effect, (message) => file(parts, message, last, report), signal);
      const { task, attempt: number } = effect;
      await parts.transcripts.close(task, number, AbortSignal.timeout(RELEASE_LIMIT_MS));
      for (const fact of last) report(fact);
      return;
    }
    case 'merge':
      assert(context !== null, 'landing needs a repository');
      return context.plan.landing.strategy === 'none'
        ? deliverWork(context, effect, report, signal)
        : mergeWork(context, effect, report, signal);
    case 'verify':
      assert(context !== null, 'verifying needs a repository');
      return verifyWork(context, effect, report, signal);
    case 'land':
      assert(context !== null, 'landing needs a repository');
      return landCandidates(context, effect, report);
    case 'release': {
      const limit = AbortSignal.timeout(RELEASE_LIMIT_MS);
      const asked = parts.keepWorkspaces ? { keep: 'asked for' } : {};
      return worker.release({ ...effect, ...asked }, report, limit);
    }
    case 'publish':
      assert(context !== null, 'publishing needs a repository');
      return publish(context, effect, report, signal);
    default:
      return unreachable(effect);
  }
}

/** Files a message. The facts that end an attempt wait until its transcript is complete. */
function file(
  { transcripts, heard }: RealWorld,
  message: Message,
  last: Event[],
  report: (fact: Event) => void,
): void {
  if (message.kind === 'chatter') {
    const { task, attempt, line } = message;
    return heard(task, transcripts.write(task, attempt, line, Date.now()));
  }
  const { event } = message;
  const isEnd = event.type === 'attempt.finished' || event.type === 'attempt.failed';
  if (isEnd) last.push(event);
  else report(event);
}

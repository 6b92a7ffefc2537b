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

export interface RealWorld {
  readonly site: Site;
  readonly worker: Worker;
  readonly transcripts: Transcripts;
  readonly keepWorkspaces: boolean;
  readonly agents: World['agents'];
  readonly now: World['now'];
  readonly machine: World['machine'];
  readonly commands: World['commands'];
  /** Throws where another engine has got the run. */
  readonly assertHeld: () => void;
  readonly recorded: World['recorded'];
  readonly observe: World['observe'];
  /** Receives what agents say, as they say it, without secrets. */
  readonly heard: (task: TaskId, line: Chatter) => void;
}

/** Builds the world of a real run. */
export function realWorld(parts: RealWorld): World {
  return {
    agents: parts.agents,
    commands: parts.commands,
    recorded: parts.recorded,
    observe: parts.observe,
    suspend: (isHalted) => parts.site.suspensions.update(isHalted),
    now: parts.now,
    machine: parts.machine,
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
  const { site, worker } = parts;
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
      assert(site.context !== null, 'landing needs a repository');
      return site.context.plan.landing.strategy === 'none'
        ? deliverWork(site.context, effect, report, signal)
        : mergeWork(site.context, effect, report, signal);
    case 'verify':
      assert(site.context !== null, 'verifying needs a repository');
      return verifyWork(site.context, effect, report, signal);
    case 'land':
      assert(site.context !== null, 'landing needs a repository');
      return landCandidates(site.context, effect, report);
    case 'release': {
      const limit = AbortSignal.timeout(RELEASE_LIMIT_MS);
      const asked = parts.keepWorkspaces ? { keep: 'asked for' } : {};
      return worker.release({ ...effect, ...asked }, report, limit);
    }
    case 'publish':
      assert(site.context !== null, 'publishing needs a repository');
      return publish(site.context, effect, report, signal);
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

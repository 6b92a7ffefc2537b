/**
 * perform: the world as it really is. Each effect goes to the folder that knows how; facts go back
 * to the loop, chatter to the transcript.
 */

import { assert, unreachable } from '../base/assert.ts';
import { pauses } from '../base/pause.ts';
import { type Timed, timed } from '../base/timing.ts';
import type { Transcripts } from '../journal/transcript.ts';
import { deliverWork } from '../merge/deliver.ts';
import { landCandidates, mergeWork, verifyWork } from '../merge/land.ts';
import { publish } from '../merge/publish.ts';
import type { Chatter, Effect, Message } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { attempt, type Site } from '../worker/attempt.ts';
import { release } from '../worker/release.ts';
import type { World } from './world.ts';

export interface RealWorld {
  readonly site: Site;
  readonly transcripts: Transcripts;
  readonly keepWorkspaces: boolean;
  /** Replaces secret values in a text. */
  readonly mask: (text: string) => string;
  readonly agents: World['agents'];
  readonly now: World['now'];
  readonly machine: World['machine'];
  readonly commands: World['commands'];
  /** Throws where another engine has got the run. */
  readonly assertHeld: () => void;
  readonly recorded: World['recorded'];
  readonly observe: World['observe'];
  /** Told of what agents say, as they say it. */
  readonly heard: (task: TaskId, line: Chatter) => void;
}

/** Builds the world of a real run. */
export function realWorld(parts: RealWorld): World {
  return {
    agents: parts.agents,
    commands: parts.commands,
    recorded: parts.recorded,
    observe: parts.observe,
    suspend: (on) => (on ? parts.site.suspension.halt() : parts.site.suspension.goOn()),
    now: parts.now,
    machine: parts.machine,
    sleep: pauses(),
    perform: (effect, report, signal) =>
      timed(spanOf(effect), () =>
        perform(parts, effect, (fact) => report(masked(fact, parts.mask)), signal),
      ),
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

/** The fields of facts that hold what a program printed; ids and names are left as they are. */
const SPOKEN = new Set([
  ...['text', 'message', 'output', 'why', 'remedy', 'reason', 'report'],
  ...['summary', 'concerns', 'log'],
]);

/** A fact without secrets. */
function masked(fact: Event, mask: (text: string) => string): Event {
  const spell = (key: string, value: unknown): unknown => {
    if (typeof value === 'string') return SPOKEN.has(key) ? mask(value) : value;
    if (Array.isArray(value)) return value.map((each) => spell(key, each));
    if (value === null || typeof value !== 'object') return value;
    const copy: Record<string, unknown> = {};
    for (const [name, each] of Object.entries(value)) {
      if (each !== undefined) copy[name] = spell(name, each);
    }
    return copy;
  };
  return spell('', fact) as Event;
}

/** Aborting an effect must not abort its cleaning up; that has a limit of its own. */
const RELEASE_LIMIT_MS = 120_000;

async function perform(
  parts: RealWorld,
  effect: Effect,
  report: (fact: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  const { site } = parts;
  parts.assertHeld(); // The machine may have slept since the effect was recorded.
  switch (effect.kind) {
    case 'attempt': {
      const last: Event[] = [];
      parts.transcripts.begin(effect);
      await attempt(site, effect, (message) => file(parts, message, last, report), signal);
      const { task, attempt: number } = effect;
      await parts.transcripts.close(task, number, AbortSignal.timeout(RELEASE_LIMIT_MS));
      for (const fact of last) report(fact);
      return;
    }
    case 'merge':
      assert(site.ground !== null, 'landing needs a repository');
      return site.ground.plan.landing.strategy === 'none'
        ? deliverWork(site.ground, effect, report, signal)
        : mergeWork(site.ground, effect, report, signal);
    case 'verify':
      assert(site.ground !== null, 'verifying needs a repository');
      return verifyWork(site.ground, effect, report, signal);
    case 'land':
      assert(site.ground !== null, 'landing needs a repository');
      return landCandidates(site.ground, effect, report);
    case 'release': {
      const limit = AbortSignal.timeout(RELEASE_LIMIT_MS);
      return release(site.ground, { ...effect, keep: parts.keepWorkspaces }, report, limit);
    }
    case 'publish':
      assert(site.ground !== null, 'publishing needs a repository');
      return publish(site.ground, effect, report, signal);
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
    transcripts.write(message.task, message.attempt, message.line, Date.now());
    return heard(message.task, message.line);
  }
  const { event } = message;
  const isEnd = event.type === 'attempt.finished' || event.type === 'attempt.failed';
  if (isEnd) last.push(event);
  else report(event);
}

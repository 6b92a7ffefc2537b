/**
 * Planted bugs, one small change of the sources each. The simulator has to find every one of them:
 * a rule that no mutant can break is a rule that nobody checks.
 *
 * `find` occurs exactly once in its file. When the code has moved on, move the mutant with it.
 */

/** One change of one file. */
export interface Mutant {
  /** What is wrong with the engine now. */
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** A world that shows it, where the first ones do not. */
  readonly world?: number;
  /** The engine decides for ever, until the memory is full. */
  readonly isEndless?: true;
}

const DECIDE = 'src/schedule/decide.ts';
const QUEUE = 'src/schedule/queue.ts';
const ROOM = 'src/schedule/machine-limits.ts';
const LANDING = 'src/schedule/landing.ts';
const LANES = 'src/schedule/queue.ts';
const PASSING = 'src/schedule/passing.ts';
const WITHDRAWING = 'src/schedule/withdrawals.ts';
const PUBLISHING = 'src/schedule/publishing.ts';
const START = 'src/schedule/start-attempts.ts';
const FORESIGHT = 'src/schedule/landing-order.ts';
const TURN = 'src/schedule/landing-order.ts';
const NEXT = 'src/schedule/next-attempt.ts';
const PARKING = 'src/schedule/parking.ts';
const FOLD_AGENTS = 'src/model/agent-limits.ts';
const REPLAN = 'src/schedule/replan.ts';
const RETRY = 'src/schedule/next-attempt.ts';
const STATE = 'src/model/fold.ts';
const RUN_STATE = 'src/model/state.ts';
const LOOP = 'src/engine/loop.ts';
const RECOVER = 'src/engine/recover.ts';
const COMMANDS = 'src/engine/commands.ts';
const HEARING = 'src/engine/effect-reports.ts';
const CLOCK = 'src/base/steady-clock.ts';
const LEDGER = 'src/engine/ledger.ts';
const RENEWAL = 'src/journal/lease.ts';
const LEASE = 'src/journal/lease.ts';
const LOG = 'src/journal/journal.ts';
const JOURNAL_COMMANDS = 'src/journal/commands.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'it writes to the journal without its lease',
    file: LOG,
    find: 'assertLease(this.#db, this.#lease);',
    replace: '',
  },
  {
    name: 'it takes a lease that was released for its own',
    file: LEASE,
    find: 'token = ? AND pid IS NOT NULL',
    replace: '(token = ? OR pid IS NOT NULL)',
  },
  {
    name: 'it gives the same token twice',
    file: LEASE,
    find: '(readLease(db, run)?.token ?? 0) + 1',
    replace: 'readLease(db, run)?.token ?? 1',
  },
  {
    name: 'it takes a silent engine on its own host for dead',
    file: LEASE,
    find: 'owner.host === view.host ? view.isAlive(owner) : ',
    replace: '',
  },
  {
    name: 'it takes a dead engine on its own host for alive while its lease lasts',
    file: LEASE,
    find: 'owner.host === view.host ? view.isAlive(owner) : ',
    replace: 'view.isAlive(owner) || ',
  },
  {
    name: 'it never takes a run over from another host',
    file: LEASE,
    find: ': view.now - row.renewed_at <= LEASE_MS',
    replace: ': true',
  },
  {
    name: 'it takes a run over from a host that renews its lease',
    file: LEASE,
    find: "db.run('UPDATE leases SET renewed_at = ? WHERE run = ?', now, lease.run);",
    replace: 'void now;',
  },
  {
    name: 'it frees the lease of the engine that took its run over',
    file: LEASE,
    find: "pid = NULL WHERE run = ? AND token = ?', lease.run, lease.token);",
    replace: "pid = NULL WHERE run = ?', lease.run);",
  },
  {
    name: 'it does not notice that its lease is lost',
    file: RENEWAL,
    find: 'error instanceof LeaseLostError || ',
    replace: '',
    world: 938,
  },
  {
    name: 'it takes the commands of a run that it has lost',
    file: JOURNAL_COMMANDS,
    find: 'assertLease(db, lease);',
    replace: '',
    world: 159,
  },
  {
    name: 'it performs what it could not record',
    file: LEDGER,
    find: 'if (added.length > 0) this.#world.recorded(this.#log.append(added, this.#at));',
    replace: `try {
      if (added.length > 0) this.#world.recorded(this.#log.append(added, this.#at));
    } catch (error) {
      if ((error as Error).name !== 'LeaseLostError') throw error;
    }`,
  },
  {
    name: 'it goes on with gates whose verdict nobody wants any more',
    file: LOOP,
    find: '    for (const effect of unfinished.effects) effects.perform(effect);\n',
    replace:
      '    queueMicrotask(() => unfinished.effects.map((effect) => effects.perform(effect)));\n',
  },
  {
    name: 'it calls a publication early although the last task has just failed',
    file: DECIDE,
    find: '...(over.length === 0 ? publishEarly(state) : [])',
    replace: '...publishEarly(state)',
    world: 448,
  },
  {
    name: 'it asks an agent for work that is there already',
    file: DECIDE,
    find: "return spec.work !== undefined && status.kind === 'waiting';",
    replace: 'return false;',
  },
  {
    name: 'it adopts work before what that needs has landed',
    file: DECIDE,
    find: "task.workspace === 'released' || unmetNeeds(state, task).length > 0",
    replace: "task.workspace === 'released'",
  },
  {
    name: 'it lets a script begin anew what somebody else has made',
    file: RETRY,
    find: 'if (isTheirs(task) && !agent.prose)',
    replace: 'if (isTheirs(task) && !agent.prose && task.reworks > 0)',
  },
  {
    name: 'it throws work away that an agent could not mend at once',
    file: RETRY,
    find: 'if (!isTheirs(task) || task.work === null)',
    replace: 'if (isTheirs(task) || task.work === null)',
  },
  {
    name: 'it starts tasks without waiting for what they need',
    file: RUN_STATE,
    find: 'return needed === undefined || !isMet(needed);',
    replace: 'return needed === undefined;',
  },
  {
    name: 'it starts tasks when what they need has finished but not landed',
    file: RUN_STATE,
    find: 'return needed === undefined || !isMet(needed);',
    replace: "return !needed || !(isMet(needed) || needed.status.kind === 'committed');",
  },
  {
    name: 'it lets tasks hear what others said in their first attempt',
    file: 'src/model/state.ts',
    find: "task?.attempts.findLast(({ text }) => text !== '')",
    replace: "task?.attempts.find(({ text }) => text !== '')",
  },
  {
    name: 'it lets two tasks work in the checkout',
    file: START,
    find: "if (mode === 'here' && here",
    replace: "if (mode === 'read' && here",
  },
  {
    name: 'it has a workspace for a task in the checkout',
    file: 'src/model/fold.ts',
    find: "if (!usesCheckout(spec)) task.workspace = 'live';",
    replace: "task.workspace = 'live';",
  },
  {
    name: 'it asks the agent again for work that could not be pushed',
    file: STATE,
    find: "status.failure.kind === 'push-failed';",
    replace: "status.failure.kind === 'cancelled';",
  },
  {
    name: 'it takes rebased work for safe',
    file: DECIDE,
    find: "const isSafe = landed || task.status.kind === 'delivered';",
    replace: 'const isSafe = isGood(task);',
  },
  {
    name: 'it ignores the limits of groups',
    file: START,
    find: "if (busy >= limit) return { kind: 'group', group, busy, limit };",
    replace: '',
  },
  {
    name: 'it runs one worker too many',
    file: START,
    find: 'return this.#active.length >= this.#state.plan.limits.workers;',
    replace: 'return this.#active.length > this.#state.plan.limits.workers;',
  },
  {
    name: 'it leaves a worker idle',
    file: START,
    find: 'return this.#active.length >= this.#state.plan.limits.workers;',
    replace: 'return this.#active.length >= Math.max(1, this.#state.plan.limits.workers - 1);',
  },
  {
    name: 'it forgets that scopes overlap',
    file: START,
    find: "if (other !== undefined) return { kind: 'scope', task: other.spec.id };",
    replace: '',
  },
  {
    name: 'it starts attempts with the money spent',
    file: START,
    find: 'if (this.#spends(task) && this.#purse.lacks(this.#estimateOf(task, next)))',
    replace: 'if (this.#spends(task) && workers < 1)',
  },
  {
    name: 'it starts attempts while it is stopping',
    file: START,
    find: "if (state.stopping !== null) return { kind: 'stopping' };",
    replace: '',
  },
  {
    name: 'it starts attempts while it is paused',
    file: START,
    find: "if (state.paused !== null) return { kind: 'paused' };",
    replace: '',
  },
  {
    name: 'it starts attempts although the disk is full',
    file: ROOM,
    find: "short.of === 'disk' || !(",
    replace: "short.of === 'disk-budget' && !(",
  },
  {
    name: 'it makes workspaces beyond its disk budget',
    file: ROOM,
    find: 'used !== null && used > most',
    replace: 'used === null && used > most',
  },
  {
    name: 'it uses no workspace that is there while it is over its disk budget',
    file: ROOM,
    find: '!(hasWorkspace || ',
    replace: '!(',
  },
  {
    name: 'it starts attempts that the memory does not suffice for',
    file: ROOM,
    find: 'free >= each *',
    replace: 'free >= 0 *',
  },
  {
    name: 'it starts nothing at all while there is little memory',
    file: START,
    find: 'if (this.#active.length === 0) return null;',
    replace: '',
  },
  {
    name: 'it does not say that it waits for the disk',
    file: DECIDE,
    find: 'turn === null ? [] : [{ record: turn }]',
    replace: '[]',
  },
  {
    name: 'it does not notice that there is room again',
    file: ROOM,
    find: "held?.of === 'disk' ? MARGIN : 1",
    replace: "held?.of === 'disk' ? 1_000_000 : 1",
  },
  {
    name: 'it starts a retried task while its workspace is being removed',
    file: START,
    find: "if (task.workspace === 'released') return { kind: 'workspace' };",
    replace: '',
  },
  {
    name: 'it does not go on without a task that was taken as done',
    file: RUN_STATE,
    find: 'return needed === undefined || !isMet(needed);',
    replace: "return !needed || needed.status.kind === 'failed' || !isMet(needed);",
  },
  {
    name: 'it waits for ever for a task that was given up',
    file: RUN_STATE,
    find: "return task?.status.kind === 'failed' && !isMet(task) &&",
    replace: "return task?.status.kind === 'failed' && task.skipped === null &&",
  },
  {
    name: 'it does not halt agents when the run is suspended',
    file: LOOP,
    find: 'world.suspend((task) => isHalted(known, task));',
    replace: '',
  },
  {
    name: 'it leaves agents halted when the run goes on',
    file: LOOP,
    find: 'world.suspend((task) => isHalted(known, task));',
    replace: 'if (known.paused?.suspended === true) world.suspend(() => true);',
  },
  {
    name: 'it drains a run whose agents are halted',
    file: RUN_STATE,
    find: 'if (stopping !== null) return false;',
    replace: '',
    world: 233,
  },
  {
    name: 'it starts attempts of a task that is paused',
    file: START,
    find: "if (task.paused) return { kind: 'task-paused' };",
    replace: '',
    world: 23,
  },
  {
    name: 'it does not halt the agent of a task that is paused',
    file: RUN_STATE,
    find: 'return paused?.suspended === true || tasks.get(id)?.paused === true;',
    replace: 'return paused?.suspended === true;',
    world: 23,
  },
  {
    name: 'it never ends the pause of a task',
    file: STATE,
    find: "task.paused = event.type === 'task.paused';",
    replace: 'task.paused = true;',
    world: 23,
  },
  {
    name: 'it lands work that a person wants changed',
    file: STATE,
    find: 'if (!isFinished || pendingInstructions(task).length === 0) return;',
    replace: 'if (isFinished || !isFinished) return;',
    world: 3,
  },
  {
    name: 'it leaves reviewed work in the queue',
    file: WITHDRAWING,
    find: 'task.skipped !== null || pendingInstructions(task).length > 0',
    replace: 'task.skipped !== null',
    world: 273,
  },
  {
    name: 'it takes a review for answered by the attempt that ran',
    file: STATE,
    find: 'each.after < answeredBy',
    replace: 'each.after <= answeredBy',
    world: 3,
  },
  {
    name: 'it publishes what nobody approved',
    file: PUBLISHING,
    find: 'return asks ? approved(state) : publication(state, false);',
    replace: 'return publication(state, false);',
    world: 93,
  },
  {
    name: 'it ends although a person could approve',
    file: DECIDE,
    find: 'if (awaitsApproval(state) && state.attended) return [];',
    replace: '',
    world: 93,
  },
  {
    name: 'it asks for approval again when a run is resumed',
    file: STATE,
    find: "const isApproved = plan.landing.publish === 'ask' && publish.head !== null;",
    replace: 'const isApproved = false as boolean && publish.head !== null;',
    world: 1163,
  },
  {
    name: 'it lets a task that was given up run on',
    file: COMMANDS,
    find: "if (event.type === 'task.cancelled' || event.type === 'task.skipped') {",
    replace: "if (event.type === 'task.cancelled') {",
  },
  {
    name: 'it retries what is running',
    file: COMMANDS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    find: "if (status.kind === 'running') return `Task ${id} is running.`;",
    replace: '',
  },
  {
    name: 'it begins a retried task anew although nobody asked for that',
    file: RETRY,
    find: 'if (task.retried?.fresh === true) return',
    replace: 'if (task.retried !== undefined) return',
  },
  {
    name: 'it makes a retried task wait',
    file: NEXT,
    find: 'at: retried.at };',
    replace: 'at: retried.at + 500 };',
  },
  {
    name: 'it runs finished work again when it is retried',
    file: STATE,
    find: "if (work !== null && !misfit) return { kind: 'committed', commit: work, at };",
    replace: '',
  },
  {
    name: 'it takes up again what was given up',
    file: RECOVER,
    find: 'const out = new Set([...givenUp, ',
    replace: 'const out = new Set([',
  },
  {
    name: 'it gives the work of a person to an agent that begins anew',
    file: STATE,
    find: 'if (isMended(task) && !fresh)',
    replace: 'if (isMended(task) && fresh)',
  },
  {
    name: 'an edited plan lands what other gates have verified',
    file: REPLAN,
    find: 'return [...withdrawn, {',
    replace: 'return [{',
  },
  {
    name: 'an edited plan forgets tasks that were tried',
    file: REPLAN,
    find: 'return attempts.length > 0 || !isUntouched;',
    replace: 'return !isUntouched;',
  },
  {
    name: 'a task that is gone from the plan goes on',
    file: STATE,
    find: '{ removed: true, skipped: { satisfied: true } }',
    replace: '{ removed: true }',
  },
  {
    name: 'it promises the same money twice',
    file: 'src/schedule/budget.ts',
    find: 'this.#left = budgetLeft(state) - this.#promised;',
    replace: 'this.#left = budgetLeft(state);',
  },
  {
    name: 'it lets others into the scope of work that waits to land again',
    file: START,
    find: "kind === 'merging' || isQueued(this.#state, task, this.#agents);",
    replace: "kind === 'merging' || kind === 'committed';",
  },
  {
    name: 'it lets a stop get weaker',
    file: COMMANDS,
    find: 'MODES.indexOf(mode) <= before',
    replace: 'MODES.indexOf(mode) === before',
  },
  {
    name: 'it begins attempts at the base of the run instead of its head',
    file: DECIDE,
    find: '(task.attempts.at(-1)?.base ?? state.head) : state.head;',
    replace: '(task.attempts.at(-1)?.base ?? state.head) : state.base;',
  },
  {
    name: 'it never starts a retry that has to wait',
    file: START,
    find: 'return next.at > at.now ?',
    replace: 'return next.at > 0 ?',
  },
  {
    name: 'it does not wait before a retry',
    file: START,
    find: 'return next.at > at.now ?',
    replace: 'return next.at > at.now + 1e9 ?',
  },
  {
    name: 'it builds on a candidate that is not there yet',
    file: QUEUE,
    find: 'if (tip !== undefined && tip.built === null) return [];',
    replace: '',
  },
  {
    name: 'it verifies one candidate too many at a time',
    file: QUEUE,
    find: 'const free = slots - busy - running;',
    replace: 'const free = slots - busy - running + 1;',
  },
  {
    name: 'it never verifies a second candidate while one is being verified',
    file: QUEUE,
    find: 'if (free <= 0) return [];',
    replace: 'if (free < 0) return [];',
  },
  {
    name: 'it lands what is red',
    file: QUEUE,
    find: "const first = chain.findIndex(({ verdict }) => verdict !== 'green');",
    replace: "const first = chain.findIndex(({ verdict }) => verdict === 'none');",
  },
  {
    name: 'it blames the first red one without a second look',
    file: QUEUE,
    find: 'return looks > 1 && !isRunning;',
    replace: 'return looks > 0 && !isRunning;',
  },
  {
    name: 'it blames somebody although the one before may be at fault',
    file: QUEUE,
    find: 'const blamed = red === greens &&',
    replace: 'const blamed = red >= 0 &&',
  },
  {
    name: 'it moves the head while it is moving',
    file: QUEUE,
    find: "...(greens > 0 && !isLanding ? [{ kind: 'land'",
    replace: "...(greens > 0 ? [{ kind: 'land'",
    isEndless: true,
  },
  {
    name: 'it lets work pass that changes the same paths',
    file: PASSING,
    find: 'const why = before.inTheWayOf(task);',
    replace: 'const why: string | null = null;',
  },
  {
    name: 'it lets everybody pass',
    file: PASSING,
    find: 'task.spec.independent === true ? standingOf',
    replace: "task.spec.mode === 'write' ? standingOf",
  },
  {
    name: 'it builds on a head that is about to move',
    file: LANES,
    find: '({ built }) => built !== null) && !isMoving;',
    replace: '({ built }) => built !== null);',
  },
  {
    name: 'it moves the head under a candidate that is being built on it',
    file: LANES,
    find: "(kind !== 'land' && kind !== 'build')",
    replace: "kind !== 'build'",
  },
  {
    name: 'it forgets the slots of gates that go on',
    file: LANDING,
    find: 'busy: lingering.length,',
    replace: 'busy: 0,',
    world: 5007,
  },
  {
    name: 'it verifies work beside its former candidate',
    file: LANDING,
    find: 'lingering: new Set(lingering.map(({ task }) => task)),',
    replace: 'lingering: new Set<TaskId>(),',
  },
  {
    name: 'it ends gates that are to go on',
    file: COMMANDS,
    find: "if (event.type === 'merge.withdrawn' && event.lingers === true) return [];",
    replace: '',
  },
  {
    name: 'it remembers gates of a dead engine as running',
    file: STATE,
    find: 'state.lingering = []; // Their gates ended with the engine.',
    replace: '',
    world: 2801,
  },
  {
    name: 'it goes on verifying when the run is ended',
    file: WITHDRAWING,
    find: 'return isEnding(state) || isBroken ||',
    replace: 'return isBroken ||',
  },
  {
    name: 'it goes on verifying what nobody wants any more',
    file: COMMANDS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    find: 'key.startsWith(`verify:${event.task}:`)',
    replace: "key.startsWith('verify: ')",
  },
  {
    name: 'it lands what was given up',
    file: WITHDRAWING,
    find: 'return task.cancelled || task.skipped !== null ||',
    replace: 'return task.cancelled ||',
  },
  {
    name: 'it does not move the head after a crash',
    file: RECOVER,
    find: 'if (state.landing !== null) effects.push(landEffect(state, state.landing));',
    replace: '',
  },
  {
    name: 'it names one landing too many as the other half of a red combination',
    file: LANDING,
    find: 'const landed = state.landed.slice(seen + 1)',
    replace: 'const landed = state.landed.slice(Math.max(0, seen))',
  },
  {
    name: 'it releases the workspace of work that has not landed',
    file: DECIDE,
    find: "task.workspace === 'live' && isOver(task)",
    replace: "task.workspace === 'live' && task.status.kind !== 'running'",
  },
  {
    name: 'it lands out of turn what was finished first',
    file: TURN,
    find: "else if (task.spec.mode === 'write') break;",
    replace: "else if (task.spec.mode === 'here') break;",
  },
  {
    name: 'it keeps finished work behind a task that waits for it to land',
    file: TURN,
    find: 'if (state.stopping !== null || state.held !== null) return true;',
    replace: 'if (state.held !== null) return true;',
  },
  {
    name: 'it merges work unseen whose names clash with what landed',
    file: FORESIGHT,
    find: 'return partners.size === 0 ? [] : state.landed',
    replace: 'return partners.size < 2 ? [] : state.landed',
  },
  {
    name: 'it looks again at names that the work has seen',
    file: 'src/model/radar.ts',
    find: '(isSeen(each) ? { ...each, holds: false } : each)',
    replace: '(isSeen(each) ? each : each)',
  },
  {
    name: 'it publishes although a conflict holds the run back',
    file: PUBLISHING,
    find: ' || isHeldBack(state)) return [];',
    replace: ') return [];',
  },
  {
    name: 'it lets a workspace go before a conflict could hold it',
    file: DECIDE,
    find: "if (state.plan.landing.onConflict === 'hold' && !tasks.every(isOver)) return [];",
    replace: '',
  },
  {
    name: 'it publishes while tasks run',
    file: DECIDE,
    find: 'if (isBusy(state)) return [];',
    replace: `if (state.publish.kind === 'running') return [];
      if (publishLast(state).length > 0) return publishLast(state);
      if (isBusy(state)) return [];`,
  },
  {
    name: 'an early publication that is blocked is the last one',
    file: PUBLISHING,
    find: "if ((publish.kind === 'blocked' && !publish.early) || isHeldBack(state)) return [];",
    replace: "if (publish.kind === 'blocked' || isHeldBack(state)) return [];",
  },
  {
    name: 'it finishes while tasks wait',
    file: DECIDE,
    find: 'if (!tasks.every(isOver)) return [];',
    replace: 'if (!tasks.some(isOver)) return [];',
  },
  {
    name: 'it allows one retry too many',
    file: RETRY,
    find: 'if (used > task.spec.retries)',
    replace: 'if (used > task.spec.retries + 1)',
  },
  {
    name: 'it counts an interruption as a retry',
    file: RETRY,
    find: "case 'interrupted':\n    case 'revision':\n      return 'always';",
    replace: "case 'interrupted':\n    case 'revision':\n      return 'counted';",
  },
  {
    name: 'it sends work back to its agent once too often',
    file: RETRY,
    find: 'task.reworks >= landing.reworks',
    replace: 'task.reworks > landing.reworks',
  },
  {
    name: 'it fails work whose landing was interrupted',
    file: RETRY,
    find: "if (failure.kind === 'interrupted') return { kind: 'queue' };",
    replace: '',
  },
  {
    name: 'it loses the session of an agent that could go on',
    file: RETRY,
    find: "return { kind: 'continue', session: task.session };",
    replace: "return { kind: 'continue', session: null };",
  },
  {
    name: 'it goes on with a session that the task does not want',
    file: RETRY,
    find: "task.spec.retry?.session !== 'new'",
    replace: "task.spec.retry?.session !== 'never'",
  },
  {
    name: 'it uses an agent that refuses to work',
    file: PARKING,
    find: 'if (refusal !== null) return',
    replace: 'if (refusal === undefined) return',
  },
  {
    name: 'it runs into a limit that it knows',
    file: PARKING,
    find: 'if (until > this.#now) return',
    replace: 'if (until > this.#now + 1e9) return',
  },
  {
    name: 'it tries a limit with everybody at once',
    file: PARKING,
    find: 'if (limit.retryAt !== null || probe === undefined) return null;',
    replace: 'if (probe !== this.constructor.name) return null;',
  },
  {
    name: 'it takes the failures of those who ran beside for a longer limit',
    file: FOLD_AGENTS,
    find: 'if (probed) return',
    replace: 'if (probed || retryAt === null) return',
    world: 333,
  },
  {
    name: 'it forgets a limit when it is restarted',
    file: FOLD_AGENTS,
    find: 'agents.set(name, { ...agent, refusal: null });',
    replace: 'agents.delete(name);',
  },
  {
    name: 'it never passes a task on to a fallback',
    file: RETRY,
    find: 'if (next === undefined) return null;',
    replace: 'if (next !== null) return null;',
  },
  {
    name: 'it lets fallbacks share the retries of the first choice',
    file: RETRY,
    find: '.filter((each) => isSameAssignee(each.by, by))',
    replace: '',
  },
  {
    name: 'it hands a session to another agent',
    file: NEXT,
    find: 'start: handedOver(next.start), by };',
    replace: 'by };',
    world: 355,
  },
  {
    name: 'it waits for an agent that refuses to work although there is a fallback',
    file: NEXT,
    find: 'return by === undefined ? next :',
    replace: 'return by !== null ? next :',
  },
  {
    name: 'it gives up the tasks of an agent that refuses to work too early',
    file: DECIDE,
    find: "=> kind === 'refusal' || kind === 'needs';",
    replace: "=> kind !== 'slot';",
  },
  {
    name: 'it tells the wrong reason for a wait',
    file: START,
    find: "if (unmet.length > 0) return { kind: 'needs', tasks: unmet };",
    replace: "if (unmet.length > 0) return { kind: 'money' };",
  },
  {
    name: 'it spreads retries too far',
    file: RETRY,
    find: '(pauseMs / 4) * share',
    replace: 'pauseMs * share',
  },
  {
    name: 'it never leaves a session that fails again and again',
    file: RETRY,
    find: 'if (!isSame || BLAMELESS.includes(last.failure.kind)) return false;',
    replace: 'return false;',
  },
  {
    name: 'it leaves a session that was only interrupted',
    file: RETRY,
    find: "['interrupted', 'rate-limited', 'workspace-failed']",
    replace: "['rate-limited', 'workspace-failed']",
  },
  {
    name: 'it resets the workspace when a new session has not said its name',
    file: RETRY,
    find: "|| task.attempts.at(-1)?.start.kind === 'continue';",
    replace: ';',
  },
  {
    name: 'it does not try again after a timeout although the task wants that',
    file: RETRY,
    find: "return retry?.afterTimeout === true ? 'counted'",
    replace: "return retry?.afterTimeout === null ? 'counted'",
  },
  {
    name: 'it does not forgive the failures of before a resume',
    file: STATE,
    find: 'task.skipped = null;\n  task.forgiven = task.attempts.length;',
    replace: 'task.skipped = null;',
  },
  {
    name: 'it queues landed work again',
    file: STATE,
    find: "  task.status = { kind: 'landed', commit: event.commit, at };",
    replace: "  task.status = { kind: 'committed', commit: event.commit, at };",
  },
  {
    name: 'it forgets where the head is',
    file: STATE,
    find: 'state.head = event.commit;',
    replace: '',
  },
  {
    name: 'it does not add up what attempts cost',
    file: STATE,
    find: "pick(event, 'costUsd', 'inputTokens', 'outputTokens')",
    replace: "pick(event, 'inputTokens', 'outputTokens')",
  },
  {
    name: 'it does not try a blocked publication again after a resume',
    file: STATE,
    find: 'unblock(state);\n  for',
    replace: 'for',
  },
  {
    name: 'it performs before it records',
    file: LOOP,
    find: '    const recorded = ledger.record();',
    replace: `    for (const effect of due.splice(0)) effects.perform(effect);
    const recorded = ledger.record();`,
  },
  {
    name: 'it rests although more has become possible while it recorded',
    file: LOOP,
    find: 'world.machine() === machine && (wakeAt === null || world.now() < wakeAt)',
    replace: 'true',
  },
  {
    name: 'it does not wake up for a retry',
    file: LOOP,
    find: '(wakeAt ?? Number.POSITIVE_INFINITY)',
    replace: 'Number.POSITIVE_INFINITY',
  },
  {
    name: 'it does not wait for its effects when it ends',
    file: LOOP,
    find: 'await group.settle();',
    replace: '',
  },
  {
    name: 'it leaves attempts open that a crash has ended',
    file: RECOVER,
    find: "facts.push({ type: 'attempt.failed', task: id, attempt, failure, exitCode: null });",
    replace: '',
  },
  {
    name: 'it does not go on with a merge after a crash',
    file: RECOVER,
    find: 'if (effect !== null) effects.push(effect);',
    replace: '',
  },
  {
    name: 'it does not go on with a release after a crash',
    file: RECOVER,
    find: 'effects.push(releaseEffect(state, task));',
    replace: '',
  },
  {
    name: 'it does not go on with a publication after a crash',
    file: RECOVER,
    find: 'effects.push(publishEffect(state, state.publish.head, state.target));',
    replace: '',
  },
  {
    name: 'it gives failed tasks a new chance after a mere crash',
    file: RECOVER,
    find: 'const retry = state.outcome === null || command !== null ? [] : ids;',
    replace: 'const retry = ids;',
  },
  {
    name: 'it lets attempts go on when the run is ended',
    file: COMMANDS,
    find: "if (event.type !== 'run.stopping' || event.mode === 'drain') return [];",
    replace: "if (event.type !== 'run.stopping' || event.mode !== 'cancel') return [];",
  },
  {
    name: 'it lets the merge of a cancelled task go on',
    file: COMMANDS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    find: '[`attempt:${event.task}`, `merge:${event.task}`]',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    replace: '[`attempt:${event.task}`]',
  },
  {
    name: 'it records a last word again that it is told again',
    file: HEARING,
    find: 'if (this.#over.has(about)) return;',
    replace: '',
  },
  {
    name: 'it waits for ever for an attempt that has vanished',
    file: HEARING,
    find: "this.accept({ type: 'attempt.failed', task, attempt, failure, exitCode: null });",
    replace: '',
  },
  {
    name: 'it waits for ever for any other effect that has vanished',
    file: HEARING,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    find: 'throw new InvariantError(`${keyOf(effect)} ended without a word`);',
    replace: '',
  },
  {
    name: 'it follows a clock that is set back',
    file: CLOCK,
    find: 'walked >= 0 ? walked : Math.max(0, passing - this.#passing)',
    replace: 'walked',
  },
  {
    name: 'it begins earlier than what has been recorded',
    file: CLOCK,
    find: 'Math.max(this.#wall, notBefore)',
    replace: 'this.#wall',
  },
  {
    name: 'it goes on although the journal takes nothing more from it',
    file: 'src/engine/ledger.ts',
    find: 'if (added.length > 0) this.#world.recorded(this.#log.append(added, this.#at));',
    replace: `try {
      if (added.length > 0) this.#world.recorded(this.#log.append(added, this.#at));
    } catch {
      return [];
    }`,
  },
  {
    name: 'it goes on landing although a gate is broken',
    file: LANDING,
    find: 'if (state.broken !== null) return [];',
    replace: '',
  },
  {
    name: 'it waits for work to land that a broken gate keeps back',
    file: DECIDE,
    find: '&& queued && broken === null',
    replace: '&& queued',
  },
  {
    name: 'it neither waits nor ends where a gate is broken',
    file: DECIDE,
    find: 'if (broken === null || stopping !== null) return [];',
    replace: 'if (stopping !== undefined) return [];',
  },
];

/**
 * The Book: a second, much simpler fold of the journal, which refuses entries that must not be.
 *
 * It shares no code with src/model/state.ts or src/schedule: whatever they agree on between each
 * other is checked here against the plan, the policy (policy.ts) and the repository (repo.ts).
 */

import type { AttemptStart, Entry, Event } from '../../src/model/event.ts';
import type { Failure } from '../../src/model/failure.ts';
import {
  type Assignee,
  type Plan,
  type Sha,
  type TaskId,
  type TaskSpec,
  usesCheckout,
} from '../../src/model/plan.ts';
import type { Disk } from './disk.ts';
import { Foresight } from './foresight.ts';
import { AGENTS, reallyMeet } from './plans.ts';
import {
  afterAttempt,
  afterRejection,
  type Fate,
  type Used,
  type Wall,
  wallAfter,
} from './policy.ts';
import type { Repo } from './repo.ts';
import { rule } from './violation.ts';

/** One task as the journal tells it. `queued`: finished work that waits to be judged. */
export interface Page {
  spec: TaskSpec;
  status:
    | 'waiting'
    | 'running'
    | 'stopped'
    | 'queued'
    | 'merging'
    | 'landed'
    | 'delivered'
    | 'done'
    | 'failed';
  attempts: number;
  base: Sha | null;
  /** The last finished work. */
  work: Sha | null;
  /** A person has committed to it. */
  mended: boolean;
  /** What that changes; null where nobody knows. */
  files: readonly string[] | null;
  /** What it said when it was done. */
  text: string;
  fate: Fate | null;
  used: Used;
  session: string | null;
  /** Its last attempt found that the agent has forgotten the session. */
  lost: boolean;
  /** Which of its assignees made the last attempt. */
  by: number;
  lastAgent: string;
  /** The attempt is made by somebody else than the one before. */
  handed: boolean;
  /** How its last attempt began, and whether that was in a session from before. */
  begun: AttemptStart['kind'] | null;
  resumed: boolean;
  /** How the last attempt failed since it got its chances; null where it did not. */
  lastKind: Failure['kind'] | null;
  /** A resumed session has failed as the attempt before it: the next one needs another. */
  worn: boolean;
  /** Where in the journal its cancellation is; null unless it is cancelled. */
  cancelledSeq: number | null;
  /** The same for its being given up. */
  skippedSeq: number | null;
  /** It was given up, but what needs it may go on. */
  satisfied: boolean;
  /** Somebody asked for the next attempt, and that it begins anew. */
  fresh: boolean;
  /** It alone is paused. */
  paused: boolean;
  /** How many attempts had been made when people sent what no attempt has finished with. */
  asked: readonly number[];
  /** Its finished work goes back to its agent because of that. */
  revised: boolean;
  /** Its last attempt ended with work. */
  finished: boolean;
  /** How it, its last attempt or its last landing failed. */
  failure: Failure['kind'] | null;
  workspace: 'none' | 'live' | 'released' | 'kept' | 'gone';
}

/** A candidate as the journal tells it. */
export interface Queued {
  readonly task: TaskId;
  readonly work: Sha;
  commit: Sha | null;
  running: boolean;
  reds: number;
  /** It passes the others. */
  readonly beside: boolean;
  /** The plan had no gates when it began to land: it may have by then. */
  readonly ungated: boolean;
}

/** Far less than anything costs. */
export const TINY_USD = 1e-4;

/** The later, the more is stopped. */
const MODES = ['drain', 'end', 'cancel'];

type Of<T extends Event['type']> = Extract<Event, { type: T }>;

export class Book {
  readonly #foresight = new Foresight();
  plan: Plan;
  readonly pages: Map<TaskId, Page>;
  /** Tasks that an edited plan has just changed, and nothing else has happened since. */
  #edited = new Set<TaskId>();
  seq = 0;
  at = 0;
  /** Time has just jumped, or nobody could use it: the next entry may be late. */
  isExcused = false;
  /** The time of the entry before the newest one. */
  before = 0;
  stopping: { readonly mode: Of<'run.stopping'>['mode']; readonly seq: number } | null = null;
  /** Null unless the run is paused. */
  paused: { readonly suspended: boolean } | null = null;
  /** Whether it says that tasks wait for the disk. */
  held = false;
  publish: 'none' | 'running' | 'finished' | 'blocked' | 'awaited' | 'approved' | 'declined' =
    'none';
  /** The head that a person is asked about. */
  askedFor: Sha | null = null;
  /** A person is at the terminal. */
  attended = false;
  /** What the last publication was to bring, and whether tasks were going on. */
  published: { readonly head: Sha; readonly early: boolean } | null = null;
  outcome: Of<'run.finished'>['outcome'] | null = null;
  readonly queue: Queued[] = [];
  /** The gate has been green on something; it is said to be broken. */
  proven = false;
  broken = false;
  /** Candidates that have left the queue while their gates run on. */
  lingering: { readonly task: TaskId; readonly commit: Sha }[] = [];
  /** Agents without login or credit, and limits, by agent. */
  readonly refused = new Set<string>();
  readonly walls = new Map<string, Wall>();
  /** Where the head is being moved to. */
  landing: Sha | null = null;
  /** Heads that landed while the plan had no gates: it may have got some later. */
  readonly ungated = new Set<Sha>();
  /** Where the journal says that the head is. */
  head: Sha | null;
  readonly #repo: Repo;
  readonly #disk: Disk;
  readonly #costs = new Map<string, number>();
  /** What running attempts may spend, by attempt. */
  readonly #reserved = new Map<string, number>();

  constructor(plan: Plan, repo: Repo, disk: Disk) {
    this.plan = plan;
    this.#repo = repo;
    this.head = repo.base;
    this.#disk = disk;
    this.pages = new Map(plan.tasks.map((spec) => [spec.id, newPage(spec)]));
  }

  /** What the run may still spend, give or take TINY_USD: sums depend on their order. */
  get leftUsd(): number {
    const spent = [...this.#costs.values()].reduce((sum, cost) => sum + cost, 0);
    return (this.plan.limits.budgetUsd ?? Number.POSITIVE_INFINITY) - spent;
  }

  /** Whether a coding agent has to get money: no estimate of the run's is above its dearest. */
  get pays(): boolean {
    const dearest = Math.max(0, ...this.#costs.values());
    const isAlone = this.freeUsd >= this.leftUsd - TINY_USD; // Nobody will leave any more.
    return this.freeUsd >= TINY_USD && (isAlone || this.freeUsd >= dearest + TINY_USD);
  }

  /** What is neither spent nor promised to a running attempt. */
  get freeUsd(): number {
    let free = this.leftUsd;
    for (const [attempt, reserved] of this.#reserved) {
      free -= Math.max(0, reserved - (this.#costs.get(attempt) ?? 0));
    }
    return free;
  }

  /** Whether the machine has too little memory for a coding agent beside others. */
  get isStrained(): boolean {
    return this.#disk.state === 'no memory';
  }

  /** Whether the machine has room for another attempt at a task, now. */
  fits({ spec, workspace }: Page): boolean {
    if (this.isStrained) {
      const busy = [...this.pages.values()].some(({ status }) => status === 'running');
      return !busy || !AGENTS[spec.agent]!.prose;
    }
    if (this.#disk.state !== 'over budget') return this.#disk.state === 'roomy';
    return usesCheckout(spec) || workspace === 'live' || workspace === 'kept';
  }

  /** Checks the next entry and takes it in. */
  see({ seq, at, event }: Entry): void {
    rule(seq === this.seq + 1, `entry ${seq} follows ${this.seq}`);
    rule(at >= this.at, `entry ${seq} is older than the one before it`);
    rule(this.outcome === null || event.type === 'run.resumed', `${event.type} after the end`);
    this.seq = seq;
    this.before = this.at;
    this.at = at;
    this.#foresight.see(event, this.#isLanded);
    if (event.type !== 'task.retried' && event.type !== 'run.replanned') this.#edited.clear();
    if (event.type.startsWith('run.')) this.#run(event);
    else if (event.type.startsWith('publish.')) this.#publish(event);
    else this.#task(event);
    if ('task' in event && event.task !== null) this.#revise(this.page(event.task));
    this.isExcused = false;
  }

  readonly #isLanded = (id: TaskId): boolean => this.pages.get(id)?.status === 'landed';

  /** Work is about to be merged, with an eye on these. */
  suspected(task: TaskId, suspects: readonly TaskId[]): void {
    const { attempts, used } = this.page(task);
    const page = { attempts, reworks: used.reworks };
    this.#foresight.check({ task, suspects }, this.plan.landing, page, this.#isLanded);
  }

  #run(event: Event): void {
    if (event.type === 'run.stopping') this.#stop(event);
    if (event.type === 'run.replanned') this.#replan(event);
    if (event.type === 'run.finished') this.#finish(event);
    if (event.type === 'run.started' || event.type === 'run.resumed') {
      this.attended = event.attended === true;
    }
    if (event.type === 'run.limited') {
      const { type: _, ...limits } = event;
      this.plan = { ...this.plan, limits: { ...this.plan.limits, ...limits } };
    }
    if (event.type === 'run.paused') this.#pause(event);
    if (event.type === 'run.continued') {
      rule(this.paused !== null, 'goes on without having been paused');
      this.paused = null;
      this.broken = false;
    }
    if (event.type === 'run.held') {
      rule(this.#disk.state !== 'roomy', 'waits for a disk that has room');
      rule(this.stopping === null && this.paused === null, 'waits for a disk, but starts nothing');
      this.held = true;
    }
    if (event.type === 'run.eased') {
      rule(this.held, 'has room again without having waited for it');
      this.held = false;
    }
    if (event.type !== 'run.resumed') return;
    this.held = false;
    this.lingering = [];
    rule(this.outcome !== null || event.retry.length === 0, 'only an ended run gives new chances');
    this.outcome = null;
    this.refused.clear();
    this.stopping = null;
    this.paused = null;
    this.broken = false;
    this.#unblock();
    for (const id of event.retry) {
      const page = this.page(id);
      rule(page.status === 'failed', `${id} gets a new chance without having failed`);
      rule(page.skippedSeq === null, `${id} gets a new chance although it was given up`);
      page.status = page.failure === 'push-failed' || page.mended ? 'queued' : 'waiting';
      forgive(page);
    }
  }

  /** Good tasks stay, and all that was tried; the rest is as the edited plan says. */
  #replan({ plan, difference: { added, changed, removed } }: Of<'run.replanned'>): void {
    const wanted = new Set(plan.tasks.map(({ id }) => id));
    for (const [id, page] of this.pages) {
      if (wanted.has(id)) continue;
      rule(page.attempts === 0 && !isGood(page.status), `${id} is forgotten, but was tried`);
      rule(['waiting', 'failed'].includes(page.status), `${id} is forgotten while ${page.status}`);
      rule(removed.includes(id), `${id} is forgotten without a word`);
      this.pages.delete(id);
    }
    for (const spec of plan.tasks) {
      const page = this.pages.get(spec.id);
      rule(added.includes(spec.id) === (page === undefined), `${spec.id} is not told as new`);
      if (page !== undefined) page.spec = spec;
      this.pages.delete(spec.id);
      this.pages.set(spec.id, page ?? newPage(spec)); // They are in the order of the plan.
    }
    for (const id of removed) {
      const page = this.pages.get(id);
      if (page === undefined) continue;
      rule(!isGood(page.status), `${id} is given up although it is good`);
      Object.assign(page, { skippedSeq: this.seq, satisfied: true });
    }
    const open = this.queue.filter(({ commit }) => commit !== null && commit !== this.landing);
    const stays = this.landing === null ? [] : this.landingWith(this.landing);
    const stale = open.find((each) => !stays.includes(each));
    rule(stale === undefined, `${stale?.task} is in the queue by the gates of another plan`);
    this.#edited = new Set(changed.map(({ task }) => task));
    this.plan = plan;
  }

  #pause({ suspended }: Of<'run.paused'>): void {
    rule(this.stopping === null, 'a run that is stopping is paused');
    rule(this.paused?.suspended !== suspended, 'the run is paused twice');
    this.paused = { suspended };
    this.held = false;
  }

  #stop({ mode }: Of<'run.stopping'>): void {
    const before = this.stopping?.mode;
    const harder = before === undefined || MODES.indexOf(mode) > MODES.indexOf(before);
    rule(harder, `the run is asked to ${mode} after it was asked to ${before}`);
    this.stopping = { mode, seq: this.seq };
    this.held = false;
    this.paused = null;
  }

  #finish({ outcome }: Of<'run.finished'>): void {
    const pages = [...this.pages.values()];
    for (const { spec, status, workspace } of pages) {
      rule(!['running', 'merging'].includes(status), `finished while ${spec.id} is ${status}`);
      rule(workspace !== 'released', `finished while the workspace of ${spec.id} is being removed`);
      const isIdle = workspace === 'live' && isGood(status);
      const mayHold = this.plan.landing.onConflict === 'hold' && !pages.every(isOver);
      rule(!isIdle || mayHold, `finished with the workspace of ${spec.id}, which is good`);
    }
    rule(this.publish !== 'running', 'finished while publishing');
    const mode = this.stopping?.mode;
    if (mode === undefined) {
      const good = pages.every(isMet);
      rule(pages.every(isOver), 'finished although a task has not ended');
      const blocked = this.publish === 'blocked' && this.published?.early === false;
      const isAnswered = this.publish === 'awaited' || this.publish === 'declined';
      const settled = blocked || (isAnswered && this.askedFor === this.head) || this.isHeldBack;
      rule(!this.unpublished || settled, 'finished without publishing');
      rule(!this.awaits || !this.attended, 'finished although a person could approve');
      const expected = good && this.publish !== 'blocked' && !this.awaits ? 'succeeded' : 'failed';
      rule(outcome === expected, `finished as ${outcome}, not ${expected}`);
    } else {
      const queued = pages.some((page) => page.status === 'queued' && !isGivenUp(page));
      const waits = queued && !this.broken;
      rule(mode !== 'drain' || !waits, 'finished draining although work waits to land');
      const expected = mode === 'cancel' ? 'cancelled' : this.broken ? 'failed' : 'interrupted';
      rule(outcome === expected, `finished as ${outcome}, not ${expected}`);
    }
    this.outcome = outcome;
  }

  /** An approval that something blocked holds. */
  #unblock(): void {
    if (this.publish !== 'blocked') return;
    const asks = this.plan.landing.publish === 'ask';
    this.publish = asks ? 'approved' : 'none';
    if (asks) this.askedFor = this.published?.head ?? null;
  }

  /** Whether a person is asked about what has landed. */
  get awaits(): boolean {
    return this.publish === 'awaited' && this.askedFor === this.head && !this.isHeldBack;
  }

  #approve(event: Of<'publish.awaited' | 'publish.approved' | 'publish.declined'>): void {
    rule(this.plan.landing.publish === 'ask', `${event.type}, but nobody is to be asked`);
    rule(this.stopping === null, `${event.type} although the run is stopping`);
    rule(event.head === this.head, `${event.type} of ${event.head}, not ${this.head}`);
    if (event.type === 'publish.awaited') {
      rule([...this.pages.values()].every(isOver), 'asks before everything is over');
      rule(this.unpublished && !this.isHeldBack, 'asks for what need not be published');
      const isAsked = ['awaited', 'approved', 'declined'].includes(this.publish);
      rule(!isAsked || this.askedFor !== this.head, 'asks twice');
    } else {
      const isAsked = this.publish === 'awaited' || this.publish === 'declined';
      rule(isAsked && this.askedFor === this.head, `${event.type} without being asked`);
    }
    this.askedFor = event.head;
    this.publish = event.type.slice('publish.'.length) as typeof this.publish;
  }

  #publish(event: Event): void {
    if (/awaited|approved|declined/.test(event.type))
      return this.#approve(event as Of<'publish.awaited'>);
    if (event.type === 'publish.started') {
      const early = ![...this.pages.values()].every(isOver);
      const may = !early || this.plan.landing.publish === 'each';
      rule(may, 'publishing before everything is over');
      rule((event.early === true) === early, `publishing with early=${event.early}`);
      rule(this.publish !== 'running', 'publishing twice at the same time');
      rule(!this.isHeldBack, 'publishing although a conflict holds the run back');
      rule(!early || this.plan.landing.onConflict !== 'hold', 'publishing before a conflict could');
      rule(this.stopping === null, 'publishing although the run is stopping');
      const mayAsk = this.plan.landing.publish !== 'ask' || this.askedFor === this.head;
      rule(mayAsk, 'publishing what nobody approved');
      rule(this.plan.landing.publish !== 'ask' || this.publish === 'approved', 'not approved');
      rule(this.unpublished, 'publishing what need not be published');
      rule(event.head === this.head, `publishing ${event.head}, not ${this.head}`);
      const again = this.publish === 'blocked' && this.published?.head === event.head;
      rule(!again || (this.published!.early && !early), 'tried again though nothing has changed');
      this.published = { head: event.head, early };
    } else {
      rule(this.publish === 'running', `${event.type} without publish.started`);
    }
    const state = event.type.slice('publish.'.length);
    this.publish = state === 'started' ? 'running' : (state as 'finished' | 'blocked');
  }

  /** Whether a conflict has failed a task of a plan that wants all or nothing. */
  get isHeldBack(): boolean {
    const isConflict = ({ status, failure }: Page) => status === 'failed' && failure === 'conflict';
    return this.plan.landing.onConflict === 'hold' && [...this.pages.values()].some(isConflict);
  }

  /** Whether the target branch still lacks something that landed and should be there. */
  get unpublished(): boolean {
    const { head } = this;
    const { base, target } = this.#repo;
    if (this.plan.landing.publish === 'off' || this.plan.target === undefined) return false;
    return (
      head !== base && head !== null && !(target !== null && this.#repo.contains(target, head))
    );
  }

  #task(event: Event): void {
    if (!('task' in event) || event.task === null) return;
    const page = this.page(event.task);
    switch (event.type) {
      case 'attempt.started':
        return this.#start(page, event);
      case 'attempt.prepared':
        rule(page.status === 'running', `${event.task} is prepared although it does not run`);
        return;
      case 'attempt.session':
        page.session = event.session;
        return;
      case 'attempt.usage':
        this.#costs.set(`${event.task}.${event.attempt}`, event.costUsd);
        if (event.outputTokens > 0) this.#served(page);
        rule(this.leftUsd > -TINY_USD, 'the run spends more than its budget');
        return;
      case 'attempt.finished':
      case 'attempt.failed':
        this.#reserved.delete(`${event.task}.${event.attempt}`);
        return this.#endAttempt(page, event);
      case 'work.adopted':
        return this.#adopt(page, event);
      case 'work.mended':
        return this.#mend(page, event);
      case 'work.kept':
        return rule(page.status === 'running', `${event.task} begins anew, but does not run`);
      case 'work.proved':
        rule(page.status === 'landed', `${event.task} is proved although it has not landed`);
        rule(this.publish === 'running', `${event.task} is proved although nothing is published`);
        return;
      case 'merge.settled':
        return rule(
          this.queue.some(
            (candidate) => candidate.task === event.task && candidate.commit === null,
          ),
          `${event.task} is settled although it is not being built`,
        );
      case 'gate.finished':
        if (event.ok && event.spared !== 'paths') this.proven = true;
        return;
      case 'gate.broken':
        return this.#break(page, event);
      case 'merge.started':
        return this.#queue(page, event);
      case 'candidate.built':
      case 'candidate.verifying':
      case 'candidate.verified':
        return this.#candidate(event);
      case 'candidate.dropped':
        return this.#drop(page, event);
      case 'merge.landing':
        return this.#landing(event);
      case 'merge.landed':
      case 'merge.rejected':
      case 'merge.withdrawn':
      case 'work.delivered':
        return this.#leave(page, event);
      case 'task.failed':
        return this.#fail(page, event.failure);
      case 'task.paused':
      case 'task.continued': {
        const isPaused = event.type === 'task.paused';
        rule(page.paused !== isPaused, `${event.type} of ${event.task} says nothing new`);
        rule(!isPaused || !isOver(page), `${event.task} is paused, but over`);
        page.paused = isPaused;
        return;
      }
      case 'task.commented':
        rule(AGENTS[page.spec.agent]!.prose, `${event.task} is a script, and is reviewed`);
        rule(page.attempts > 0 && !isOver(page), `${event.task} is reviewed while ${page.status}`);
        page.asked = [...page.asked, page.attempts];
        return;
      case 'task.cancelled':
        page.paused = false;
        page.cancelledSeq = this.seq;
        return;
      case 'task.retried':
        return this.#retry(page, event);
      case 'task.skipped':
        rule(!isGood(page.status), `${event.task} is given up, but good`);
        page.paused = false;
        page.skippedSeq = this.seq;
        page.satisfied = event.satisfied;
        return;
      case 'workspace.released':
        rule(page.workspace === 'live' && isOver(page), `${event.task} is released too early`);
        if (this.plan.landing.onConflict === 'hold') {
          rule([...this.pages.values()].every(isOver), `${event.task} goes, a conflict may come`);
        }
        page.workspace = 'released';
        return;
      case 'workspace.removed':
      case 'workspace.kept':
        rule(page.workspace === 'released', `${event.type} of ${event.task} without a release`);
        page.workspace = event.type === 'workspace.kept' ? 'kept' : 'gone';
        return;
    }
  }

  #start(page: Page, event: Of<'attempt.started'>): void {
    const { spec, used } = page;
    const { id } = spec;
    rule(event.attempt === page.attempts + 1, `${id}.${event.attempt} after ${page.attempts}`);
    rule(page.cancelledSeq === null, `${id} starts although it is cancelled`);
    rule(page.skippedSeq === null, `${id} starts although it was given up`);
    rule(this.stopping === null, `${id} starts although the run is stopping`);
    rule(this.paused === null, `${id} starts although the run is paused`);
    rule(!page.paused, `${id} starts although it is paused`);
    rule(this.fits(page), `${id} starts although the disk is ${this.#disk.state}`);
    rule(page.workspace !== 'released', `${id} starts while its workspace is being removed`);
    const promised = event.budgetUsd ?? 0;
    const spends = AGENTS[spec.agent]!.prose;
    rule(!spends || this.freeUsd > -TINY_USD + promised, `${id} starts without money`);
    rule(spends || promised === 0, `${id} reserves money that it cannot spend`);
    if (Number.isFinite(this.leftUsd)) this.#reserved.set(`${id}.${event.attempt}`, promised);
    this.#checkAssignee(page, event);
    this.#checkDue(page, event);
    for (const other of this.pages.values()) {
      const holds = ['running', 'queued', 'merging'].includes(other.status);
      const meets = other !== page && holds && reallyMeet(other.spec, spec);
      rule(!meets, `${id} starts in the scope of ${other.spec.id}, which is ${other.status}`);
    }
    const answers = page.fate?.kind === 'attempt' && page.fate.rework;
    if (event.start.kind === 'rework' && answers) used.reworks += 1;
    if (event.start.kind === 'fresh' || event.start.session === null) page.session = null;
    page.lastAgent = this.assigneeOf(page).agent;
    page.resumed = event.start.kind !== 'fresh' && event.start.session !== null;
    page.begun = event.start.kind;
    if (page.begun === 'fresh') page.mended = false;
    page.status = 'running';
    page.fresh = false;
    page.revised = false;
    this.walls.get(this.assigneeOf(page).agent)?.probes.add(id);
    page.attempts = event.attempt;
    page.base = event.base;
    if (!usesCheckout(spec)) page.workspace = 'live';
  }

  /** The first assignee, from the one it has come to, whose agent does not refuse. */
  #checkAssignee(page: Page, { by }: Of<'attempt.started'>): void {
    const { id } = page.spec;
    const assignees = assigneesOf(page.spec);
    const isBack = page.fate?.kind === 'attempt' && (page.fate.rework || page.revised);
    const rework = page.status === 'stopped' && isBack;
    const from = rework && !page.fresh ? page.by : page.used.choice;
    const open = assignees.findIndex(({ agent }, i) => i >= from && !this.refused.has(agent));
    const nth = open < 0 ? from : open;
    const expected = JSON.stringify(nth === 0 ? undefined : assignees[nth]);
    rule(
      JSON.stringify(by) === expected,
      `${id} is done by ${JSON.stringify(by)}, not ${expected}`,
    );
    const { agent } = assignees[nth]!;
    rule(!this.refused.has(agent), `${id} starts although ${agent} refuses to work`);
    const wall = this.walls.get(agent);
    rule(this.at >= (wall?.until ?? 0), `${id} starts although ${agent} is at its limit`);
    const others = wall === undefined || wall.known ? 0 : wall.probes.size;
    rule(others === 0, `${id} starts although another task tries the limit of ${agent}`);
    if (nth !== page.used.choice) Object.assign(page.used, { choice: nth, counted: 0, waits: 0 });
    page.handed = nth !== page.by && page.attempts > 0;
    page.by = nth;
  }

  /** Who does the task, or did last. */
  assigneeOf({ spec, by }: Page): Assignee {
    return assigneesOf(spec)[by]!;
  }

  /** An attempt that began after the limit was hit has got through. */
  #served(page: Page): void {
    const { agent } = this.assigneeOf(page);
    if (this.walls.get(agent)?.probes.has(page.spec.id) === true) this.walls.delete(agent);
  }

  #learn(page: Page, failure: Failure | null): void {
    const { id } = page.spec;
    const { agent } = this.assigneeOf(page);
    const wall = this.walls.get(agent) ?? null;
    const probe = wall?.probes.has(id) === true;
    const kinds = ['no-change', 'out-of-scope', 'checks-failed', 'commit-failed'];
    if (failure === null || kinds.includes(failure.kind)) this.#served(page);
    wall?.probes.delete(id);
    if (failure?.kind === 'auth' || failure?.kind === 'billing') this.refused.add(agent);
    if (failure?.kind !== 'rate-limited' || failure.guessed === true) return;
    this.walls.set(agent, wallAfter(wall, failure, this.at, probe));
  }

  /** A first attempt may start at any time; another one when and from where policy says. */
  #checkDue(page: Page, { start }: Of<'attempt.started'>): void {
    const { id } = page.spec;
    if (page.status === 'waiting') {
      rule(page.spec.work === undefined, `${id} asks an agent for work that is there`);
      return rule(start.kind === 'fresh', `${id} starts ${start.kind}`);
    }
    const { fate } = page;
    rule(page.status === 'stopped' && fate?.kind === 'attempt', `${id} must not start again`);
    rule(this.at >= fate.dueAt, `${id} starts again ${fate.dueAt - this.at} ms too early`);
    const { agent } = this.assigneeOf(page);
    const latest = Math.max(fate.latest, this.walls.get(agent)?.until ?? 0);
    const late = !this.isExcused && this.before < latest && this.at > latest;
    rule(!late, `${id} starts again ${this.at - latest} ms too late, with nothing in between`);
    const { resume } = AGENTS[page.lastAgent]!;
    const session = resume ? page.session : null;
    const resumed = session === null || page.spec.retry?.session === 'new' ? null : session;
    const goesOn = resume && (session !== null || page.begun === 'continue');
    const again = goesOn ? { kind: 'continue', session: page.worn ? null : resumed } : null;
    const lost = page.lost ? { kind: 'continue', session: null } : null;
    const isTheirs = page.spec.work !== undefined || page.mended;
    const mend = { kind: 'rework', session: null, commit: page.work };
    const begin = isTheirs ? mend : { kind: 'fresh' };
    const passed = fate.handed ? { kind: 'continue', session: null } : null;
    const anew = page.fresh ? { kind: 'fresh' } : (passed ?? lost ?? again ?? begin);
    const revised = isTheirs
      ? { kind: 'rework', session, commit: page.work }
      : { kind: 'continue', session };
    const isRevised = page.revised && !page.fresh;
    const planned = isRevised
      ? revised
      : !page.fresh && fate.rework
        ? { kind: 'rework', session, commit: page.work }
        : anew;
    const isLonely = page.handed && 'session' in planned;
    const expected = isLonely ? { ...planned, session: null } : planned;
    const same = JSON.stringify(start) === JSON.stringify(expected);
    rule(same, `${id} starts again as ${JSON.stringify(start)}`);
  }

  #endAttempt(page: Page, event: Of<'attempt.finished' | 'attempt.failed'>): void {
    const { id } = page.spec;
    rule(page.status === 'running', `${event.type} of ${id}, which is ${page.status}`);
    rule(event.attempt === page.attempts, `${event.type} of ${id}.${event.attempt} is stale`);
    page.finished = event.type === 'attempt.finished';
    page.lost = event.type === 'attempt.failed' && event.failure.kind === 'session-lost';
    const kind = event.type === 'attempt.failed' ? event.failure.kind : null;
    this.#learn(page, event.type === 'attempt.failed' ? event.failure : null);
    const blames = !['interrupted', 'rate-limited', 'workspace-failed', null].includes(kind);
    page.worn = blames && page.resumed && kind === page.lastKind;
    page.lastKind = kind;
    if (event.type === 'attempt.failed') {
      page.failure = event.failure.kind;
      page.status = 'stopped';
      page.fate = afterAttempt(page.spec, event.failure, this.at, page.used);
    } else {
      page.asked = page.asked.filter((before) => before >= event.attempt);
      page.status = event.commit === null ? 'done' : 'queued';
      page.work = event.commit;
      page.files = event.files;
      page.text = event.text;
    }
  }

  #adopt(page: Page, { commit }: Of<'work.adopted'>): void {
    const { id, work, needs } = page.spec;
    rule(work === commit, `${id} is said to have ${commit}, not ${work}`);
    rule(page.status === 'waiting', `${id} begins with its work although it is ${page.status}`);
    rule(!isGivenUp(page), `${id} begins although it is cancelled or given up`);
    rule(this.stopping === null, `${id} begins although the run is stopping`);
    const early = needs.find((need) => !isMet(this.page(need)));
    rule(early === undefined, `${id} begins before ${early}`);
    page.work = commit;
    page.fresh = false;
    page.status = 'queued';
  }

  /** What a person has committed queues, whatever became of the attempts before. */
  #mend(page: Page, { commit, files }: Of<'work.mended'>): void {
    const { id } = page.spec;
    const isOpen = ['waiting', 'stopped', 'failed', 'queued'].includes(page.status);
    rule(isOpen, `${id} is mended although it is ${page.status}`);
    rule(page.attempts > 0, `${id} is mended before anybody has tried it`);
    rule(!isGivenUp(page) || page.status === 'failed', `${id} is mended, but given up`);
    rule(page.work !== commit, `${id} is mended with the work that it has`);
    forgive(page);
    Object.assign(page, { work: commit, files, mended: true, fresh: false, status: 'queued' });
  }

  /** The candidates that are built on each other. */
  get chain(): readonly Queued[] {
    return this.queue.filter(({ beside }) => !beside);
  }

  #queue(page: Page, event: Of<'merge.started'>): void {
    const { id } = page.spec;
    const beside = event.passes !== undefined;
    if (beside) this.#pass(page, event.passes);
    const tip = beside ? undefined : this.chain.at(-1);
    rule(tip === undefined || tip.commit !== null, `${id} is built on something unbuilt`);
    const onto = tip?.commit ?? this.#repo.head;
    rule(event.onto === onto, `${id} is built on ${event.onto}, not on ${onto}`);
    rule(this.#verifies || tip === undefined, `${id} lands while ${tip?.task} does`);
    rule(page.status === 'queued', `${id} merges although it is ${page.status}`);
    rule(!isGivenUp(page), `${id} merges although it is cancelled or given up`);
    const mode = this.stopping?.mode ?? 'drain';
    rule(mode === 'drain', `${id} merges although the run is ending`);
    rule(!this.broken, `${id} merges although the gate is broken`);
    rule(event.commit === page.work, `${id} merges ${event.commit}, not ${page.work}`);
    if (this.plan.landing.order === 'plan') this.#inTurn(id);
    page.status = 'merging';
    const candidate = { task: id, work: event.commit, commit: null, running: false, reds: 0 };
    this.queue.push({ ...candidate, beside, ungated: !this.#verifies });
  }

  /** In the order of the plan nobody lands before work that is made, or is there, further up. */
  #inTurn(id: TaskId): void {
    const own = this.#wantedAt(id);
    for (const { spec, status } of this.pages.values()) {
      const isNext = status === 'running' || (status === 'queued' && spec.id !== id);
      const isBefore = isNext && spec.mode === 'write' && this.#wantedAt(spec.id) < own;
      rule(!isBefore, `${id} lands before ${spec.id}, out of turn`);
    }
  }

  /** Whether the plan's order makes it wait for a task further up that can still bring work. */
  isBehind({ spec: { id } }: Page): boolean {
    if (this.plan.landing.order !== 'plan') return false;
    const own = this.#wantedAt(id);
    const isAhead = ({ spec }: Page): boolean =>
      spec.id !== id && spec.mode === 'write' && this.#wantedAt(spec.id) <= own;
    return [...this.pages.values()].some((page) => !isOver(page) && isAhead(page));
  }

  /** Where the plan first names a task, or one that needs it, however far down. */
  #wantedAt(id: TaskId): number {
    const wanting = new Set([id]);
    for (let last = 0; last !== wanting.size; ) {
      last = wanting.size;
      for (const { spec } of this.pages.values()) {
        if (spec.needs.some((need) => wanting.has(need))) wanting.add(spec.id);
      }
    }
    return [...this.pages.keys()].findIndex((each) => wanting.has(each));
  }

  /** Whoever passes is independent, and really changes nothing that those before it change. */
  #pass({ spec, files }: Page, passes: readonly TaskId[]): void {
    rule(spec.independent === true, `${spec.id} passes, but it is not independent`);
    const other = this.queue.find(({ beside }) => beside);
    rule(other === undefined, `${spec.id} passes while ${other?.task} does`);
    rule(this.landing === null, `${spec.id} passes while the head is moving`);
    rule(passes.length > 0 && this.#verifies, `${spec.id} passes nobody`);
    const left = this.chain.find(({ task }) => !passes.includes(task));
    rule(left === undefined, `${spec.id} passes ${left?.task} without a word`);
    for (const id of passes) {
      const met = this.page(id).files;
      const same = files?.find((file) => met?.some((each) => touches(file, each)));
      rule(met !== null && files !== null, `${spec.id} passes ${id} without knowing what it does`);
      rule(same === undefined, `${spec.id} passes ${id}, which changes ${same} too`);
    }
  }

  /** Nobody is blamed: the work waits, and nothing lands. */
  #break(page: Page, { task }: Of<'gate.broken'>): void {
    this.broken ||= !this.proven;
    this.lingering = this.lingering.filter((each) => each.task !== task);
    const at = this.queue.findIndex((each) => each.task === task);
    if (at < 0) return;
    this.queue.splice(at, 1);
    page.status = 'queued';
  }

  #drop({ spec }: Page, { commit }: Of<'candidate.dropped'>): void {
    const known = this.lingering.some((each) => each.commit === commit);
    rule(known, `the gates of ${spec.id} are ended, but none run on ${commit}`);
    const isEnding = this.stopping !== null && this.stopping.mode !== 'drain';
    const { asked } = this.page(spec.id);
    const isMeant = isEnding || this.broken || isGivenUp(this.page(spec.id)) || asked.length > 0;
    rule(isMeant, `${spec.id} is dropped for no reason`);
    this.lingering = this.lingering.filter((each) => each.commit !== commit);
  }

  get #verifies(): boolean {
    return this.plan.gates.length > 0 && this.plan.landing.strategy !== 'none';
  }

  /** Of a candidate that has left the queue a verdict may still come; it means nothing then. */
  #candidate(event: Of<'candidate.built' | 'candidate.verifying' | 'candidate.verified'>): void {
    const { task, commit } = event;
    const found = this.queue.find((candidate) => candidate.task === task);
    if (event.type === 'candidate.verified') {
      this.lingering = this.lingering.filter((each) => each.commit !== commit);
    }
    if (event.type === 'candidate.built') {
      rule(found?.commit === null, `the candidate of ${task} is built twice`);
      rule(event.spared !== true || found.beside, `${task} is spared in the chain`);
      found.commit = commit;
      return;
    }
    if (event.type === 'candidate.verifying') {
      rule(found?.commit === commit && !found.running, `${task} is verified twice at a time`);
      rule(!this.broken, `${task} is verified although the gate is broken`);
      const running = this.queue.filter((candidate) => candidate.running).length;
      const busy = running + this.lingering.length;
      rule(busy < this.plan.limits.gates, `${task} is verified without a slot`);
      const former = this.lingering.some((each) => each.task === task);
      rule(!former, `${task} is verified beside its former candidate`);
      rule(!this.#repo.green.has(commit) || found.reds > 0, `${task} is verified though green`);
      found.running = true;
      return;
    }
    if (found === undefined || found.commit !== commit) return;
    found.running = false;
    if (event.failure !== null) found.reds += 1;
  }

  #landing({ task, commit }: Of<'merge.landing'>): void {
    rule(this.landing === null, `${task} lands while the head is moving`);
    rule(!this.broken, `${task} lands although the gate is broken`);
    const landing = this.landingWith(commit);
    rule(landing.length > 0, `${commit} is not in the queue`);
    for (const each of landing) {
      rule(!isGivenUp(this.page(each.task)), `${each.task} lands although it was given up`);
      rule(this.page(each.task).asked.length === 0, `${each.task} lands although it is reviewed`);
    }
    rule(this.#repo.green.has(commit), `${commit} lands although nobody found it green`);
    this.landing = commit;
  }

  /** Who lands when the head is moved to a candidate. */
  landingWith(commit: Sha): readonly Queued[] {
    const beside = this.queue.filter((each) => each.beside && each.commit === commit);
    const at = this.chain.findIndex((each) => each.commit === commit);
    return beside.length > 0 ? beside : this.chain.slice(0, at + 1);
  }

  #leave(
    page: Page,
    event: Of<'merge.landed' | 'merge.rejected' | 'merge.withdrawn' | 'work.delivered'>,
  ): void {
    const { id } = page.spec;
    rule(page.status === 'merging', `${event.type} of ${id}, which is ${page.status}`);
    const chain = this.chain;
    const at = chain.findIndex(({ task }) => task === id);
    const candidate = this.queue.find(({ task }) => task === id);
    this.queue.splice(this.queue.indexOf(candidate!), 1);
    this.#linger(id, candidate!, event);
    const delivers = this.plan.landing.strategy === 'none';
    const isSafe = event.type === 'merge.landed' || event.type === 'work.delivered';
    if (isSafe && page.workspace === 'kept') page.workspace = 'live'; // What it was kept for is over.
    if (event.type === 'work.delivered') {
      rule(delivers, `${id} is delivered`);
      page.status = 'delivered';
    } else if (event.type === 'merge.landed') {
      rule(!delivers, `${id} lands`);
      rule(at === 0 || candidate?.beside === true, `${id} lands before ${chain[0]?.task}`);
      rule(!this.#verifies || this.landing !== null || candidate?.commit === null, 'unannounced');
      if (this.landing === event.commit) this.landing = null;
      page.status = 'landed';
      this.head = event.commit;
      if (candidate?.ungated === true) this.ungated.add(event.commit);
    } else if (event.type === 'merge.withdrawn') {
      page.status = 'queued';
    } else {
      const isBlamed = event.failure.kind === 'gate-failed' && this.#verifies;
      rule(!isBlamed || (candidate?.reds ?? 0) > 1, `${id} is ejected after one look`);
      const before = chain[at - 1];
      const isGreen = before === undefined || this.#repo.green.has(before.commit ?? '');
      rule(!isBlamed || isGreen, `${id} is blamed for what may be the fault of ${before?.task}`);
      page.failure = event.failure.kind;
      page.fate = afterRejection(this.plan.landing, event.failure, this.at, page);
      page.status = page.fate.kind === 'queue' ? 'queued' : 'stopped';
    }
  }

  /** Gates go on only on the work that others have passed, or that was to pass others. */
  #linger(id: TaskId, { commit, running }: Queued, event: Event): void {
    const lingers = event.type === 'merge.withdrawn' && event.lingers === true;
    const before = this.lingering.some(({ task }) => task === id);
    rule(!lingers || running || before, `the gates of ${id} go on, but none were run`);
    if (!lingers) this.lingering = this.lingering.filter(({ task }) => task !== id);
    else if (running) this.lingering.push({ task: id, commit: commit! });
  }

  #fail(page: Page, failure: Failure): void {
    const { id } = page.spec;
    const idle = ['waiting', 'stopped', 'queued'].includes(page.status);
    rule(idle, `${id} fails although it is ${page.status}`);
    const reasons: Readonly<Record<string, boolean>> = {
      cancelled: page.cancelledSeq !== null || this.stopping?.mode === 'cancel',
      budget: this.leftUsd < TINY_USD && page.status !== 'queued' && AGENTS[page.spec.agent]!.prose,
      skipped: page.skippedSeq !== null,
      'dependency-failed':
        failure.kind === 'dependency-failed' &&
        page.spec.needs.includes(failure.dependency) &&
        this.page(failure.dependency).status === 'failed' &&
        !isMet(this.page(failure.dependency)),
    };
    const exhausted = page.status === 'stopped' && page.fate?.kind === 'give-up';
    const refused = page.status !== 'queued' && this.isRefused(page);
    rule(
      !refused || exhausted || reasons[failure.kind] === true || this.#isQuiet(),
      `${id} fails early`,
    );
    const meant = reasons[failure.kind] === true || exhausted || refused;
    rule(meant, `${id} fails too early: ${failure.kind}`);
    page.status = 'failed';
    page.failure = failure.kind;
  }

  /** Whether nobody who could do the task does not refuse to work. */
  isRefused({ spec, used }: Page): boolean {
    return assigneesOf(spec)
      .slice(used.choice)
      .every(({ agent }) => this.refused.has(agent));
  }

  /** Whether no attempt of the task may begin now because of the agent that would make it. */
  isParked(page: Page, now: number): boolean {
    const rework = page.fate?.kind === 'attempt' && (page.fate.rework || page.revised);
    const assignees = assigneesOf(page.spec).slice(rework ? page.by : page.used.choice);
    const assignee = assignees.find(({ agent }) => !this.refused.has(agent));
    const wall = assignee && this.walls.get(assignee.agent);
    if (assignee === undefined || wall === undefined) return assignee === undefined;
    return wall.until > now || (!wall.known && wall.probes.size > 0);
  }

  /** Whether nothing is left to do but what refused agents would have to. */
  #isQuiet(): boolean {
    return [...this.pages.values()].every((page) => {
      if (isOver(page)) return true;
      const blocked = page.spec.needs.some((need) => !isMet(this.page(need)));
      return ['waiting', 'stopped'].includes(page.status) && (blocked || this.isRefused(page));
    });
  }

  /** Finished work queues again unless it does not fit; everything else is tried again at once. */
  #retry(page: Page, { fresh, note }: Of<'task.retried'>): void {
    const { id } = page.spec;
    if (note !== undefined) page.asked = [...page.asked, page.attempts];
    const { status, failure } = page;
    const isCutOff = status === 'running' && fresh && this.#edited.has(id);
    const isOpen = status === 'failed' || status === 'stopped' || isCutOff;
    rule(isOpen, `${id} is retried, but ${status}`);
    rule(this.stopping === null, `${id} is retried although the run is stopping`);
    this.#unblock();
    for (const { agent } of assigneesOf(page.spec)) {
      this.refused.delete(agent);
      this.walls.delete(agent);
    }
    const isMisfit = ['conflict', 'gate-failed', 'semantic'].includes(failure ?? '');
    const misfit = page.finished && isMisfit;
    forgive(page);
    page.fresh = fresh;
    if (isCutOff) return;
    page.fate = { kind: 'attempt', dueAt: this.at, latest: this.at, rework: misfit, handed: false };
    const isAnew = page.attempts === 0 || (fresh && page.spec.work !== undefined);
    page.status = isAnew ? 'waiting' : 'stopped';
    if ((page.mended || (page.finished && !misfit)) && !fresh) page.status = 'queued';
  }

  /** Finished work that a person wants changed goes back, with all retries. */
  #revise(page: Page): void {
    if (page.status !== 'queued' || page.asked.length === 0) return;
    const { choice } = page.used;
    page.used = { choice, counted: 0, waits: 0, reworks: 0 };
    page.fate = { kind: 'attempt', dueAt: this.at, latest: this.at, rework: false, handed: false };
    Object.assign(page, { status: 'stopped', failure: 'revision', revised: true });
    Object.assign(page, { lastKind: null, worn: false, lost: false });
  }

  page(id: TaskId): Page {
    const page = this.pages.get(id);
    rule(page !== undefined, `the journal names an unknown task: ${id}`);
    return page;
  }
}

/** Whether two paths are the same, or one is in the other. */
function touches(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** Whether nothing more will happen to the task. */
export function isOver({ status }: Page): boolean {
  return isGood(status) || status === 'failed';
}

/** Whether tasks that need such a one may start. */
export function isGood(status: Page['status']): boolean {
  return status === 'landed' || status === 'delivered' || status === 'done';
}

/** Whether tasks that need it may start. */
export function isMet({ status, satisfied, skippedSeq }: Page): boolean {
  if (isGood(status)) return true;
  return status === 'failed' && skippedSeq !== null && satisfied;
}

/** Whether somebody does not want it any more. */
export function isGivenUp({ cancelledSeq, skippedSeq }: Page): boolean {
  return cancelledSeq !== null || skippedSeq !== null;
}

/** Everybody who may do a task. */
function assigneesOf({ agent, model, fallbacks = [] }: TaskSpec): readonly Assignee[] {
  return [model === undefined ? { agent } : { agent, model }, ...fallbacks];
}

/** All chances again. */
function forgive(page: Page): void {
  page.fate = null;
  page.paused = false;
  page.revised = false;
  page.cancelledSeq = null;
  page.skippedSeq = null;
  page.satisfied = false;
  page.used = { choice: 0, counted: 0, waits: 0, reworks: 0 };
  page.lastKind = null;
  page.worn = false;
}

function newPage(spec: TaskSpec): Page {
  return {
    spec,
    status: 'waiting',
    attempts: 0,
    base: null,
    work: null,
    mended: false,
    files: null,
    text: '',
    fate: null,
    used: { choice: 0, counted: 0, waits: 0, reworks: 0 },
    session: null,
    lost: false,
    by: 0,
    lastAgent: spec.agent,
    handed: false,
    begun: null,
    resumed: false,
    lastKind: null,
    worn: false,
    cancelledSeq: null,
    skippedSeq: null,
    satisfied: false,
    fresh: false,
    paused: false,
    asked: [],
    revised: false,
    finished: false,
    failure: null,
    workspace: 'none',
  };
}

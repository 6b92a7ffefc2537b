/**
 * The rules about what really happens: which effects run at the same time, what they may begin
 * with, and what must not be left undone when the engine waits. Truth is the repository and the jobs.
 */

import { type Effect, keyOf } from '../../src/model/effect.ts';
import type { TaskId } from '../../src/model/plan.ts';
import type { Wait } from '../../src/model/state.ts';
import { type Book, isGivenUp, isGood, isMet, isOver, type Page } from './book.ts';
import type { Job } from './jobs.ts';
import { AGENTS, reallyMeet } from './plans.ts';
import type { Repo } from './repo.ts';
import { rule } from './violation.ts';

/** What the guards look at. */
export interface Scene {
  readonly book: Book;
  readonly repo: Repo;
  readonly jobs: readonly Job[];
}

/** Checks that an effect may begin, now and beside everything that is already running. */
export function guardStart(scene: Scene, effect: Effect): void {
  const twin = scene.jobs.find((job) => keyOf(job.effect) === keyOf(effect));
  rule(twin === undefined, `${keyOf(effect)} runs twice at the same time`);
  if (effect.kind === 'attempt') guardAttempt(scene, effect);
  if (effect.kind === 'merge') guardMerge(scene, effect);
  if (effect.kind === 'verify') guardVerify(scene, effect);
  if (effect.kind === 'land') guardLand(scene, effect);
  if (effect.kind === 'release') guardRelease(scene, effect);
  if (effect.kind === 'publish') guardPublish(scene, effect);
}

function guardAttempt({ book, repo, jobs }: Scene, effect: Effect & { kind: 'attempt' }): void {
  const page = book.page(effect.task);
  const name = `${effect.task}.${effect.attempt}`;
  const announced = page.status === 'running' && page.attempts === effect.attempt;
  rule(announced && page.base === effect.base, `${name} begins without being recorded`);
  for (const need of page.spec.needs) {
    const work = repo.landedWork(need);
    rule(work !== null || isMet(book.page(need)), `${name} begins before ${need}`);
    // A session that goes on keeps its base; what was given up then may have landed meanwhile.
    const sees = effect.start.kind === 'continue' || work === null;
    rule(sees || repo.contains(effect.base, work), `${name} does not see ${need}`);
  }
  const heard = page.spec.hears.map((task) => ({ task, text: book.page(task).text }));
  const same = JSON.stringify(effect.heard) === JSON.stringify(heard);
  rule(same, `${name} hears ${JSON.stringify(effect.heard)}`);
  if (effect.base !== null) {
    rule(repo.contains(repo.head, effect.base), `${name} begins off the run's branch`);
  }
  const active = jobs.flatMap(({ effect: other }) =>
    other.kind === 'attempt' ? [book.page(other.task).spec] : [],
  );
  const { workers, groups } = book.plan.limits;
  rule(active.length < workers, `${name} is one more than ${workers} workers`);
  const { group } = page.spec;
  if (group !== undefined && groups[group] !== undefined) {
    const inGroup = active.filter((spec) => spec.group === group).length;
    rule(inGroup < groups[group], `${name} is one more than ${groups[group]} of group ${group}`);
  }
  const here = active.find(({ mode }) => mode === 'here' && page.spec.mode === 'here');
  rule(here === undefined, `${name} works in the checkout together with ${here?.id}`);
  const met = active.find((spec) => reallyMeet(spec, page.spec));
  rule(met === undefined, `${name} runs together with ${met?.id}, which writes the same files`);
}

function guardMerge({ book, repo, jobs }: Scene, effect: Effect & { kind: 'merge' }): void {
  const page = book.page(effect.task);
  const announced = page.status === 'merging' && page.work === effect.commit;
  rule(announced, `the merge of ${effect.task} begins without being recorded`);
  const other = jobs.find((job) => job.effect.kind === 'merge');
  rule(other === undefined, `${effect.task} is merged while another candidate is`);
  const lands = book.plan.gates.length === 0 || book.plan.landing.strategy === 'none';
  rule(effect.lands === lands, `${effect.task} is merged as if lands=${effect.lands}`);
  checkSince({ book, repo, jobs }, effect, page);
}

/** What a candidate is said to meet: what landed since its base, and what is ahead of it. */
function checkSince(
  { book, repo }: Scene,
  effect: Effect & { kind: 'merge' | 'verify' },
  page: Page,
): void {
  const at = book.chain.findIndex(({ task }) => task === effect.task);
  const ahead = book.chain.slice(0, Math.max(0, at)).map(({ task }) => task);
  const since = repo.landings
    .filter(({ task, work }) => task !== effect.task && !repo.contains(page.base, work))
    // Of a landing that is under way only those ahead of it know.
    .filter(({ task }) => book.page(task).status === 'landed' || ahead.includes(task))
    .map(({ task }) => task);
  const met = [...new Set([...since, ...ahead])];
  const same = JSON.stringify(effect.landedSince) === JSON.stringify(met);
  rule(same, `${effect.task} is said to meet ${effect.landedSince}, not ${met}`);
}

function guardVerify(scene: Scene, effect: Effect & { kind: 'verify' }): void {
  const { book, jobs } = scene;
  const found = book.queue.find(({ task }) => task === effect.task);
  const announced = found?.commit === effect.commit && found.running;
  rule(announced, `the candidate of ${effect.task} is verified without being recorded`);
  rule(effect.again === found.reds > 0, `${effect.task} is verified with again=${effect.again}`);
  const wanted = jobs.filter(
    ({ effect: { kind }, signal }) => kind === 'verify' && !signal.aborted,
  );
  rule(wanted.length < book.plan.limits.gates, `${effect.task} is verified without a slot`);
  const isDoubted = effect.unproven.includes('tests');
  rule(isDoubted !== book.proven, `the gate of ${effect.task} is doubted: ${isDoubted}`);
  const isCombined = effect.again && effect.landedSince.length > 0;
  const isAlone = effect.alone?.commit === found.work;
  rule(isCombined === isAlone, `${effect.task} is blamed without a look at it alone`);
  checkSince(scene, effect, book.page(effect.task));
}

function guardLand({ book, repo, jobs }: Scene, effect: Effect & { kind: 'land' }): void {
  const built = jobs.find(
    ({ effect: other }) => other.kind === 'merge' && other.ahead === null && !other.lands,
  );
  rule(built === undefined, 'the head is moved under a candidate that is being built on it');
  const last = effect.candidates.at(-1)?.commit;
  rule(last !== undefined && book.landing === last, 'a landing begins without being recorded');
  const expected = book.landingWith(last).map(({ task }) => task);
  const named = effect.candidates.map(({ task }) => task);
  rule(JSON.stringify(named) === JSON.stringify(expected), `${named} land, not ${expected}`);
  rule(repo.green.has(last), `${last} lands although nobody found it green`);
}

function guardRelease({ book, repo, jobs }: Scene, effect: Effect & { kind: 'release' }): void {
  const page = book.page(effect.task);
  rule(page.workspace === 'released', `the release of ${effect.task} is not recorded`);
  const good = isGood(page.status);
  rule(effect.succeeded === good, `${effect.task} is released as if succeeded=${!good}`);
  rule(page.status !== 'landed' || repo.landedWork(effect.task) !== null, 'released, not landed');
  rule((effect.keep !== undefined) === book.isHeldBack, `${effect.task} is not kept as it should`);
  const lost = effect.safe.find((sha) => !repo.isReachable(sha));
  rule(lost === undefined, `${lost} is taken for safe, but no ref holds it`);
  const user = jobs.find(
    ({ effect: other }) => 'task' in other && other.kind !== 'verify' && other.task === effect.task,
  );
  rule(user === undefined, `the workspace of ${effect.task} is removed under a running effect`);
}

function guardPublish({ book, repo, jobs }: Scene, effect: Effect & { kind: 'publish' }): void {
  rule(book.publish === 'running', 'a publication begins without being recorded');
  const { head, early } = book.published!;
  rule(effect.head === head, `${effect.head} is published, not ${head}`);
  rule(early || head === repo.head, `${head} is published, but the head is ${repo.head}`);
  rule(repo.contains(repo.head, head), `${head} is published, but it has not landed`);
  const isVerified = book.ungated.has(head) || repo.green.has(head);
  rule(isVerified, `${head} is published, but nobody found it green`);
  rule(effect.target === book.plan.target, `published to ${effect.target}`);
  const proved = effect.landed.map(({ work }) => work);
  const isMerged = book.plan.landing.strategy === 'merge';
  const lost = isMerged ? proved.find((sha) => !repo.isReachable(sha)) : undefined;
  rule(lost === undefined, `${lost} is published, but no history holds it`);
  const landed = repo.landings.map(({ work }) => work).filter((work) => repo.contains(head, work));
  const all = JSON.stringify(proved) === JSON.stringify(landed);
  rule(all, `published with proof of ${proved}, not of ${landed}`);
  if (early) return;
  // Gates whose verdict nobody wants may still be ending.
  const other = jobs.find(
    ({ effect: { kind }, signal }) => kind !== 'release' && !(kind === 'verify' && signal.aborted),
  );
  rule(other === undefined, 'a publication begins while something runs');
}

/** Checks that an engine that waits has done all that could be done. */
export function guardRest(scene: Scene, now: number): void {
  const { book, jobs } = scene;
  for (const job of jobs) guardStopped(book, job);
  const pages = [...book.pages.values()];
  const merging = pages.some(({ status }) => status === 'merging');
  const mode = book.stopping?.mode ?? 'drain';
  const stuck = pages.find(
    (page) => page.status === 'queued' && !isGivenUp(page) && !book.isBehind(page),
  );
  const isFree = stuck === undefined || book.broken;
  rule(merging || mode !== 'drain' || isFree, `${stuck?.spec.id} is not landed`);
  const isTold = !book.broken || book.paused !== null || book.stopping !== null;
  rule(isTold, 'the gate is broken, and the run neither waits nor ends');
  guardQueue(scene);
  guardPublished(book);
  if (book.stopping !== null || book.paused !== null) return;
  const pays = ({ spec }: Page): boolean => book.pays || !AGENTS[spec.agent]!.prose;
  const due = pages.filter((page) => isDue(book, page, now, 'surely'));
  // Who has no slot or no money waits for that, and not for memory.
  const isNext = (page: Page): boolean => !book.isStrained || (pays(page) && hasRoom(book, page));
  const kept = due.find((page) => !book.fits(page) && isNext(page));
  rule(
    book.held || kept === undefined,
    `the run does not say that ${kept?.spec.id} waits for disk`,
  );
  const waits = pages.some((page) => isDue(book, page, now, 'perhaps') && !book.fits(page));
  rule(!book.held || waits, 'the run says that it waits for disk, but nobody does');
  const idle = due.find((page) => pays(page) && book.fits(page) && hasRoom(book, page));
  rule(idle === undefined, `${idle?.spec.id} could run, but nobody starts it`);
}

/** Every task that has not begun has a reason, and the reason is true. */
export function guardWaits(book: Book, waits: ReadonlyMap<TaskId, Wait>, now: number): void {
  for (const page of book.pages.values()) {
    const { id, needs } = page.spec;
    const wait = waits.get(id);
    const idle = page.status === 'waiting' || page.status === 'stopped';
    rule(!idle || wait !== undefined, `${id} is ${page.status}, and nobody can say why`);
    if (!idle || wait === undefined || wait.kind === 'end') continue;
    const unmet = needs.some((need) => !isMet(book.page(need)));
    const truth: Readonly<Partial<Record<Wait['kind'], boolean>>> = {
      stopping: book.stopping !== null,
      paused: book.paused !== null,
      'task-paused': page.paused,
      needs: unmet,
      limit: wait.kind === 'limit' && wait.until === book.walls.get(wait.agent)?.until,
      probe: wait.kind === 'probe' && (book.walls.get(wait.agent)?.probes.size ?? 0) > 0,
      refusal: wait.kind === 'refusal' && book.refused.has(wait.agent),
      retry: wait.kind === 'retry' && wait.until > now,
      money: !book.pays,
      room: book.held,
    };
    rule(truth[wait.kind] !== false, `${id} is said to wait for ${JSON.stringify(wait)}`);
  }
}

/** With `each` nothing that landed waits, unless somebody is in the way. */
function guardPublished(book: Book): void {
  const { plan, publish, published, head, stopping, landing } = book;
  if (plan.landing.publish !== 'each' || stopping !== null || landing !== null) return;
  if (plan.landing.onConflict === 'hold') return;
  if (!book.unpublished || [...book.pages.values()].every(isOver)) return; // At the very end.
  const isBlocked = publish === 'blocked' && published?.head === head;
  rule(publish === 'running' || isBlocked, `${head} has landed, and nobody publishes it`);
}

/** Nobody waits for a verdict while there are slots, nor for the head while there is a green one. */
function guardQueue({ book, repo, jobs }: Scene): void {
  const { queue, landing, chain } = book;
  const beside = queue.find((each) => each.beside);
  if (landing !== null || queue.some(({ commit }) => commit === null)) return;
  for (const each of [chain[0], beside]) {
    const isGreen = repo.green.has(each?.commit ?? '') && each?.running === false;
    rule(!isGreen, `${each?.task} is green and does not land`);
  }
  if (queue.length === 0) return;
  const busy = jobs.some(({ effect: { kind } }) => kind === 'verify' || kind === 'merge');
  rule(busy, `nobody verifies ${queue.map(({ task }) => task)}`);
}

/** A stop or a cancellation must have reached what ran when it was recorded. */
function guardStopped(book: Book, job: Job): void {
  const { stopping, pages, paused } = book;
  const { effect, signal, since } = job;
  if (effect.kind === 'release') return;
  if (effect.kind === 'land') return rule(!signal.aborted, 'a landing is stopped');
  if (effect.kind === 'verify') return guardVerdict(book, effect, signal);
  const isPaused = effect.kind === 'attempt' && pages.get(effect.task)?.paused === true;
  const isStill = paused?.suspended === true || (isPaused && stopping === null);
  const halts = isStill && effect.kind === 'attempt' && !signal.aborted;
  rule(job.halted === halts, `${keyOf(effect)} is ${halts ? 'not ' : ''}halted`);
  const page = effect.kind === 'publish' ? null : pages.get(effect.task)!;
  const unwanted = Math.max(page?.cancelledSeq ?? 0, page?.skippedSeq ?? 0);
  const ended = stopping !== null && stopping.mode !== 'drain' && stopping.seq > since;
  const meant = ended || unwanted > since;
  rule(!meant || signal.aborted, `${keyOf(effect)} goes on although it was stopped`);
  const reason = String(signal.reason);
  rule(!signal.aborted || /^(cancelled|interrupted)$/.test(reason), `stopped with ${reason}`);
  rule(!signal.aborted || meant, `${keyOf(effect)} is stopped for no reason`);
}

/** Gates run exactly as long as somebody wants their verdict. */
function guardVerdict(
  { queue, lingering }: Book,
  { task, commit }: Effect & { kind: 'verify' },
  signal: AbortSignal,
): void {
  const isVerified = queue.some((each) => each.commit === commit && each.running);
  const isWanted = isVerified || lingering.some((each) => each.commit === commit);
  rule(isWanted !== signal.aborted, `the gates of ${task} run with wanted=${isWanted}`);
}

/** Retries are spread: between two moments nobody but the engine knows whether one is due. */
function isDue(book: Book, page: Page, now: number, how: 'surely' | 'perhaps'): boolean {
  const { spec, status, fate } = page;
  if (isGivenUp(page) || page.paused || page.workspace === 'released') return false;
  if (!spec.needs.every((id) => isMet(book.page(id)))) return false;
  if (book.isParked(page, now)) return false;
  if (status === 'stopped') {
    return fate?.kind === 'attempt' && (how === 'surely' ? fate.latest : fate.dueAt) <= now;
  }
  return status === 'waiting';
}

/** Certain room only: a task with a scope may be kept out by one that merely looks like its own. */
function hasRoom({ plan, pages }: Book, { spec }: Page): boolean {
  if (spec.writes.length > 0) return false;
  const active = [...pages.values()].filter(({ status }) => status === 'running');
  if (active.length >= plan.limits.workers) return false;
  if (spec.mode === 'here' && active.some((page) => page.spec.mode === 'here')) return false;
  const limit = plan.limits.groups[spec.group ?? ''];
  return (
    limit === undefined || active.filter((page) => page.spec.group === spec.group).length < limit
  );
}

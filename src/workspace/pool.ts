/**
 * pool: workspaces that are done with, moved to the next task instead of made anew, in this run or
 * a later one.
 *
 *   P1. Whoever gets a workspace sees nothing of the task before: it is wiped (wipe.ts) before it
 *       waits, and not trusted if it has changed since (idle.ts).
 *   P2. Two engines never have the same one: it is claimed by a rename. A workspace appears in the
 *       folder of its task whole, on its branch, with its owner's name; before, it is a claim.
 *   P3. What a dead engine held in its hands is thrown away, and what is broken is made anew.
 *   P4. There are never more idle ones than slots, nor more than the disk is allowed to hold.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSetBack, momentOf } from '../base/moment.ts';
import { checkOut } from '../git/checkout.ts';
import { isNameChanged } from '../git/diff.ts';
import type { FolderTimes } from '../git/folder-times.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { runPostCheckout } from '../git/hooks.ts';
import { readIndexFile } from '../git/index-file.ts';
import { isOverlay } from '../git/overlay.ts';
import { comparesPlainly, quickCheckout } from '../git/quick-checkout.ts';
import { forgetMoves, settleIndex } from '../git/scrub.ts';
import { coneOf } from '../git/sparse.ts';
import { ignoredMatching } from '../git/untracked.ts';
import {
  addWorktree,
  checkoutOf,
  dropWorktree,
  moveWorktree,
  removeWorktree,
  setOwner,
  sweepRemoved,
  tellPlace,
} from '../git/worktree.ts';
import { isLinked } from '../git/worktree-link.ts';
import type { Sha } from '../model/plan.ts';
import { clear } from './clear.ts';
import { Coming } from './coming.ts';
import { diskUse } from './disk-use.ts';
import { type Given, givenOf } from './given.ts';
import {
  claimSlot,
  claims,
  deadClaims,
  forgetIdle,
  type Idle,
  idleSlots,
  isAsLeft,
  isCone,
  isTrusted,
  knownOf,
  newClaim,
  noteIdle,
  readIdle,
  type ToShelve,
} from './idle.ts';
import { staying, WORTH_KEEPING_FILES } from './later.ts';
import { hasOwnSettings, isWorktree, removeWhereEmpty } from './pool-folder.ts';
import type { Added, Claim, Free, PoolPlace, ToPut, ToTake } from './pool-place.ts';
import { repairSlots } from './repair-slots.ts';
import { ATTRIBUTES, type Begun, mayConvert, rewriteTouched } from './rewrite.ts';
import { isCovered, SETUP_DONE } from './setup.ts';
import { wipe } from './wipe.ts';

const CLEAN_UP_MS = 60_000;

export class Pool {
  readonly place: PoolPlace;
  readonly coming = new Coming();
  /** Those that hold nothing beyond their last commit; whether that was found out exactly. */
  readonly #pristine = new Map<string, boolean>();
  readonly #asked = new Set<string>();
  /** What this engine has wiped and put there, by slot: another one may have taken it since. */
  readonly #shelved = new Map<number, Idle>();
  /** For those who wait for one. */
  readonly #free: Free[] = [];
  /** What is known of those that came from the pool, by where they are now. */
  readonly #given = new Map<string, Given>();
  /** How tasks got their workspaces, by where these are. */
  readonly #begun = new Map<string, Begun>();
  #repaired: Promise<void> | null = null;

  constructor(place: PoolPlace) {
    this.place = place;
  }

  /**
   * Remembers that a workspace holds nothing beyond its last commit: nothing runs in it now. Exact
   * is what was found by comparing times to the microsecond.
   */
  note(dir: string, isExact: boolean): void {
    this.#pristine.set(dir, isExact);
  }

  /** Whether that was said of a workspace; once, because somebody may use it afterwards. */
  isNoted(dir: string): 'exact' | 'pristine' | null {
    const isExact = this.#pristine.get(dir);
    this.#pristine.delete(dir);
    if (isExact === undefined) return null;
    return isExact ? 'exact' : 'pristine';
  }

  /**
   * Takes a workspace that holds nothing of value off its task's hands, or says that it has no use
   * for it. It leaves its folder at once; where it cannot be wiped it is removed.
   */
  async put(
    dir: string,
    { commit, pristine, isExact = false, setup }: ToPut,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { most, keepFiles, folder, me, commonDir } = this.place;
    if (isOverlay(dir) || idleSlots(folder).length >= most || hasOwnSettings(commonDir))
      return false;
    if (!isLinked(commonDir, dir)) return false; // Not by what an agent has made of it.
    const asked = this.#asked.delete(dir);
    const isPlain = await comparesPlainly(commonDir, signal);
    const [begun, given] = [this.#begun.get(dir), this.#given.get(dir)];
    this.#begun.delete(dir);
    this.#given.delete(dir); // What is there next is another one.
    const converts = await mayConvert(commonDir, dir, signal);
    if (converts && !(await rewriteTouched(dir, { begun, commit }, signal))) return false;
    const wiped = isPlain ? given?.wiped : undefined;
    const since = wiped === undefined || isSetBack(wiped) ? null : wiped.at;
    const claimed = newClaim(folder, me);
    mkdirSync(folder, { recursive: true });
    await moveWorktree(dir, claimed);
    try {
      const keep = keepFiles.length === 0 ? [] : await ignoredMatching(claimed, keepFiles, signal);
      const notes = setup != null && isCovered(setup.made, keep) ? [SETUP_DONE] : [];
      const what = { dir: claimed, commit, pristine, since, isExact, keep, notes };
      const isWiped = await wipe(what, signal);
      const extra = await diskUse(claimed, keep, signal);
      const known = { extra, asked, bare: keep.length === 0 };
      if (isWiped && this.#isAwaited(claimed)) {
        const wipedAt = Date.now();
        this.#free.push({ claimed, at: commit, untouched: true, wipedAt, ...known });
        return true;
      }
      if (isWiped && (await this.#shelve(claimed, { commit, ...known }))) return true;
    } catch (error) {
      if (signal.aborted) throw error; // A later engine throws the claim away.
    }
    await this.#discard(claimed); // Whatever is wrong with it, the next one is made anew.
    return true;
  }

  /** A workspace holds a commit as a checkout has it, from now on for a task. */
  begin(dir: string, commit: Sha): void {
    this.#begun.set(dir, { commit, at: momentOf(Date.now()) });
  }

  /** The folders of a workspace as it was handed over, where it held nothing but a commit. */
  timesOf(dir: string): FolderTimes | null {
    return this.#given.get(dir)?.times ?? null;
  }

  /** Whether somebody waits for such a one, who has got none yet. */
  #isAwaited(claimed: string): boolean {
    return this.coming.awaited > this.#free.length && coneOf(claimed) === null;
  }

  /** Whether a workspace is worth the disk it takes until a later run. */
  async isWorthKeeping(dir: string): Promise<boolean> {
    const { most, small } = this.place;
    if (most === 0) return false;
    const files = readIndexFile(await gitDirOf(dir))?.files ?? 0;
    return small || this.#asked.has(dir) || files >= WORTH_KEEPING_FILES;
  }

  /** Makes a new one at a commit, ahead of any task, or says why it cannot wait for one. */
  async add(commit: Sha, signal: AbortSignal): Promise<Added> {
    const { commonDir, folder, me, most } = this.place;
    if (hasOwnSettings(commonDir)) return 'own-settings';
    await mkdir(folder, { recursive: true });
    const path = newClaim(folder, me);
    await addWorktree(commonDir, { path, branch: null, commit }, signal);
    const known = { pristine: false, since: null, isExact: false };
    const what = { dir: path, commit, ...known, keep: [], notes: [] };
    const isWiped = await wipe(what, signal);
    if (isWiped) await settleIndex(path, signal);
    if (isWiped && (await this.#shelve(path, { commit, extra: 0, asked: true, bare: true })))
      return 'added';
    const isDivided = existsSync(join(path, '.gitmodules'));
    await removeWorktree(commonDir, path, signal);
    await removeWhereEmpty(folder);
    if (!isWiped) return isDivided ? 'submodules' : 'unclean';
    return idleSlots(folder).length >= most ? 'full' : 'disk';
  }

  /** Moves an idle workspace to a folder, at a commit; false where there is none. */
  async take(wanted: ToTake, signal: AbortSignal): Promise<boolean> {
    if (this.place.most === 0 || hasOwnSettings(this.place.commonDir)) return false;
    await this.repair(signal);
    while (!signal.aborted) {
      if (await this.#takeOne(wanted, signal)) return true;
      if (!(await this.coming.next((wanted.cone ?? null) === null))) return false;
    }
    return false;
  }

  async #takeOne(wanted: ToTake, signal: AbortSignal): Promise<boolean> {
    const free = (wanted.cone ?? null) === null ? this.#free.shift() : undefined;
    if (free !== undefined && (await this.#handOver(free, wanted, signal))) return true;
    if (free !== undefined) await this.#discard(free.claimed);
    for (let left = this.place.most; left > 0; left -= 1) {
      const claim = this.#claimFor(wanted);
      if (claim === null) return false;
      const { idle, slot, untouched } = claim;
      const place = join(this.place.folder, `${slot}`);
      const isSound = idle !== null && (untouched || (await isTrusted(claim.claimed, place, idle)));
      const known = isSound ? knownOf(claim.claimed, idle, untouched) : null;
      if (known !== null && (await this.#handOver({ ...claim, ...known }, wanted, signal))) {
        this.coming.guess(idle!.files);
        return true;
      }
      await this.#discard(claim.claimed);
    }
    return false;
  }

  /** Claims the one that fits best; at once, so that no two of our tasks want the same. */
  #claimFor(wanted: ToTake) {
    const { folder, me } = this.place;
    for (const slot of this.#slotsFor(wanted)) {
      const claimed = claimSlot(folder, slot, me);
      if (claimed === null) continue; // Another engine was faster.
      const ours = this.#shelved.get(slot);
      this.#shelved.delete(slot);
      const untouched = ours !== undefined && isAsLeft(claimed, ours);
      return { slot, claimed, untouched, idle: untouched ? ours : readIdle(claimed) };
    }
    return null;
  }

  /** Throws away what dead engines held, once. */
  repair(signal: AbortSignal): Promise<void> {
    this.#repaired ??= (async () => {
      for (const path of await deadClaims(this.place, this.place.me)) {
        signal.throwIfAborted();
        await this.#discard(path);
      }
      await repairSlots(this.place);
    })();
    return this.#repaired;
  }

  /**
   * Throws away a claim that is on a branch, whoever has it: an engine that lost the run which the
   * branch is of was about to hand it over, and may be alive.
   */
  async free(branch: string, signal: AbortSignal): Promise<void> {
    const held = new Set(claims(this.place.folder).map(({ path }) => path));
    if (held.size === 0) return;
    const path = await checkoutOf(this.place, branch, signal);
    if (path !== null && held.has(path)) await this.#discard(path);
  }

  /** Lets go what need not wait for a later run. */
  async settle(signal: AbortSignal): Promise<void> {
    if (this.place.most === 0) return;
    for (const { claimed, at: commit, ...known } of this.#free.splice(0)) {
      if (!(await this.#shelve(claimed, { ...known, commit }))) await this.#discard(claimed);
    }
    const idle = this.idle();
    const kept = staying(idle, this.place);
    await this.drain(
      idle.map(({ slot }) => slot).filter((slot) => !kept.has(slot)),
      signal,
    );
  }

  /** Removes idle workspaces; says how many. One that somebody takes meanwhile is theirs. */
  async drain(slots: readonly number[], signal: AbortSignal): Promise<number> {
    const { commonDir, folder, me } = this.place;
    await this.repair(signal);
    let removed = 0;
    for (const slot of slots) {
      const claimed = isWorktree(join(folder, `${slot}`)) && claimSlot(folder, slot, me);
      if (typeof claimed !== 'string') continue;
      await dropWorktree(commonDir, claimed, signal).catch(() => this.#discard(claimed));
      removed += 1;
    }
    if (existsSync(folder)) await sweepRemoved(folder, signal);
    await removeWhereEmpty(folder);
    return removed;
  }

  /** Drops one that waits, for its room; answers with where it was, null where there is none. */
  async shed(signal: AbortSignal): Promise<string | null> {
    for (const { slot } of this.idle().toReversed()) {
      if ((await this.drain([slot], signal)) > 0) return join(this.place.folder, `${slot}`);
    }
    return null;
  }

  /** The idle workspaces, those that became idle last first; the note of a broken one is null. */
  idle(): readonly { readonly slot: number; readonly note: Idle | null }[] {
    const { folder } = this.place;
    const found = idleSlots(folder).map((slot) => ({
      slot,
      note: this.#shelved.get(slot) ?? readIdle(join(folder, `${slot}`)),
    }));
    return found.sort((a, b) => (b.note?.at ?? 0) - (a.note?.at ?? 0));
  }

  /**
   * Those that are at the commit already come first, and before all others those with the same
   * folders. One with all of them is not cut down: a new one with some costs less.
   */
  #slotsFor({ commit, cone = null }: ToTake): readonly number[] {
    const rank = (note: Idle | null): number =>
      (note?.commit === commit ? 0 : 1) + (note === null || isCone(note, cone) ? 0 : 2);
    const usable = this.idle().filter(
      ({ slot, note }) =>
        (note !== null || isWorktree(join(this.place.folder, `${slot}`))) &&
        (cone === null || note?.cone !== undefined),
    );
    return usable.sort((a, b) => rank(a.note) - rank(b.note)).map(({ slot }) => slot);
  }

  async #handOver(claim: Claim, wanted: ToTake, signal: AbortSignal): Promise<boolean> {
    const { claimed, at, untouched } = claim;
    const { commonDir } = this.place;
    const { dir, commit, branch, owner } = wanted;
    try {
      await tellPlace(claimed, claimed);
      const { assertHeld } = wanted;
      const move = { dir: claimed, from: at, to: commit, branch, untouched, assertHeld };
      const isWhole = (wanted.cone ?? null) === null && coneOf(claimed) === null;
      if (!isWhole || !(await quickCheckout(commonDir, move, signal))) {
        if (await isNameChanged(commonDir, at, commit, ATTRIBUTES, signal)) return false;
        const target = branch === null ? ['--detach', commit] : ['-B', branch, commit];
        await checkOut(claimed, { target, cone: wanted.cone ?? null }, signal);
      }
      const isBare = claim.bare || (await this.#clear(claim, commit, signal));
      await forgetMoves(claimed);
      if (owner !== null) await setOwner(claimed, owner);
      await forgetIdle(claimed);
      wanted.assertHeld?.();
      mkdirSync(dirname(dir), { recursive: true });
      await moveWorktree(claimed, dir);
      if (claim.asked) this.#asked.add(dir);
      this.begin(dir, commit);
      // Before a hook may write something.
      this.#given.set(dir, givenOf(dir, claim.wipedAt, isBare));
    } catch (error) {
      if (!signal.aborted) return false;
      await this.#discard(claimed);
      throw error;
    }
    await runPostCheckout(commonDir, { path: dir, commit }, signal);
    return true;
  }

  /** Removes what this plan does not keep; says whether nothing is left but the commit's files. */
  async #clear({ claimed, at, untouched }: Claim, commit: Sha, signal: AbortSignal) {
    const isSure = untouched && !(await isNameChanged(claimed, at, commit, '.gitignore', signal));
    return isSure ? false : clear(claimed, this.place.keepFiles, signal);
  }

  /** Puts a wiped workspace into a free slot. */
  async #shelve(dir: string, what: ToShelve): Promise<boolean> {
    const { folder, most, disk } = this.place;
    const note = await noteIdle(dir, what);
    if (note === null) return false;
    if (disk !== null && this.#bytes() + note.bytes > disk) return false;
    mkdirSync(folder, { recursive: true });
    for (let slot = 1; slot <= most; slot += 1) {
      const place = join(folder, `${slot}`);
      if (existsSync(place)) continue;
      const isMoved = await moveWorktree(dir, place).then(
        () => true,
        () => false, // Somebody else took the slot just now.
      );
      if (isMoved) this.#shelved.set(slot, note);
      if (isMoved) return true;
    }
    return false;
  }

  /** What all of them take on the disk. */
  #bytes(): number {
    return this.idle().reduce((sum, { note }) => sum + (note?.bytes ?? 0), 0);
  }

  /** Throws away a claim. One that git does not know as a worktree is only a folder. */
  async #discard(path: string): Promise<void> {
    const limit = AbortSignal.timeout(CLEAN_UP_MS);
    await removeWorktree(this.place.commonDir, path, limit).catch(() =>
      rm(path, { recursive: true, force: true }).catch(() => undefined),
    );
  }
}

/**
 * The git processes that stay for as long as a run works in a repository: names of objects
 * (`cat-file`), moves of refs (`update-ref`) and changed files (`diff-tree`) are asked for several
 * times per task.
 *
 *   L1. Nothing depends on them: where none is open, or one has ended, the answer is null and the
 *       caller asks an ordinary git command.
 *   L2. A ref is looked up anew each time; git notices new packs and moved refs by itself.
 *   L3. Refs are moved from a checkout of the user's: a relative core.hooksPath counts from there.
 */

import { unquoted } from './byte-path.ts';
import { Conversation } from './conversation.ts';

class LongLived {
  readonly #dir: string;
  readonly checkout: string;
  #names: Conversation | null = null;
  #refs: Conversation | null = null;
  #changes: Conversation | null = null;

  constructor(dir: string, checkout: string) {
    this.#dir = dir;
    this.checkout = checkout;
  }

  get names(): Conversation {
    this.#names = this.#open(this.#names, ['cat-file', '--batch-check=%(objectname)']);
    return this.#names;
  }

  get refs(): Conversation {
    this.#refs = this.#open(this.#refs, ['update-ref', '--stdin'], this.checkout);
    return this.#refs;
  }

  get changes(): Conversation {
    const how = ['diff-tree', '--stdin', '-r', '--name-only', '--no-renames'];
    this.#changes = this.#open(this.#changes, ['-c', 'core.quotePath=true', ...how]);
    return this.#changes;
  }

  async close(): Promise<void> {
    const all = [this.#names, this.#refs, this.#changes];
    await Promise.all(all.map((one) => one?.[Symbol.asyncDispose]()));
  }

  #open(before: Conversation | null, args: readonly string[], dir = this.#dir): Conversation {
    return before === null || before.isOver ? new Conversation(dir, args) : before;
  }
}

const open = new Map<string, LongLived>();

/** From now on questions about a repository are answered by processes that stay. */
export function openLongLived({ commonDir, dir }: { commonDir: string; dir: string }): void {
  if (!open.has(commonDir)) open.set(commonDir, new LongLived(commonDir, dir));
}

/** Where commands run that move refs: in a checkout, if one is known. */
export function checkoutFor(commonDir: string): string {
  return open.get(commonDir)?.checkout ?? commonDir;
}

/** Lets them go, and waits until they have. */
export async function closeLongLived(commonDir: string): Promise<void> {
  const one = open.get(commonDir);
  open.delete(commonDir);
  await one?.close();
}

/** The id that a full ref, an id or `<id>^{tree}` names; `none` where there is no such object. */
export async function nameOf(commonDir: string, name: string): Promise<string | 'none' | null> {
  const talk = open.get(commonDir)?.names;
  const [line] = (await talk?.ask(`${name}\n`, () => true)) ?? [];
  if (line === undefined) return null;
  if (/^[0-9a-f]{40,}$/.test(line)) return line;
  return line.endsWith(' missing') ? 'none' : null;
}

/** Carries out lines for `update-ref --stdin` as one transaction; true once git has confirmed it. */
export async function transact(commonDir: string, lines: readonly string[]): Promise<true | null> {
  const talk = open.get(commonDir)?.refs;
  const text = ['start', ...lines, 'prepare', 'commit'].map((line) => `${line}\n`).join('');
  const answer = await talk?.ask(text, (line) => line === 'commit: ok');
  return answer == null ? null : true;
}

/** The files in which two trees differ: bytes, as latin1 (byte-path.ts). */
export async function changesBetween(
  commonDir: string,
  from: string,
  to: string,
): Promise<readonly string[] | null> {
  const talk = open.get(commonDir)?.changes;
  // A line that names no object is echoed, and all that came before it is flushed.
  const answer = await talk?.ask(`${from} ${to}\n${END}\n`, (line) => line === END);
  return answer == null ? null : unquoted(answer.slice(1, -1));
}

/** No file is called that: its name would be a path from the root. */
const END = '/end';

/**
 * Suspension: many things that are halted together and go on together.
 *
 *   U1. Whatever joins while the suspension holds is halted at once.
 *   U2. Halting twice is halting once; so is going on.
 */

/** Something that can stand still for a while. */
export interface Haltable {
  halt(): void;
  goOn(): void;
}

export class Suspension implements Haltable {
  readonly #members = new Set<Haltable>();
  #holds = false;

  /** Takes part until the answer is disposed of. */
  join(member: Haltable): Disposable {
    this.#members.add(member);
    if (this.#holds) member.halt();
    return { [Symbol.dispose]: () => this.#members.delete(member) };
  }

  halt(): void {
    if (this.#holds) return;
    this.#holds = true;
    for (const member of this.#members) member.halt();
  }

  goOn(): void {
    if (!this.#holds) return;
    this.#holds = false;
    for (const member of this.#members) member.goOn();
  }
}

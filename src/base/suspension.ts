/**
 * Suspension: halts and continues many things together. A member that joins during a suspension is
 * halted at once; halting twice is halting once.
 */

export interface Haltable {
  halt(): void;
  goOn(): void;
}

/** A suspension per name, such as a task of a run. */
export class Suspensions {
  readonly #byName = new Map<string, Suspension>();
  #isHalted: (name: string) => boolean = () => false;

  of(name: string): Suspension {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const added = new Suspension();
    if (this.#isHalted(name)) added.halt();
    this.#byName.set(name, added);
    return added;
  }

  /** Halts those for which `isHalted` holds, and lets the others proceed. */
  update(isHalted: (name: string) => boolean): void {
    this.#isHalted = isHalted;
    for (const [name, each] of this.#byName) {
      if (isHalted(name)) each.halt();
      else each.goOn();
    }
  }
}

export class Suspension implements Haltable {
  readonly #members = new Set<Haltable>();
  #holds = false;

  /** Until the returned value is disposed of. */
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

/** Which names were seen to clash, and who has to be looked at before it is merged. */

import type { Event } from '../../src/model/event.ts';
import type { LandingSpec, TaskId } from '../../src/model/plan.ts';
import { rule } from './violation.ts';

type IsLanded = (task: TaskId) => boolean;

export class Foresight {
  readonly #held = new Map<string, readonly [TaskId, TaskId]>();

  see(event: Event, isLanded: IsLanded): void {
    if (event.type === 'radar.semantic') {
      const { a, b, names } = event;
      if (names.length === 0) this.#held.delete(`${a} ${b}`);
      else this.#held.set(`${a} ${b}`, [a, b]);
    }
    if (event.type === 'run.replanned') {
      const ids = new Set(event.plan.tasks.map(({ id }) => id));
      for (const [key, pair] of this.#held)
        if (!pair.every((id) => ids.has(id))) this.#held.delete(key);
    }
    if (event.type !== 'attempt.started' || event.start.kind === 'continue') return;
    // It begins with all that has landed.
    for (const [key, [a, b]] of this.#held) {
      const other = a === event.task ? b : b === event.task ? a : null;
      if (other !== null && isLanded(other)) this.#held.delete(key);
    }
  }

  /** Work that landed and was seen to clash is looked at again, unless that would lead nowhere. */
  check(
    { task, suspects }: { readonly task: TaskId; readonly suspects: readonly TaskId[] },
    { onSemantic, reworks }: LandingSpec,
    page: { readonly attempts: number; readonly reworks: number },
    isLanded: IsLanded,
  ): void {
    const isDue = onSemantic === 'fail' || (onSemantic === 'agent' && page.reworks < reworks);
    const clashing = [...this.#held.values()].flatMap(([a, b]) =>
      a === task ? [b] : b === task ? [a] : [],
    );
    const expected = isDue && page.attempts > 0 ? clashing.filter(isLanded) : [];
    const told = [...new Set(suspects)].sort();
    const due = [...new Set(expected)].sort();
    rule(`${told}` === `${due}`, `${task} is merged with an eye on ${told}, not on ${due}`);
  }
}

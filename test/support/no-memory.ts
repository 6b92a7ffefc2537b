/** What a context knows of earlier runs: nothing, or what it is taught. */

import type { ResolutionMemory, VerdictMemory } from '../../src/workspace/run-context.ts';

export const NO_RESOLUTIONS: ResolutionMemory = { recall: () => null, learn: () => undefined };

export const NO_MEMORY: VerdictMemory = {
  recall: () => null,
  learn: () => undefined,
  cost: () => null,
};

/** Remembers green verdicts as the journal does. */
export function verdictMemory(): VerdictMemory & { readonly known: Set<string> } {
  const known = new Set<string>();
  return {
    known,
    recall: (key) => (known.has(key) ? 'r0' : null),
    learn: ({ key }) => void known.add(key),
    cost: () => null,
  };
}

/** A ground that knows nothing of earlier runs, and remembers nothing. */

import type { ResolutionMemory, VerdictMemory } from '../../src/workspace/ground.ts';

export const NO_RESOLUTIONS: ResolutionMemory = { recall: () => null, learn: () => undefined };

export const NO_MEMORY: VerdictMemory = {
  recall: () => null,
  learn: () => undefined,
  cost: () => null,
};

/**
 * What a tier has time for: a sample in the fast one, everything in the slow one.
 *
 * `FUZZ_SEED=123 npx vitest run --project fast FILE` tries one seed of a property test,
 * `FUZZ_SEEDS=500` that many; `WHOLE=1` also does what only the slow tier does.
 */

/** Whether there is time for everything. */
export const isWhole = process.env.WHOLE === '1';

/** The seeds to try; `sample` is how many the fast tier has time for. */
export function seedsToTry(sample: number): readonly number[] {
  const { FUZZ_SEED, FUZZ_SEEDS } = process.env;
  if (FUZZ_SEED !== undefined) return [Number(FUZZ_SEED)];
  return Array.from({ length: Number(FUZZ_SEEDS ?? sample) }, (_, nth) => nth + 1);
}

/**
 * The seeds of a property test: a sample in the fast tier, many in the slow one.
 *
 * `FUZZ_SEED=123 npx vitest run --project fast FILE` tries one seed, `FUZZ_SEEDS=500` that many.
 */

/** The seeds to try; `sample` is how many the fast tier has time for. */
export function seedsToTry(sample: number): readonly number[] {
  const { FUZZ_SEED, FUZZ_SEEDS } = process.env;
  if (FUZZ_SEED !== undefined) return [Number(FUZZ_SEED)];
  return Array.from({ length: Number(FUZZ_SEEDS ?? sample) }, (_, nth) => nth + 1);
}

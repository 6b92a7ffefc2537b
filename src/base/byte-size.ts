/** Sizes as people write them: `10GB`, `512MiB`. */

const SIZE = /^(\d+(?:\.\d+)?) ?([KMGT]i?)?B$/i;
const UNITS = ['', 'k', 'm', 'g', 't'];

/** Null if the text is no size, or too large to count. */
export function bytesIn(text: string): number | null {
  const [, digits = '', unit = ''] = SIZE.exec(text) ?? [];
  if (digits === '') return null;
  const [letter = '', binary] = unit.toLowerCase();
  const scale = (binary === 'i' ? 1_024 : 1_000) ** UNITS.indexOf(letter);
  const bytes = Math.round(Number(digits) * scale);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Sizes of what lies on a disk or in memory, as people write them: `10GB`, `512MiB`. */

const SIZE = /^(\d+(?:\.\d+)?) ?([KMGT]i?)?B$/i;
const UNITS = ['', 'k', 'm', 'g', 't'];

/** The bytes that a text means; null where it is none, or more than can be counted. */
export function bytesIn(text: string): number | null {
  const [, digits = '', unit = ''] = SIZE.exec(text) ?? [];
  if (digits === '') return null;
  const [letter = '', binary] = unit.toLowerCase();
  const scale = (binary === 'i' ? 1_024 : 1_000) ** UNITS.indexOf(letter);
  const bytes = Math.round(Number(digits) * scale);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** File names are bytes that need not be UTF-8. Here they are kept as latin1. */

export function bytePath(dir: string, name: string): string | Buffer {
  if (!BEYOND_ASCII.test(name)) return name === '' ? dir : `${dir}/${name}`;
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name, 'latin1')]);
}

const BEYOND_ASCII = /[^\x00-\x7f]/;

export function nameAsText(name: string): string {
  return Buffer.from(name, 'latin1').toString();
}

/** Makes git print every byte that is not ASCII as `\351`, so that none is lost. */
export const QUOTE_BYTES = { 'core.quotePath': 'true' };

/** Decodes names printed with that setting. */
export function unquoted(lines: readonly string[]): readonly string[] {
  return lines.map((name) =>
    name.startsWith('"') ? name.slice(1, -1).replace(ESCAPE, byte) : name,
  );
}

const ESCAPE = /\\(?:([0-7]{3})|(.))/g;
const LETTERS = 'abtnvfr';
const MEANT = '\x07\b\t\n\v\f\r';

function byte(_: string, octal: string | undefined, letter = ''): string {
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  return MEANT[LETTERS.indexOf(letter)] ?? letter;
}

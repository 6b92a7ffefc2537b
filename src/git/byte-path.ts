/** Names of files are bytes, which may be no text. Here they are kept as latin1. */

/** The path of a file with such a name. */
export function bytePath(dir: string, name: string): string | Buffer {
  if (!BEYOND_ASCII.test(name)) return name === '' ? dir : `${dir}/${name}`;
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name, 'latin1')]);
}

const BEYOND_ASCII = /[^\x00-\x7f]/;

/** Such a name for people to read. */
export function nameAsText(name: string): string {
  return Buffer.from(name, 'latin1').toString();
}

/** With it git prints every byte that is not ASCII as `\351`, so that none is lost on the way. */
export const QUOTE_BYTES = { 'core.quotePath': 'true' };

/** The names that git has printed with that setting, one a line. */
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

/** Texts as words of a POSIX shell: no character is read as shell syntax. */

/** A word between single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A word that is quoted only where a shell would read it otherwise. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : quoted(text);
}

/** The path of a file whose name is bytes, kept as latin1: it may be no text. */
export function bytePath(dir: string, name: string): string | Buffer {
  if (/^[\x00-\x7f]*$/.test(name)) return name === '' ? dir : `${dir}/${name}`;
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name, 'latin1')]);
}

/**
 * Trees in memory: what a folder of a commit holds, read from a file where it is one.
 *
 *   T1. A tree never changes, so it is read once; the last ones are kept, as long as all that they
 *       hold together is not too much: one of a folder with many files counts as many.
 */

import { Recent } from '../base/recent.ts';
import { git, type Sha } from './git.ts';
import { readLoose, writeLoose } from './loose-object.ts';

/** One name in a folder. */
export interface TreeEntry {
  /** As git writes it: `100644`, `40000`, `120000`, `160000`. */
  readonly mode: string;
  readonly sha: Sha;
}

/** Names are bytes, kept as latin1 so that each stays what it is. */
export type Tree = ReadonlyMap<string, TreeEntry>;

export const FOLDER = '40000';

/** Names in all trees that are kept. */
const MOST_NAMES = 40_000;
const SHA_BYTES = 20;
const known = new Recent<Sha, Tree>(MOST_NAMES, ({ size }) => size);

/** Reads a tree; from a process only where it is packed and was not read before. */
export async function readTree(commonDir: string, sha: Sha, signal: AbortSignal): Promise<Tree> {
  const seen = known.get(sha);
  if (seen !== undefined) return seen;
  const body = readLoose(commonDir, sha, 'tree');
  const tree = body === null ? await listTree(commonDir, sha, signal) : parseTree(body);
  known.set(sha, tree);
  return tree;
}

/** Writes a tree and gives its name. */
export function writeTree(commonDir: string, tree: Tree): Sha {
  const sha = writeLoose(commonDir, 'tree', formatTree(tree));
  known.set(sha, tree);
  return sha;
}

/** Keeps a tree whose name is known. */
export function remember(sha: Sha, tree: Tree): void {
  known.set(sha, tree);
}

function parseTree(body: Buffer): Tree {
  const tree = new Map<string, TreeEntry>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at);
    const end = body.indexOf(0, space);
    const mode = body.toString('latin1', at, space);
    const sha = body.toString('hex', end + 1, end + 1 + SHA_BYTES);
    tree.set(body.toString('latin1', space + 1, end), { mode, sha });
    at = end + 1 + SHA_BYTES;
  }
  return tree;
}

function formatTree(tree: Tree): Buffer {
  const entries = inOrder([...tree]);
  const bytes = entries.reduce(
    (sum, [name, { mode }]) => sum + mode.length + name.length + 2 + SHA_BYTES,
    0,
  );
  const body = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const [name, { mode, sha }] of entries) {
    at += body.write(`${mode} ${name}\0`, at, 'latin1');
    at += body.write(sha, at, 'hex');
  }
  return body;
}

/** Git sorts a folder as if its name ended with a slash. Mostly they are in order already. */
function inOrder(entries: (readonly [string, TreeEntry])[]): typeof entries {
  let before = '';
  for (const entry of entries) {
    const key = keyOf(entry);
    if (key < before) return entries.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    before = key;
  }
  return entries;
}

function keyOf([name, { mode }]: readonly [string, TreeEntry]): string {
  return mode === FOLDER ? `${name}/` : name;
}

async function listTree(commonDir: string, sha: Sha, signal: AbortSignal): Promise<Tree> {
  const { stdout } = await git(commonDir, ['ls-tree', '-z', sha], signal);
  const tree = new Map<string, TreeEntry>();
  for (const line of stdout.split('\0').filter((text) => text !== '')) {
    const [mode = '', , id = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    const name = Buffer.from(line.slice(line.indexOf('\t') + 1)).toString('latin1');
    tree.set(name, { mode: mode.replace(/^0/, ''), sha: id });
  }
  return tree;
}

/**
 * A random repository: names that are bytes, modes, links, attributes, filters, merge drivers,
 * packed and loose objects and refs. The same for the same seed.
 *
 * Bytes are Latin-1 strings throughout. Attributes are set before the first commit and every smudge
 * undoes its clean, so that git never sees an untouched file as changed.
 */

import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Random } from '../sim/random.ts';

/** What the base commit holds: contents by path; null for a symbolic link. */
export type BaseFiles = Map<string, string | null>;

const FOLDERS = ['', '', 'dir/', 'dir/deep/', '-dir/', 'a b/', 'd\xe9/', 'd\xc3\xa9/'];
const STEMS = [
  ...['a', 'b', 'c', 'a-b', 'a.b', '-x', '--all', 'with space', ' lead', 'trail ', '.dot'],
  ...["it's", 'say "x"', 'new\nline', 'tab\tbed', 'back\\slash', '*', '[b]', '?', '$HOME', '`x`'],
  ...[':(top)', '!x', '#x', '~x', '@', 'HEAD', 'caf\xe9', 'caf\xc3\xa9', '\xff\xfe', '\x01'],
];
/** Names that are not UTF-8. */
const BYTES = ['caf\xe9', '\xff\xfe', 'x\x80', '\xc3'];
/** Each has attributes of its own. */
const SUFFIXES = ['', '', '.txt', '.crlf', '.auto', '.up', '.uni', '.bin', '.drv', '.id'];

const ATTRIBUTES = [
  '*.txt text',
  '*.crlf text eol=crlf',
  '*.auto text=auto',
  '*.up filter=up',
  '*.uni merge=union',
  '*.bin -merge',
  '*.drv merge=both',
  '*.id ident',
];

/** What the attributes need. The driver keeps both versions, one after the other. */
const SETTINGS = `
[filter "up"]
  clean = tr A-Z a-z
  smudge = tr a-z A-Z
  required
[merge "both"]
  driver = cat %B >> %A
[user]
  name = Ada Lovelace
  email = ada@example.com
`;

/** A path that may be new. */
export function randomPath(random: Random): string {
  const stem = random.pick(random.chance(0.2) ? BYTES : STEMS);
  return `${random.pick(FOLDERS)}${stem}${random.pick(SUFFIXES)}`;
}

/** Lines with few words, so that changes meet; sometimes binary, empty or with CR LF. */
export function randomContent(random: Random): string {
  const lines = Array.from({ length: random.between(3, 14) }, (_, at) => `Line ${at} $Id$`);
  const end = random.chance(0.15) ? '\r\n' : '\n';
  if (random.chance(0.08)) return '';
  if (random.chance(0.1)) return `\0\x01\xff${lines.join('\n')}`;
  return `${lines.join(end)}${random.chance(0.1) ? '' : end}`;
}

/** Makes a repository in a new folder, and returns what its last commit holds. */
export function makeRepository(dir: string, random: Random): BaseFiles {
  const git = (...args: readonly string[]): void => {
    execFileSync('git', args, { cwd: dir, stdio: 'pipe' });
  };
  mkdirSync(dir);
  git('init', '-q', '-b', 'main');
  const ends = random.pick(['input', 'true', 'false', 'false', 'false']);
  appendFileSync(`${dir}/.git/config`, `${SETTINGS}[core]\n  autocrlf = ${ends}\n`);
  writeAttributes(dir, random);
  const files: BaseFiles = new Map();
  addMergedFile(dir, files, random);
  for (let nth = random.between(6, 16); nth > 0; nth -= 1) addFile(dir, files, random);
  write(dir, '.gitignore', '*.ign\nignored/\n');
  write(dir, 'tracked.ign', 'Tracked although it is ignored\n');
  git('add', '-A');
  git('add', '-f', 'tracked.ign');
  git('commit', '-q', '-m', 'Base');
  addRefs(git, random);
  pack(git, random);
  if (random.chance(0.5)) {
    addFile(dir, files, random);
    write(dir, 'loose', 'Loose\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'Loose');
  }
  git('rm', '-r', '-f', '-q', '.');
  git('reset', '-q', '--hard'); // Now the files are as git writes them, through filters.
  return files;
}

/** In the tree, in a folder of it, or for this repository only. */
function writeAttributes(dir: string, random: Random): void {
  const place = random.weighted([
    ['.gitattributes', 6],
    ['.git/info/attributes', 2],
    ['dir/.gitattributes', 2],
    [null, 1],
  ] as const);
  if (place !== null) write(dir, place, `${random.shuffled(ATTRIBUTES).join('\n')}\n`);
}

/** A file with a merge attribute; it comes first, where tasks change most. */
function addMergedFile(dir: string, files: BaseFiles, random: Random): void {
  const name = `${random.pick(FOLDERS)}merged${random.pick(['.uni', '.bin', '.drv', '.txt'])}`;
  const content = `${Array.from({ length: 9 }, (_, at) => `Line ${at}\n`).join('')}`;
  write(dir, name, content);
  files.set(name, content);
}

function addFile(dir: string, files: BaseFiles, random: Random): void {
  const path = randomPath(random);
  if (files.has(path)) return;
  const full = bytes(`${dir}/${path}`);
  if (random.chance(0.12)) {
    mkdirSync(bytes(`${dir}/${path}`.replace(/\/[^/]*$/, '')), { recursive: true });
    symlinkSync(bytes(random.pick(['a', '../nowhere', 'to\xe9', 'dir'])), full);
    files.set(path, null);
    return;
  }
  const content = randomContent(random);
  write(dir, path, content);
  if (random.chance(0.2)) chmodSync(full, 0o755);
  files.set(path, content);
}

type Git = (...args: readonly string[]) => void;

function addRefs(git: Git, random: Random): void {
  if (random.chance(0.5)) git('tag', '-a', '-m', 'A tag', 'v1');
  if (random.chance(0.5)) git('branch', 'other/branch');
  if (random.chance(0.3)) git('update-ref', 'refs/mine/x', 'HEAD');
  if (random.chance(0.3)) git('notes', 'add', '-m', 'A note');
  if (random.chance(0.3)) git('symbolic-ref', 'refs/heads/alias', 'refs/heads/other/branch');
}

function pack(git: Git, random: Random): void {
  const how = random.pick(['loose', 'objects', 'refs', 'all']);
  if (how === 'objects' || how === 'all') git('repack', '-a', '-d', '-q');
  if (how === 'refs' || how === 'all') git('pack-refs', '--all');
}

/** Writes a file, making its folders. */
export function write(dir: string, path: string, content: string): void {
  mkdirSync(bytes(`${dir}/${path}`.replace(/\/[^/]*$/, '')), { recursive: true });
  writeFileSync(bytes(`${dir}/${path}`), bytes(content));
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

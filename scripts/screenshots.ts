/**
 * Makes docs/demo.svg: `landfast demo` on a terminal, as it was just run. `script` of util-linux
 * gives it the terminal and notes when it wrote what.
 */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quoted } from '../src/base/shell-word.ts';
import { framesOf, type Piece, type Recording, svgOf } from './terminal-picture.ts';

const ROOT = join(import.meta.dirname, '..');
const SIZE = { columns: 100, rows: 24 };

const recording = record([join(ROOT, 'bin', 'landfast.cjs'), 'demo']);
const frames = await framesOf(recording);
const picture = join(ROOT, 'docs', 'demo.svg');
writeFileSync(picture, svgOf(frames, SIZE.columns, 'landfast demo'));
console.log(`${picture}: ${frames.length} frames`);

function record(program: readonly string[]): Recording {
  const dir = mkdtempSync(join(tmpdir(), 'landfast-picture-'));
  try {
    const [out, times] = [join(dir, 'out'), join(dir, 'times')];
    const node = join(dir, 'node'); // The picture shows its path.
    copyFileSync(process.execPath, node);
    const words = [node, ...program].map(quoted).join(' ');
    const command = `stty cols ${SIZE.columns} rows ${SIZE.rows}; ${words}`;
    const env = { PATH: process.env.PATH, HOME: dir, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
    execFileSync('script', ['-qec', command, '-O', out, '-T', times], { env, stdio: 'ignore' });
    return { ...SIZE, pieces: piecesOf(readFileSync(out), readFileSync(times, 'utf8')) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A line of the times is `seconds bytes`; a first and a last line of the output are not its own. */
function piecesOf(out: Buffer, times: string): readonly Piece[] {
  let at = out.indexOf('\n') + 1;
  const decoder = new TextDecoder();
  return times
    .trim()
    .split('\n')
    .map((line) => {
      const [seconds = 0, bytes = 0] = line.split(' ').map(Number);
      const text = decoder.decode(out.subarray(at, at + bytes), { stream: true });
      at += bytes;
      return { afterMs: seconds * 1_000, text };
    });
}

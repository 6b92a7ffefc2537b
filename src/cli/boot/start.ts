/**
 * Where the built program begins. What can be said at once is said without loading the rest, which
 * would take longer than Node's own start.
 *
 *   S1. An answer at once is, letter by letter, what the whole program would have said.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as whole from '../main.ts';

/** A help as the build wrote it down (scripts/build.ts). */
export interface WrittenHelp {
  /** For whatever is no terminal, and for one of 80 columns. */
  readonly narrow: string;
  /** For a terminal that is wide enough for its longest line. */
  readonly wide: string;
}

const NARROW = 80;
const VERSION = ['-v', '--version', 'version'];

/** Runs the program as a process. */
export async function start(): Promise<void> {
  const args = process.argv.slice(2);
  const { columns } = process.stdout;
  const answer = answerAtOnce(args, process.stdout.isTTY ? columns : NARROW, readHelp);
  if (answer === null) return startWhole();
  process.stdout.on('error', () => process.exit(0)); // The reader is gone: `| head`.
  process.stdout.write(answer);
}

/** The names are those that scripts/build.ts gives them. */
async function startWhole(): Promise<void> {
  const { cacheFolder, load } = await import('./compile-cache.ts');
  const file = {
    path: join(__dirname, 'main.js'),
    build: process.env.LANDFAST_BUILD ?? '',
    cache: cacheFolder(process.env),
  };
  const { program, compiled } = load<typeof whole>(file, require);
  return program.start(compiled);
}

/** What is answered to a command line without looking at anything; null for most of them. */
export function answerAtOnce(
  args: readonly string[],
  columns: number,
  help: (command: string) => WrittenHelp | null,
): string | null {
  if (args.length === 1 && VERSION.includes(args[0] ?? ''))
    return `${process.env.LANDFAST_VERSION}\n`;
  const [last, command = ''] = args.toReversed();
  if ((last !== '--help' && last !== '-h') || args.length > 2) return null;
  const written = help(command);
  if (written === null) return null;
  const { narrow, wide } = written;
  if (columns === NARROW) return narrow;
  const longest = Math.max(...wide.split('\n').map((line) => line.length));
  return columns > longest ? wide : null;
}

/** Of the program, or of one of its commands; null for what is none. */
function readHelp(command: string): WrittenHelp | null {
  const file = join(__dirname, command === '' ? 'help.json' : 'command-help.json');
  const texts = JSON.parse(readFileSync(file, 'utf8')) as Record<string, WrittenHelp>;
  return Object.hasOwn(texts, command) ? (texts[command] ?? null) : null;
}

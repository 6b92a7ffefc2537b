/** The benchmark's command line. */

import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { defaultPlace } from './ground.ts';

export interface Options {
  /** Numbers of tasks. */
  readonly tasks: readonly number[];
  /** Sizes of the repository. */
  readonly files: readonly number[];
  readonly rounds: number;
  readonly workers: number;
  /** Where the repositories are made: this decides the file system. */
  readonly dir: string;
  readonly json: string;
  /** A ratio of wall times above this is a failure. */
  readonly maxRatio: number;
}

/** Reads the command line; a text says what is wrong with it. */
export function readOptions(args: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        n: { type: 'string', default: '10,50,200' },
        files: { type: 'string', default: '50,5000' },
        rounds: { type: 'string', default: '3' },
        workers: { type: 'string', default: '8' },
        dir: { type: 'string', default: defaultPlace(tmpdir()) },
        json: { type: 'string', default: join(import.meta.dirname, 'results', fileName()) },
        'max-ratio': { type: 'string', default: 'Infinity' },
      },
    });
    return {
      tasks: counts('--n', values.n),
      files: counts('--files', values.files),
      rounds: count('--rounds', values.rounds),
      workers: count('--workers', values.workers),
      dir: resolve(values.dir),
      json: resolve(values.json),
      maxRatio: positive('--max-ratio', values['max-ratio']),
    };
  } catch (error) {
    return messageOf(error);
  }
}

function fileName(): string {
  return `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`;
}

function counts(option: string, text: string): readonly number[] {
  return text.split(',').map((each) => count(option, each));
}

function count(option: string, text: string): number {
  const value = positive(option, text);
  if (Number.isInteger(value)) return value;
  throw new Error(`${option} wants whole numbers from 1, not ${text}`);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new Error(`${option} wants a number above 0, not ${text}`);
}

/**
 * Long options as they are typed: they may be cut short as long as it is clear which one is meant
 * (`--dry` is `--dry-run`), and one that a command does not have is refused with a guess.
 *
 *   P1. What is written out is never touched, and nothing after `--` is.
 *   P2. What could be two options is refused, with both.
 */

import type { Command, Option } from 'commander';
import { closest } from '../base/closest.ts';
import { UserError } from '../base/errors.ts';

/** The arguments with every short form of the command's options written out. */
export function writtenOut(program: Command, args: readonly string[]): readonly string[] {
  const path = commandsIn(program, args);
  const command = path.at(-1);
  if (command === undefined) return args;
  const around = [program, ...path].flatMap((each) => each.options);
  // `pool --json` is answered by the first of its own commands.
  const options = [...around, ...command.commands.flatMap((each) => each.options)];
  const name = path.map((each) => each.name()).join(' ');
  const out: string[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return [...out, ...args.slice(index)];
    const isValue = options.some((option) => takesNext(option, out.at(-1)));
    out.push(isValue ? arg : expanded(arg, options, name));
  }
  return out;
}

/** The word that names the command: the first that is neither an option nor the value of -C. */
export function commandWord(args: readonly string[]): string {
  const isValue = (index: number) => ['-C', '--project-dir'].includes(args[index - 1] ?? '');
  return args.find((arg, index) => !arg.startsWith('-') && !isValue(index)) ?? '';
}

/** The command that is called, below those that lead to it; none where it is not known. */
function commandsIn(program: Command, args: readonly string[]): readonly Command[] {
  const path: Command[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break;
    const here = path.at(-1) ?? program;
    const options = [program, ...path].flatMap((each) => each.options);
    if (options.some((option) => takesNext(option, args[index - 1]))) continue;
    const named = here.commands.find((each) => [each.name(), ...each.aliases()].includes(arg));
    if (named !== undefined) path.push(named);
  }
  return path;
}

function takesNext({ long, short, required }: Option, before: string | undefined): boolean {
  return required && before !== undefined && (before === long || before === short);
}

function expanded(arg: string, options: readonly Option[], command: string): string {
  const [, name, rest = ''] = /^(--[a-z][a-z-]*)(=.*)?$/s.exec(arg) ?? [];
  if (name === undefined) return arg;
  const names = [...new Set(options.flatMap(({ long }) => long ?? [])), '--help'];
  if (names.includes(name)) return arg;
  const meant = names.filter((each) => each.startsWith(name));
  if (meant.length === 1) return `${meant[0]}${rest}`;
  if (meant.length > 1) {
    throw new UserError(`${name} could be ${meant.join(' or ')}.`, 'Type more of it.');
  }
  const guess = guessOf(
    name,
    options.filter(({ hidden }) => !hidden),
  );
  throw new UserError(
    `${command} has no option ${name}.`,
    guess === null ? `landfast ${command} --help lists its options.` : `Did you mean ${guess}?`,
  );
}

/** The option that is spelt much like it, or ends so: `--wokers` is `--max-workers`. */
function guessOf(name: string, options: readonly Option[]): string | null {
  const endings = options.flatMap(({ long }) => {
    const words = (long ?? '').split('-').filter((word) => word !== '');
    return words.map((_, from) => [words.slice(from).join('-'), long ?? ''] as const);
  });
  const guess = closest(
    name.slice(2),
    endings.map(([ending]) => ending),
  );
  return endings.find(([ending]) => ending === guess)?.[1] ?? null;
}

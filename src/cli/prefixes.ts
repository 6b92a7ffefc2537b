/**
 * Long options may be cut short as long as it is clear which one is meant: `--dry` is `--dry-run`.
 *
 *   P1. What is written out is never touched, and nothing after `--` is.
 *   P2. What could be two options stays as it is, for the parser to refuse.
 */

import type { Command, Option } from 'commander';

/** The arguments with every short form of the command's options written out. */
export function writtenOut(program: Command, args: readonly string[]): readonly string[] {
  const command = args.flatMap((arg) => commandNamed(program, arg)).at(0);
  if (command === undefined) return args;
  const options = [...program.options, ...command.options];
  const out: string[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return [...out, ...args.slice(index)];
    const isValue = options.some((option) => takesNext(option, out.at(-1)));
    out.push(isValue ? arg : expanded(arg, options));
  }
  return out;
}

function commandNamed(program: Command, arg: string): readonly Command[] {
  return program.commands.filter((each) => each.name() === arg || each.aliases().includes(arg));
}

function takesNext({ long, short, required }: Option, before: string | undefined): boolean {
  return required && before !== undefined && (before === long || before === short);
}

function expanded(arg: string, options: readonly Option[]): string {
  const [, name, rest = ''] = /^(--[a-z][a-z-]*)(=.*)?$/s.exec(arg) ?? [];
  if (name === undefined) return arg;
  const names = [...new Set(options.flatMap(({ long }) => long ?? [])), '--help'];
  if (names.includes(name)) return arg;
  const meant = names.filter((each) => each.startsWith(name));
  return meant.length === 1 ? `${meant[0]}${rest}` : arg;
}

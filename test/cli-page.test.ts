/** The page on the command line names every command and every option that there is. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { describeProgram } from '../src/cli/main.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', 'docs', 'cli.md'), 'utf8');
const commands = (await describeProgram(() => async () => {})).commands.filter(isShown);

test.each(commands.map((command) => [command.name(), command] as const))(
  'landfast %s',
  (name, command) => {
    const text = sectionOf(name);
    const flags = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
    expect(text).not.toBe('');
    expect(flags.filter((flag) => !text.includes(flag))).toEqual([]);
  },
);

/** What stands below the headings of a command. */
function sectionOf(name: string): string {
  const sections = PAGE.split(/^(?=## )/m);
  const heading = new RegExp(`^## (?:.*, )?landfast ${name}(?![\\w-])`);
  return sections.filter((section) => heading.test(section)).join('');
}

/** One that the help does not list is for the program itself. */
function isShown(command: Command): boolean {
  return !(command as Command & { _hidden?: boolean })._hidden;
}

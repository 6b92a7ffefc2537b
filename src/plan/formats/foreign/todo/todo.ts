/**
 * Todo lists: every open check-box item of a Markdown file is a task. Never detected, because any page
 * may hold a list. Items are independent unless a hint orders them; a need of a done item is met.
 */

import { closest } from '../../../../base/closest.ts';
import { validate } from '../../../lint/validate.ts';
import { type Place, ProblemLog, quote } from '../../../problem.ts';
import { freeId, slugOf } from '../../../task-ids.ts';
import type { ParsedPlan, PlanFormat, PlanInput } from '../../format.ts';
import { agentOf, lower } from '../../native/lower.ts';
import type { CheckedTask } from '../../native/schema.ts';
import { AGENTS, scope } from '../../native/values.ts';
import { type Hints, readHints, readItems, type TodoItem, widthOf } from './items.ts';

export const todo: PlanFormat = {
  name: 'todo',
  marker: 'never looked for: use --from-todo',
  detect: () => null,
  parse,
  isWhole: true,
  isTodoList: true,
};

const SCRIPT = 'shell';
const MAX_ITEMS = 1_000;

interface Entry {
  readonly id: string;
  readonly item: TodoItem;
  readonly hints: Hints;
}

function parse(input: PlanInput): ParsedPlan {
  const log = new ProblemLog(input.file.path);
  const entries = readEntries(input.file.text, log);
  const open = entries.filter(({ item }) => !item.done);
  const tasks = open.map((entry) => readTask(entry, entries, input, log));
  if (open.length === 0) reportNone(entries, log);
  checkTasks(tasks, open, log);
  const stem = (input.file.path.split(/[\\/]/).at(-1) ?? '').replace(/(?<=.)\.[^.]*$/, '');
  const prompts = open.map((entry, index) => promptOf(entry, tasks[index]!, input));
  const { config, home } = input;
  const around = { name: stem || 'todo', config, home };
  const land = { trailers: config?.land?.trailers ?? 'off' };
  return {
    plan: log.failed ? null : lower({ landfast: 1, land, tasks }, prompts, around),
    format: todo.name,
    problems: log.sorted(),
  };
}

function readEntries(text: string, log: ProblemLog): readonly Entry[] {
  const items = readItems(text);
  const excess = items[MAX_ITEMS];
  if (excess !== undefined) {
    log.error(placeOf(excess), `more than ${MAX_ITEMS} items`, 'split it into several lists');
    return [];
  }
  const used = new Set<string>();
  return items.flatMap((item) => {
    const hints = readHints(item.text, item.details);
    if (hints.title === '') {
      log.warning(placeOf(item), 'an item without text is left out');
      return [];
    }
    if (item.done && item.details.some((line) => /^\s*(?:[-*+]|\d+[.)])\s+\[ \]/.test(line))) {
      const remedy = 'open the outer item, or move the open ones out of it';
      log.warning(placeOf(item), 'it is done, so the open items inside it are left out', remedy);
    }
    return { id: freeId(slugOf(hints.title), used), item, hints };
  });
}

function placeOf({ line }: TodoItem): Place {
  return { line, column: 1 };
}

function reportNone(entries: readonly Entry[], log: ProblemLog): void {
  const [first] = entries;
  const at = first === undefined ? { line: 1, column: 1 } : placeOf(first.item);
  const message = first === undefined ? 'no check-box item' : 'every item of this list is done';
  if (!log.failed) log.error(at, message, 'write what is to be done as "- [ ] …"');
}

function readTask(
  entry: Entry,
  all: readonly Entry[],
  { options, config }: PlanInput,
  log: ProblemLog,
): CheckedTask {
  const { id, hints, item } = entry;
  // Any other name is a role.
  const agent = hints.mentions.find((name) => AGENTS.includes(name));
  const roles = hints.mentions.filter((name) => name !== agent);
  if (roles.length > 1) {
    const names = roles.slice(1).map((name) => `@${name}`);
    log.warning(placeOf(item), `${names.join(', ')} is ignored`, `@${roles[0]} is its role`);
  }
  const isFree = options.autoApprove ?? config.workflow?.auto_approve ?? false;
  return {
    id,
    title: hints.title,
    ...(agent === undefined ? {} : { agent }),
    ...(roles[0] === undefined ? {} : { role: roles[0] }),
    needs: hints.needs.flatMap((name) => needOf(name, entry, all, log)),
    writes: hints.files.flatMap((path) => fileOf(path, item, log)),
    ...(isFree ? { permissions: 'bypassPermissions' as const } : {}),
  };
}

/** The id of the item that is meant; none if it is done already, or unknown. */
function needOf(
  name: string,
  of: Entry,
  all: readonly Entry[],
  log: ProblemLog,
): readonly string[] {
  const found = byNumber(name, of.item, all) ?? byWords(name, all);
  if (found !== undefined) return found.item.done ? [] : [found.id];
  const ids = all.map(({ id }) => id);
  const guess = log.isFull ? null : closest(slugOf(name), ids);
  const remedy =
    guess === null ? 'use its number, its title in quotes, or its id' : `did you mean ${guess}?`;
  log.error(
    placeOf(of.item),
    `${quote(of.hints.title)} needs ${quote(name)}, which is not an item`,
    remedy,
  );
  return [];
}

/** In a numbered list the item's number in the same section, else its position. */
function byNumber(name: string, from: TodoItem, all: readonly Entry[]): Entry | undefined {
  const digits = /^#?(\d{1,9})$/.exec(name);
  if (digits === null) return undefined;
  const number = Number(digits[1]);
  const section = from.section.join('\n');
  return from.number === null
    ? all.find(({ item }) => item.position === number)
    : all.find(({ item }) => item.number === number && item.section.join('\n') === section);
}

function byWords(name: string, all: readonly Entry[]): Entry | undefined {
  const slug = slugOf(name);
  return all.find(({ hints }) => hints.title === name) ?? all.find(({ id }) => id === slug);
}

function fileOf(path: string, item: TodoItem, log: ProblemLog): readonly string[] {
  const read = scope.safeParse(path);
  if (read.success) return [read.data];
  log.error(placeOf(item), `files: ${quote(path)} is not a path in this repository`);
  return [];
}

function checkTasks(tasks: readonly CheckedTask[], open: readonly Entry[], log: ProblemLog): void {
  validate(
    tasks.map(({ id, needs = [], writes = [] }, index) => ({ index, id, needs, writes })),
    {
      at: (_, { index }) => placeOf(open[index]!.item),
      needsKey: 'needs',
      groups: new Set(),
      groupRemedy: () => '',
    },
    log,
  );
}

/** A script is the item's fence or title; other agents get all of the item. */
function promptOf({ item, hints }: Entry, task: CheckedTask, { config, file }: PlanInput): string {
  const details = dedent(hints.details);
  if (agentOf(task, { plan: {}, config }) === SCRIPT) return scriptIn(details) ?? hints.title;
  const where = item.section.map(quote).join(', ');
  const from = `This is an item of the list ${file.path}${where === '' ? '' : `, under ${where}`}.`;
  return [hints.title, ...(details === '' ? [] : [details]), from].join('\n\n');
}

function scriptIn(details: string): string | null {
  return /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n\1$/m.exec(details)?.[2] ?? null;
}

function dedent(lines: readonly string[]): string {
  const widths = lines.filter((line) => /^[ \t]+\S/.test(line)).map(widthOf);
  const least = widths.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return lines
    .map((line) => line.replace(/\t/g, '    ').slice(Math.min(least, widthOf(line))))
    .join('\n')
    .trim();
}

/** `landfast kept`: work that is held by refs of ours: lists, shows, restores and drops it. */

import { resolve } from 'node:path';
import { dropKept, findKept, keptChanges, listKept, restoreKept } from '../../app/kept.ts';
import { requireRepository } from '../../app/place.ts';
import { UserError } from '../../base/errors.ts';
import { columns, count, isoTime, PLAIN_INK, shortSha } from '../../report/format.ts';
import { EXIT } from '../exit.ts';
import { age, type CommonFlags, type Program, type Wrap } from '../options.ts';
import { isYes } from '../terminal/ask.ts';
import { placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('kept')
    .description('work kept outside any branch')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => kept(command.optsWithGlobals())));
  const on = (name: string, text: string): Program =>
    described.command(name).argument('<ref>', 'a kept ref, or RUN/TASK').description(text);
  on('show', 'what it changes')
    .option('--patch', 'the whole of it')
    .action(wrap((ref, _, command: Program) => show(ref, command.optsWithGlobals())));
  on('restore', 'restore it to a new branch or worktree; overwrites nothing')
    .option('--branch <name>', 'the new branch')
    .option('--worktree <dir>', 'the new worktree')
    .action(wrap((ref, _, command: Program) => restore(ref, command.optsWithGlobals())));
  described
    .command('drop')
    .argument('[refs...]', 'kept refs, or RUN/TASK')
    .description('drop kept refs')
    .option(
      '--older-than <age>',
      'only those at least this old, such as 30d; without refs, all of them',
      age,
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .action(wrap((refs, _, command: Program) => drop(refs, command.optsWithGlobals())));
}

interface KeptFlags extends CommonFlags {
  readonly patch?: boolean;
  readonly branch?: string;
  readonly worktree?: string;
  readonly yes?: boolean;
  readonly olderThan?: number;
}

type KeptRef = Awaited<ReturnType<typeof findKept>>;

const LIMIT_MS = 120_000;

async function kept(flags: KeptFlags): Promise<number> {
  const { repository, signal } = await here(flags);
  const rows = (await listKept(repository, signal)).map((one) => ({ ...one, at: isoTime(one.at) }));
  if (flags.json === true) printJson(rows);
  else if (rows.length === 0) console.log('Nothing is kept.');
  else {
    const cells = rows.map(({ run, what, at, commit, commits, files }) =>
      [
        `${run}/${what}`,
        shortSha(commit),
        at,
        `${count(commits, 'commit')} nowhere else`,
        count(files.length, 'file'),
      ].map((text) => ({ text })),
    );
    process.stdout.write(`${columns(cells, PLAIN_INK).join('\n')}\n`);
  }
  return EXIT.ok;
}

async function show(name: string, flags: KeptFlags): Promise<number> {
  const { repository, signal } = await here(flags);
  const one = await findKept(repository, name, signal);
  const form = flags.patch === true ? 'patch' : 'stat';
  if (form === 'stat') console.log(`${one.ref} ${one.commit}\n${one.subject}\n`);
  process.stdout.write(await keptChanges(repository, one, form, signal));
  return EXIT.ok;
}

/** Puts kept work on a new branch, or into a new worktree. */
async function restore(name: string, flags: KeptFlags): Promise<number> {
  const { repository, signal } = await here(flags);
  const one = await findKept(repository, name, signal);
  const branch = flags.branch ?? null;
  const path = flags.worktree === undefined ? null : resolve(flags.worktree);
  if (branch === null && path === null) {
    throw new UserError(
      'No destination given.',
      'kept restore REF --branch NAME, or --worktree DIR.',
    );
  }
  await restoreKept(repository, one, { branch, path }, signal);
  const where = [branch && `branch ${branch}`, path].filter((part) => part !== null).join(', ');
  console.log(`${one.ref} is restored: ${where}. It is still kept.`);
  return EXIT.ok;
}

/** Drops kept work, and says how to find it as long as git has it. */
async function drop(names: readonly string[], flags: KeptFlags): Promise<number> {
  const { olderThan } = flags;
  if (names.length === 0 && olderThan === undefined) {
    throw new UserError(
      'Which?',
      'landfast kept drop REF…, or --older-than 30d for all of that age.',
    );
  }
  const { repository, signal } = await here(flags);
  const named: KeptRef[] = names.length === 0 ? [...(await listKept(repository, signal))] : [];
  // An unknown one is refused before any is dropped.
  for (const name of new Set(names)) named.push(await findKept(repository, name, signal));
  const last = Date.now() - (olderThan ?? 0);
  const each = [...new Map(named.map((one) => [one.ref, one])).values()];
  const meant = olderThan === undefined ? each : each.filter(({ at }) => at <= last);
  if (meant.length === 0) console.log('No kept work is that old.');
  if (meant.length === 0 || !(await isWanted(meant, flags))) return EXIT.ok;
  for (const one of meant) {
    await dropKept(repository, one, signal);
    console.log(
      `${one.ref} is dropped. Until git collects it, it is still reachable as ${one.commit}.`,
    );
  }
  return EXIT.ok;
}

async function isWanted(meant: readonly KeptRef[], { yes }: KeptFlags): Promise<boolean> {
  if (yes === true) return true;
  for (const { ref, subject } of meant) console.error(`${ref} (${subject})`);
  if (process.stdin.isTTY !== true) {
    console.error('Nothing was dropped. To drop it, add --yes.');
    return false;
  }
  return isYes(`Drop ${count(meant.length, 'kept ref')}?`);
}

async function here({ projectDir }: KeptFlags) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  return { repository: requireRepository(await placeAt(projectDir, signal)), signal };
}

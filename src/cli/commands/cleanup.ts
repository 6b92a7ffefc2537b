/**
 * `landfast cleanup`: removes what runs have left, after showing what and why. Without a terminal and without `--yes` it only lists.
 */

import { createInterface } from 'node:readline/promises';
import { findLeftovers, removeAll } from '../../app/cleanup.ts';
import { endRun } from '../../app/end-runs.ts';
import { isLive, runNamed } from '../../app/find-run.ts';
import { type Place, requireRepository } from '../../app/place.ts';
import { type Database, openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/journal.ts';
import { cleanupText, countKinds } from '../../report/cleanup.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import { age, type Program, type Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('cleanup')
    .description(
      'remove what runs left behind (workspaces, branches, transcripts), after showing what and why',
    )
    .option('--run <run>', 'only this run')
    .option(
      '--older-than <age>',
      'only runs without activity for this long, such as 7d; also removes their transcripts',
      age,
    )
    .option(
      '--all',
      'also uncommitted files, and branches whose changes have landed, after a backup',
    )
    .option('--cancel', 'cancel live runs first and wait for them; their work is kept')
    .option('-n, --dry-run', 'only show what would be removed')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--force', 'same as --all --yes; still makes a backup')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => cleanup(command.optsWithGlobals())));
}

export interface CleanupFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly olderThan?: number;
  readonly all?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  /** End live runs first. */
  readonly cancel?: boolean;
}

const LIMIT_MS = 600_000;

/** Shows what can go, and removes it if that is wanted. */
export async function cleanup(flags: CleanupFlags): Promise<number> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const place = await placeAt(flags.projectDir, signal);
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const run = flags.run === undefined ? null : runNamed(db, flags.run, place);
  if (db !== null && !(await endLive(db, { place, only: run }, flags, signal))) return EXIT.failed;
  const all = flags.all === true || flags.force === true;
  const scope = { now: Date.now(), all, olderThanMs: flags.olderThan ?? 0, run };
  const found = await findLeftovers(repository, db, scope, signal);
  const { verdicts } = found;
  if (flags.json !== true) process.stdout.write(cleanupText(verdicts));
  const meant = verdicts.filter(({ remove }) => remove);
  const wanted =
    meant.length > 0 && flags.dryRun !== true && (await isWanted(flags, 'Remove them?'));
  const removed = wanted ? await removeAll(meant, found, place.host.warn, signal) : [];
  if (flags.json === true) {
    process.stdout.write(jsonText({ verdicts, removed: removed.map(({ path }) => path) }));
  } else if (wanted) console.log(`Removed: ${countKinds(removed) || 'nothing'}.`);
  const missed = wanted && removed.length < meant.length;
  return missed || (all && verdicts.some(({ live }) => live)) ? EXIT.failed : EXIT.ok;
}

/** With `--cancel`, live runs are ended first; false where somebody was asked and said no. */
async function endLive(
  db: Database,
  { place, only }: { readonly place: Place; readonly only: string | null },
  flags: CleanupFlags,
  signal: AbortSignal,
): Promise<boolean> {
  if (flags.cancel !== true || flags.dryRun === true) return true;
  const live = listRuns(db)
    .map(({ run }) => run)
    .filter((run) => (only === null || run === only) && isLive(db, run));
  if (live.length === 0) return true;
  const names = live.join(', ');
  if (!(await isWanted(flags, `Cancel ${names}? Agents are stopped; their work is kept.`)))
    return false;
  for (const run of live) {
    await endRun(place, run, signal);
    console.error(`Run ${run} has ended; its work is kept.`);
  }
  return true;
}

async function isWanted({ yes, force, json }: CleanupFlags, question: string): Promise<boolean> {
  if (yes === true || force === true) return true;
  if (process.stdin.isTTY !== true || json === true) {
    console.error('Nothing was removed. To remove: landfast cleanup --yes');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`${question} [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

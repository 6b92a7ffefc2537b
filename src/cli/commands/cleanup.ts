/**
 * `landfast cleanup`: removes what runs have left, after showing what and why. Without a terminal and without `--yes` it only lists.
 */

import { endRun, findLeftovers, removeAll } from '../../app/cleanup.ts';
import { type Place, requireRepository } from '../../app/place.ts';
import { allRuns, viewRun } from '../../app/runs.ts';
import { cleanupText, countKinds } from '../../report/cleanup.ts';
import { EXIT } from '../exit.ts';
import { age, type CommonFlags, type Program, type Wrap } from '../options.ts';
import { isYes } from '../terminal/ask.ts';
import { placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

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

interface CleanupFlags extends CommonFlags {
  readonly run?: string;
  readonly olderThan?: number;
  readonly all?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  /** End live runs first. */
  readonly cancel?: boolean;
}

const LIMIT_MS = 600_000;

/** Shows what can go, and removes it if that is wanted. */
async function cleanup(flags: CleanupFlags): Promise<number> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const place = await placeAt(flags.projectDir, signal);
  requireRepository(place);
  const run = flags.run === undefined ? null : (viewRun(place, flags.run)?.run ?? null);
  if (!(await endLive(place, run, flags, signal))) return EXIT.failed;
  const all = flags.all === true || flags.force === true;
  const scope = { now: Date.now(), all, olderThanMs: flags.olderThan ?? 0, run };
  const found = await findLeftovers(place, scope, signal);
  const { verdicts } = found;
  if (flags.json !== true) process.stdout.write(cleanupText(verdicts));
  const meant = verdicts.filter(({ remove }) => remove);
  const wanted =
    meant.length > 0 && flags.dryRun !== true && (await isWanted(flags, 'Remove them?'));
  const removed = wanted ? await removeAll(meant, found, place.host.warn, signal) : [];
  if (flags.json === true) {
    printJson({ verdicts, removed: removed.map(({ path }) => path) });
  } else if (wanted) console.log(`Removed: ${countKinds(removed) || 'nothing'}.`);
  const missed = wanted && removed.length < meant.length;
  return missed || (all && verdicts.some(({ live }) => live)) ? EXIT.failed : EXIT.ok;
}

/** With `--cancel`, ends live runs first; false if the person declines. */
async function endLive(
  place: Place,
  only: string | null,
  flags: CleanupFlags,
  signal: AbortSignal,
): Promise<boolean> {
  if (flags.cancel !== true || flags.dryRun === true) return true;
  const live = allRuns(place).filter(({ run, live }) => live && (only === null || run === only));
  if (live.length === 0) return true;
  const names = live.map(({ run }) => run).join(', ');
  if (!(await isWanted(flags, `Cancel ${names}? Agents are stopped; their work is kept.`)))
    return false;
  for (const view of live) {
    await endRun(view, signal);
    console.error(`Run ${view.run} has ended; its work is kept.`);
  }
  return true;
}

async function isWanted({ yes, force, json }: CleanupFlags, question: string): Promise<boolean> {
  if (yes === true || force === true) return true;
  if (process.stdin.isTTY !== true || json === true) {
    console.error('Nothing was removed. To remove: landfast cleanup --yes');
    return false;
  }
  return isYes(question);
}

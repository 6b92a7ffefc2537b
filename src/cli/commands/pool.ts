/**
 * `landfast pool`: the workspaces that wait for a task: shows them, makes some ahead of a run, or
 * lets them go.
 */

import { drainPool, type OpenedPool, openPool, poolView, warmPool } from '../../app/pooling.ts';
import { count } from '../../report/format.ts';
import { jsonText } from '../../report/json.ts';
import { type PoolView, poolText, sizeText } from '../../report/pool.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, type Program, positive, type Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';

export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('pool')
    .description('idle workspaces, ready for a task of this run or a later one');
  described
    .command('status', { isDefault: true })
    .description('list idle workspaces, their commits and sizes')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => status(command.optsWithGlobals())));
  described
    .command('warm')
    .argument('[n]', 'how many to keep ready (default: as many as stay for later runs)', positive)
    .description('create workspaces at the current head, ahead of a run')
    .option('--json', 'print JSON')
    .action(wrap((n, _, command: Program) => warm(n, command.optsWithGlobals())));
  described
    .command('drain')
    .description('remove idle workspaces; those in use stay')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => drain(command.optsWithGlobals())));
}

const LIMIT_MS = 30 * 60_000;

async function status(flags: CommonFlags): Promise<number> {
  const { opened, signal } = await open(flags);
  show(await poolView(opened, signal), flags);
  return EXIT.ok;
}

/** Makes as many as are missing for `wanted`, at the current head. */
async function warm(wanted: number | undefined, flags: CommonFlags): Promise<number> {
  const { opened, signal } = await open(flags);
  const onMade = (made: number, missing: number): void => {
    if (flags.json !== true) console.error(`${made} of ${missing}`);
  };
  const { missing, made, why } = await warmPool(opened, wanted, onMade, signal);
  show(await poolView(opened, signal), flags);
  if (made === missing || why === 'added') return EXIT.ok;
  const [reason, remedy] = refusal(opened, why);
  const lacking = count(missing - made, 'workspace');
  console.error(`landfast: ${lacking} could not be kept ready: ${reason}.\n  ${remedy}`);
  return EXIT.failed;
}

/** Why there is none that waits, and what to do about it. */
function refusal(
  { pool }: OpenedPool,
  why: Exclude<Awaited<ReturnType<typeof warmPool>>['why'], 'added'>,
): readonly [string, string] {
  const { disk, commonDir } = pool.place;
  const instead = 'A run makes new workspaces instead';
  switch (why) {
    case 'own-settings':
      return [
        `new worktrees of this repository begin with settings of its own`,
        `${instead}, as long as config.worktree or info/sparse-checkout is in ${commonDir}.`,
      ];
    case 'submodules':
      return ['one with submodules is never used twice', `${instead}; there is nothing to do.`];
    case 'disk':
      return [
        `they may take ${sizeText(disk ?? 0)} of the disk`,
        'For more, such as 20 GB: landfast config workspace.pool_disk 20GB',
      ];
    case 'full':
      return ['all slots were taken in the meantime', '`landfast pool status` shows by what.'];
  }
}

/** Removes what waits, and what dead processes have left. */
async function drain(flags: CommonFlags): Promise<number> {
  const { opened, signal } = await open(flags);
  const { removed, seeds } = await drainPool(opened, signal);
  if (flags.json === true) process.stdout.write(jsonText({ removed, seeds }));
  else console.log(`Removed: ${count(removed, 'workspace')}, ${count(seeds, 'seed')}.`);
  return EXIT.ok;
}

async function open({ projectDir }: CommonFlags) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  return { opened: openPool(await placeAt(projectDir, signal)), signal };
}

function show(view: PoolView, { json }: CommonFlags): void {
  process.stdout.write(json === true ? jsonText(view) : poolText(view));
}

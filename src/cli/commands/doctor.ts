/** `landfast doctor`: exits 1 when something that every run needs is missing. */

import { diagnose, type Finding } from '../../app/doctor.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('doctor')
    .description('check this machine and repository; calls no model')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => doctor(command.optsWithGlobals())));
}

async function doctor(flags: CommonFlags): Promise<number> {
  const place = await placeAt(flags.projectDir, NEVER);
  const findings = [nodeFinding(), ...(await diagnose(place, NEVER))];
  if (flags.json === true) printJson(findings);
  else for (const finding of findings) print(finding);
  return findings.some(({ state }) => state === 'missing') ? EXIT.failed : EXIT.ok;
}

function print({ what, state, says, remedy }: Finding): void {
  const sign = { good: '✓', note: '·', missing: '✗' }[state];
  console.log(`${sign} ${what.padEnd(12)}${says}`);
  if (remedy !== undefined) console.log(`${' '.repeat(14)}${remedy}`);
}

function nodeFinding(): Finding {
  const { node, sqlite } = process.versions;
  return { what: 'node', state: 'good', says: `${node}, SQLite ${sqlite ?? 'unknown'}` };
}

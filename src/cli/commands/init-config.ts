/**
 * `landfast init` without a folder: a first `landfast.yaml`, with a gate, and a first plan, from what
 * the repository and its files tell. No model is asked, and no file that counts is replaced or
 * hidden unless that is wanted.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findGitFacts, knownFiles } from '../../app/config-files.ts';
import { requireRepository } from '../../app/place.ts';
import { projectFiles } from '../../app/ungated.ts';
import { messageOf, OperationalError } from '../../base/errors.ts';
import { firstConfig, firstPlan } from '../../plan/config/discover.ts';
import { EXIT } from '../exit.ts';
import { placeAt } from '../terminal/host.ts';

export interface InitConfigFlags {
  readonly projectDir: string;
  readonly force?: boolean;
}

const FIRST_PLAN = 'plan.yaml';

/** Writes the file and a first plan, or says which configuration already exists. */
export async function initConfig({ projectDir, force }: InitConfigFlags): Promise<number> {
  const signal = new AbortController().signal;
  const place = await placeAt(projectDir, signal);
  requireRepository(place);
  const known = knownFiles('project', place.dir, place.host).map(({ path }) => path);
  const there = known.find((path) => existsSync(path));
  if (there !== undefined && force !== true) {
    console.error(`landfast: ${relative(place.dir, there)} already exists and takes precedence.`);
    console.error('  With --force a new landfast.yaml is written and takes precedence.');
    return EXIT.failed;
  }
  const facts = await findGitFacts({}, place, signal);
  const files = await projectFiles(place, signal);
  const text = firstConfig(facts, files);
  write(join(place.dir, 'landfast.yaml'), text);
  const plan = join(place.dir, FIRST_PLAN);
  const isNew = !existsSync(plan);
  if (isNew) write(plan, firstPlan(files));
  process.stdout.write(
    `made  landfast.yaml\n${isNew ? 'made' : 'kept'}  ${FIRST_PLAN}\n\n${text}\n`,
  );
  if (isNew) console.log(`Next: say in ${FIRST_PLAN} what to do, then landfast run ${FIRST_PLAN}`);
  return EXIT.ok;
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new OperationalError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** A repository opened by the library, in an environment of its own, and plans of shell scripts. */

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Entry,
  type Event,
  type NativePlan,
  openRepository,
  type Repository,
  type Run,
} from '../../src/index.ts';
import { bareEnv } from '../support/landfast.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

export interface Scene extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly opened: Repository;
  readonly warnings: readonly string[];
  /** A script that writes NAME.txt, says `working`, and ends once `release` is called. */
  waits(name: string): string;
  release(): void;
  /** The files of a commit or branch. */
  files(at?: string): Promise<readonly string[]>;
  /** All that runs have written down: journal, transcripts, logs. */
  written(): string;
}

export async function scene(env: Readonly<Record<string, string>> = {}): Promise<Scene> {
  const repo = await tempRepo();
  const warnings: string[] = [];
  const opened = await openRepository(repo.dir, {
    env: { ...bareEnv(repo.outside), ...env },
    onWarning: (text) => warnings.push(text),
  });
  const go = join(repo.outside, 'go');
  const stateDir = join(repo.commonDir, 'landfast');
  return {
    repo,
    opened,
    warnings,
    waits: (name) =>
      `echo ${name} > ${name}.txt; echo working; while test ! -e ${go}; do sleep 0.05; done`,
    release: () => writeFileSync(go, ''),
    files: async (at = 'main') => (await repo.git('ls-tree', '-r', '--name-only', at)).split('\n'),
    written: () => {
      const files = existsSync(stateDir)
        ? globSync('**/*', { cwd: stateDir, withFileTypes: true })
        : [];
      return files
        .filter((file) => file.isFile())
        .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
        .join('\n');
    },
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

/** A plan of shell scripts, by the id of the task. */
export function scripts(
  tasks: Readonly<Record<string, string | Omit<NativePlan['tasks'][number], 'id'>>>,
  more: Partial<NativePlan> = {},
): NativePlan {
  return {
    landfast: 1,
    defaults: { agent: 'shell', retries: 0 },
    ...more,
    tasks: Object.entries(tasks).map(([id, task]) =>
      typeof task === 'string' ? { id, prompt: task } : { id, ...task },
    ),
  };
}

/** Writes NAME.txt, which lands. */
export const writes = (name: string): string => `echo ${name} > ${name}.txt`;

/** Waits for an entry; fails where the run ends without it. */
export async function until<T extends Event['type']>(
  run: Run,
  type: T,
  task?: string,
  after = 0,
): Promise<Entry & { readonly event: Extract<Event, { type: T }> }> {
  for await (const entry of run.events({ after })) {
    const { event } = entry;
    const isOfTask = task === undefined || ('task' in event && event.task === task);
    if (event.type === type && isOfTask) return entry as never;
  }
  throw new Error(`The run ended without ${type} ${task ?? ''}.`);
}

/** All entries of a run, to its end. */
export async function entriesOf(run: Run, after = 0): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of run.events({ after })) entries.push(entry);
  return entries;
}

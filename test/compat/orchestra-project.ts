/**
 * A project as claude-orchestra's users have it: a repository, perhaps its configuration, and in the
 * place of `claude` a stub that does what its prompt says.
 *
 *   J1. A prompt is looked up by its text: `scripts` says in shell what the stub does for it.
 *   J2. Everything is below one temporary folder, which is also the home of what is run.
 */

import { existsSync, writeFileSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** What the stub does for a prompt that holds these words; shell, in the task's workspace. */
export type Scripts = Readonly<Record<string, string>>;

export interface OrchestraProject extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly dir: string;
  /** The folder around it: the stub's `$OUT`. */
  readonly outside: string;
  /** Any command, to its end. */
  cli(...args: readonly string[]): Promise<Ended>;
  /** `landfast spawn … --claude-exe STUB`. */
  spawn(...args: readonly string[]): Promise<Ended>;
  /** The same, to be looked at while it goes on. */
  startSpawn(...args: readonly string[]): Running;
  /** Makes a file that a stub may wait for. */
  release(name?: string): void;
  /** A file the stub wrote into `$OUT`, trimmed; empty where there is none. */
  read(name: string): Promise<string>;
  branches(): Promise<readonly string[]>;
}

export interface OrchestraInput {
  readonly scripts: Scripts;
  /** The project's `.orchestra/config.json`. */
  readonly config?: object;
}

/** Waits for a call of `release`, for twenty seconds at most. */
export function waitFor(name = 'go'): string {
  return `n=0; until [ -e "$OUT/${name}" ]; do n=$((n + 1)); [ $n -lt 4000 ] || exit 9; sleep 0.05; done`;
}

/** Makes the repository and the stub. */
export async function orchestraProject(input: OrchestraInput): Promise<OrchestraProject> {
  const repo = await tempRepo();
  const { dir, outside } = repo;
  const claude = join(outside, 'claude');
  await writeFiles(outside, { claude: stubText(outside, input.scripts) });
  await chmod(claude, 0o755);
  if (input.config !== undefined) {
    await repo.commit('main', {
      '.orchestra/config.json': JSON.stringify(input.config),
      '.gitignore': '.worktrees\n',
    });
  }
  const cli = (...args: readonly string[]) => landfast(args, { cwd: dir });
  const command = (args: readonly string[]) => ['spawn', '--claude-exe', claude, ...args];
  const release = (name = 'go') => writeFileSync(join(outside, name), '');
  return {
    repo,
    dir,
    outside,
    cli,
    spawn: (...args) => landfast(command(args), { cwd: dir }),
    startSpawn: (...args) => start(command(args), { cwd: dir }),
    release,
    read: (name) =>
      readFile(join(outside, name), 'utf8').then(
        (text) => text.trim(),
        () => '',
      ),
    branches: async () =>
      (await repo.git('for-each-ref', '--format=%(refname:short)', 'refs/heads')).split('\n'),
    [Symbol.asyncDispose]: async () => {
      release();
      // Nothing may write into the folder that is removed now.
      if (existsSync(join(repo.commonDir, 'landfast'))) await cli('status', '--watch');
      await repo[Symbol.asyncDispose]();
    },
  };
}

function stubText(outside: string, scripts: Scripts): string {
  const cases = Object.entries(scripts).map(([words, shell]) => `*'${words}'*)\n${shell}\n;;`);
  return `#!/bin/sh
OUT='${outside}'
# Above the task is a heading, below it are the rules.
task=$(sed -n 3p)
echo "$task" >> "$OUT/prompts"
case "$task" in
${cases.join('\n')}
*) printf '%s\\n' "$task" > "$LANDFAST_TASK.txt"; echo "did $LANDFAST_TASK" ;;
esac
`;
}

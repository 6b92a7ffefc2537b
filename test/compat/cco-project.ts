/**
 * A project as claude-code-orchestrator's users have it: a repository with an `origin`, a
 * `task_config.yaml`, and in the place of `claude` a stub that knows nothing of landfast.
 *
 *   J1. The stub finds out what to do by the branch it is on, and writes down how it was called.
 *   J2. Everything is below one temporary folder, which is also the home of what is run.
 */

import { existsSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { runGit, type TempRepo, tempRepo } from '../support/temp-repo.ts';

export interface CcoProject extends AsyncDisposable {
  readonly repo: TempRepo;
  /** The bare repository that is `origin`. */
  readonly origin: string;
  /** `landfast run --claude-exe … args` in the repository, to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** The same, to be steered while it goes on. */
  start(...args: readonly string[]): Running;
  /** Any other command. */
  cli(...args: readonly string[]): Promise<Ended>;
  /** The tasks that were started, in order. */
  calls(): Promise<readonly string[]>;
  /** What the stub wrote down of a call: its prompt, its arguments, its folder. */
  call(task: string, nth?: number): Promise<Call>;
  /** The state file's entries. */
  results(): Promise<readonly Record<string, unknown>[]>;
  /** A task's log. */
  log(task: string): Promise<string>;
  /** The branches of `origin`. */
  pushed(): Promise<readonly string[]>;
}

export interface Call {
  readonly prompt: string;
  readonly argv: readonly string[];
  readonly cwd: string;
}

export interface ProjectInput {
  /** What the stub does for each task: shell, in its workspace. */
  readonly agents: Readonly<Record<string, string>>;
  /** The task file; without it one with a plain task for each of the agents. */
  readonly tasks?: string;
  /** `.claude-orchestrator.yaml`. */
  readonly config?: string;
  /** More files of the first commit. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A task of that id on `feature/<id>`. */
export function entry(id: string, more = ''): string {
  const lines = [
    `id: ${id}`,
    `branch: feature/${id}`,
    `title: "feat: ${id}"`,
    'description: Do it.',
  ];
  return `  - ${lines.join('\n    ')}\n${more}`;
}

/** Makes the project; its files are committed and pushed. */
export async function ccoProject(input: ProjectInput): Promise<CcoProject> {
  const tasks =
    input.tasks ??
    `tasks:\n${Object.keys(input.agents)
      .map((id) => entry(id))
      .join('')}`;
  const config = input.config === undefined ? {} : { '.claude-orchestrator.yaml': input.config };
  const files = { 'README.md': 'hello\n', 'task_config.yaml': tasks, ...config, ...input.files };
  const repo = await tempRepo({ files });
  const origin = join(repo.outside, 'origin.git');
  await runGit(repo.outside, ['init', '--quiet', '--bare', '-b', 'main', origin]);
  await repo.git('remote', 'add', 'origin', origin);
  await repo.git('push', '--quiet', '-u', 'origin', 'main');
  const claude = join(repo.outside, 'claude');
  await writeFiles(repo.outside, { claude: stubText(repo.outside, input.agents) });
  await chmod(claude, 0o755);
  const options = { cwd: repo.dir, env: { HOME: repo.outside } };
  const command = (args: readonly string[]) => ['run', '--claude-exe', claude, ...args];
  const read = (name: string) => readFile(join(repo.outside, 'out', name), 'utf8');
  const own = (name: string) => join(repo.dir, '.claude-orchestrator', name);
  return {
    repo,
    origin,
    run: (...args) => landfast(command(args), options),
    start: (...args) => start(command(args), options),
    cli: (...args) => landfast(args, options),
    calls: async () => linesOf(await read('calls').catch(() => '')),
    call: async (task, nth = 1) => ({
      prompt: await read(`${task}.${nth}/prompt`),
      argv: linesOf(await read(`${task}.${nth}/argv`)),
      cwd: (await read(`${task}.${nth}/cwd`)).trim(),
    }),
    results: async () => JSON.parse(await readFile(own('.state.json'), 'utf8')).results,
    log: (task) => readFile(own(`logs/${task}.log`), 'utf8'),
    pushed: async () =>
      linesOf(await runGit(origin, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads'])),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

/** The folders of workspaces that are left. */
export async function workspaces(
  { repo }: CcoProject,
  folder = 'worktrees',
): Promise<readonly string[]> {
  const dir = join(repo.outside, folder, 'feature');
  return existsSync(dir) ? (await readdir(dir)).sort() : [];
}

/** Shell that prints a line of Claude Code's stream. */
export function says(line: object): string {
  return `printf '%s\\n' '${JSON.stringify(line).replaceAll("'", `'\\''`)}'`;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function stubText(outside: string, agents: ProjectInput['agents']): string {
  const cases = Object.entries(agents).map(([task, shell]) => `${task})\n${shell}\n;;`);
  return `#!/bin/sh
OUT='${outside}/out'
task=$(git branch --show-current)
task=\${task##*/}
nth=1
while [ -d "$OUT/$task.$nth" ]; do nth=$((nth + 1)); done
mkdir -p "$OUT/$task.$nth"
cat > "$OUT/$task.$nth/prompt"
for word in "$@"; do printf '%s\\n' "$word"; done > "$OUT/$task.$nth/argv"
pwd -P > "$OUT/$task.$nth/cwd"
echo "$task" >> "$OUT/calls"
case "$task" in
${cases.join('\n')}
*) echo "nobody told me what to do for $task" >&2; exit 64 ;;
esac
`;
}
